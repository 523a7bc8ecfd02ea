import type { Place } from './text-blocks'

/** The number of an entry for as long as it is kept. */
export type Row = number

const none = -1
const rowsAtFirst = 1024

/**
 * When entries end: lists of rows, one for each second, in columns of numbers that the garbage collector need not look
 * at. A row is found by its second, and taken out of its list, without looking at any other.
 */
export class Endings {
  private expiresAt = new Float64Array(rowsAtFirst)
  private seconds = new Float64Array(rowsAtFirst)
  private places = new Int32Array(rowsAtFirst)
  private previous = new Int32Array(rowsAtFirst)
  /** Of a free row: the next free one. */
  private next = new Int32Array(rowsAtFirst)
  private readonly firstOf = new Map<number, Row>()
  private free: Row = none
  private used = 0

  /** @param expiresAt milliseconds since the epoch. @param second whose list it joins. */
  add(place: Place, expiresAt: number, second: number): Row {
    const row = this.freeRow()
    const first = this.firstOf.get(second) ?? none
    this.places[row] = place
    this.expiresAt[row] = expiresAt
    this.seconds[row] = second
    this.previous[row] = none
    this.next[row] = first
    if (first !== none) this.previous[first] = row
    this.firstOf.set(second, row)
    return row
  }

  remove(row: Row): void {
    const previous = this.previous[row] ?? none
    const next = this.next[row] ?? none
    if (next !== none) this.previous[next] = previous
    if (previous !== none) this.next[previous] = next
    else this.begin(this.seconds[row] ?? 0, next)
    this.next[row] = this.free
    this.free = row
  }

  /** Milliseconds since the epoch. */
  endOf(row: Row): number {
    return this.expiresAt[row] ?? 0
  }

  placeOf(row: Row): Place {
    return this.places[row] ?? none
  }

  oneOf(second: number): Row | undefined {
    return this.firstOf.get(second)
  }

  private begin(second: number, first: Row): void {
    if (first === none) this.firstOf.delete(second)
    else this.firstOf.set(second, first)
  }

  private freeRow(): Row {
    const row = this.free
    if (row === none) return this.newRow()
    this.free = this.next[row] ?? none
    return row
  }

  private newRow(): Row {
    if (this.used === this.next.length) this.grow()
    return this.used++
  }

  private grow(): void {
    const length = 2 * this.used
    this.expiresAt = longer(this.expiresAt, new Float64Array(length))
    this.seconds = longer(this.seconds, new Float64Array(length))
    this.places = longer(this.places, new Int32Array(length))
    this.previous = longer(this.previous, new Int32Array(length))
    this.next = longer(this.next, new Int32Array(length))
  }
}

function longer<Column extends Float64Array | Int32Array>(column: Column, empty: Column): Column {
  empty.set(column)
  return empty
}
