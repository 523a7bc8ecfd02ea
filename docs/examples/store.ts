// Records in MongoDB 4.2 or later, each a document. Copy it, or read it for another database with conditional writes.
import { markSeconds, type Store } from 'express-authorization-server'

/** A record, a mark or a count. `version` is null in a mark, and absent in what was created too late. */
export interface Row {
  readonly _id: string
  readonly value?: string
  readonly version?: string | null
  readonly count?: number
  /** Milliseconds until the end of a count. */
  readonly left?: number
  readonly at?: Date
  readonly end: Date
}

/** What the store needs of a collection of the package `mongodb`, from version 6. */
export interface Rows {
  findOne(filter: object): Promise<Row | null>
  findOneAndUpdate(
    filter: object,
    steps: object[],
    options: { returnDocument: 'after'; upsert: boolean },
  ): Promise<Row | null>
  find(filter: object, options: { projection: { _id: 1 } }): { toArray(): Promise<{ _id: string }[]> }
}

const forever = new Date(8.64e15)
// The clock of the database, for all processes.
const now = '$$NOW'
const lives = { $gt: ['$end', now] }
const after = (seconds: number) => ({ $add: [now, Math.round(seconds * 1000)] })
const rowOf = (value: string, version: string, seconds?: number) => ({
  _id: '$_id',
  value: { $literal: value },
  version: { $literal: version },
  at: now,
  end: seconds === undefined ? forever : after(seconds),
})

async function update(rows: Rows, filter: object, steps: object[], upsert: boolean): Promise<Row | null> {
  const run = () => rows.findOneAndUpdate(filter, steps, { returnDocument: 'after', upsert })
  return run().catch((error: unknown) => {
    // Of two inserts at once, the second finds the first when it comes again.
    if (error instanceof Error && 'code' in error && error.code === 11_000) return run()
    throw error
  })
}

/** Inserts the row where none is. */
async function put(rows: Rows, key: string, ...steps: object[]): Promise<Row> {
  const row = await update(rows, { _id: key }, steps, true)
  if (row === null) throw new Error('MongoDB returned no document after an upsert.')
  return row
}

/**
 * @param records and counts: collections without a collation, read from the primary with the read concern `majority`,
 *   and written with the write concern `majority`: a replica may not know of a revocation, and a failover may undo it.
 * @param patience milliseconds that your driver waits for a reply, at most 60 000.
 */
export function mongoStore(records: Rows, counts: Rows, patience = 2000): Store {
  /** How much later it is in the database than by `performance.now`. */
  let ahead: number | undefined

  /** A create that arrives after `until` writes a row without a version, which has ended already. */
  async function create(key: string, version: string, row: object): Promise<boolean> {
    const until = performance.now() + patience
    for (let sentAt = performance.now(); sentAt < until; sentAt = performance.now()) {
      const inTime = { $lt: [now, new Date(ahead === undefined ? 0 : until + ahead)] }
      const chosen = { $cond: [inTime, row, { _id: '$_id', at: now, end: now }] }
      const found = await put(records, key, { $replaceWith: { $cond: [lives, '$$ROOT', chosen] } })
      if (found.version === null) throw new Error('The key was removed.')
      if (found.version !== undefined && found.version !== version) return false
      // A slow reply says too little about the time.
      if (performance.now() - sentAt < patience) ahead = Number(found.at) - sentAt
      if (found.version === version) return true
    }
    throw new Error('The record was not created: the command arrived too late.')
  }

  return {
    place: 'MongoDB',
    async read(key) {
      const row = await records.findOne({ _id: key, $expr: lives })
      if (typeof row?.value !== 'string' || typeof row.version !== 'string') return undefined
      return { value: row.value, version: row.version }
    },
    async write(key, value, { version, expected, seconds }) {
      const row = rowOf(value, version, seconds)
      if (expected === undefined) return create(key, version, row)
      const filter = { _id: key, version: { $in: [version, expected] }, $expr: lives }
      return (await update(records, filter, [{ $replaceWith: row }], false)) !== null
    },
    async remove(key) {
      await put(records, key, { $replaceWith: { _id: '$_id', version: null, end: after(markSeconds) } })
    },
    async add(key, amount, seconds) {
      const count = { $max: [0, { $add: [{ $cond: [lives, '$count', 0] }, amount] }] }
      const end = { $cond: [lives, '$end', after(seconds)] }
      // A count of 0 has ended.
      const left = { $cond: [{ $eq: ['$count', 0] }, 0, { $subtract: ['$end', now] }] }
      const ended = { $add: [now, '$left'] }
      const row = await put(
        counts,
        key,
        { $set: { count, end } },
        { $set: { left } },
        { $set: { end: ended } },
      )
      return { count: row.count ?? 0, secondsLeft: Math.ceil((row.left ?? 0) / 1000) }
    },
    async list(kind) {
      const filter = { _id: { $regex: `^${kind}:` }, end: forever }
      const rows = await records.find(filter, { projection: { _id: 1 } }).toArray()
      return rows.map(({ _id }) => _id.slice(kind.length + 1))
    },
  }
}
