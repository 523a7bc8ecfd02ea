import { hash, randomBytes } from 'node:crypto'
import type { Row } from './endings'

// A Map copies itself when it grows: a large one stops the process meanwhile, and many small ones do not do it at once.
const parts = 1024

/**
 * Rows under keys, without the keys: a million of them would be looked at with each collection of garbage. The hash
 * is seeded, so that nobody outside can choose keys that share one.
 */
export class RowsByKey {
  private readonly rows = Array.from({ length: parts }, () => new Map<number, Row>())
  /** Of keys whose hash another one had before. */
  private readonly others = new Map<number, readonly Row[]>()

  constructor(private readonly hashOf: (key: string) => number = seededHash()) {}

  /** The row of this key, which `isOf` tells from one of another key with the same hash. */
  get(key: string, isOf: (row: Row) => boolean): Row | undefined {
    const number = this.hashOf(key)
    const row = this.partOf(number).get(number)
    if (row === undefined || isOf(row)) return row
    return this.others.get(number)?.find(isOf)
  }

  /** Of a key that has none. */
  add(key: string, row: Row): void {
    const number = this.hashOf(key)
    const part = this.partOf(number)
    if (!part.has(number)) part.set(number, row)
    else this.others.set(number, [...(this.others.get(number) ?? []), row])
  }

  remove(key: string, row: Row): void {
    const number = this.hashOf(key)
    const part = this.partOf(number)
    const [next, ...others] = this.others.get(number)?.filter((other) => other !== row) ?? []
    if (part.get(number) !== row) return this.keepOthers(number, next === undefined ? [] : [next, ...others])
    if (next === undefined) part.delete(number)
    else part.set(number, next)
    this.keepOthers(number, others)
  }

  private keepOthers(number: number, rows: readonly Row[]): void {
    if (rows.length === 0) this.others.delete(number)
    else this.others.set(number, rows)
  }

  private partOf(number: number): Map<number, Row> {
    return this.rows[(number >>> 0) % parts] ?? new Map()
  }
}

function seededHash(): (key: string) => number {
  const seed = randomBytes(16).toString('base64')
  return (key) => hash('sha1', seed + key, 'buffer').readInt32LE()
}
