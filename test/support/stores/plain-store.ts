import { markSeconds, type Store, type WriteTerms } from '../../../lib/index'

export interface Row {
  readonly value: string
  /** Empty: the mark of a removal. */
  readonly version: string
  readonly end: number
}

/** What two stores share. Time passes when it is told to. */
export class PlainDatabase {
  readonly rows = new Map<string, Row>()
  readonly counts = new Map<string, { count: number; end: number }>()
  ahead = 0
  now = (): number => Date.now() + this.ahead
  endOf = (seconds = Infinity): number => this.now() + seconds * 1000
  row(key: string): Row | undefined {
    const row = this.rows.get(key)
    return row && row.end > this.now() ? row : undefined
  }
}

/** The port in its plainest form: no verb waits between its reading and its writing, so each is one atomic act. */
export const plainStore = (database: PlainDatabase): Store => ({
  async read(key) {
    const row = database.row(key)
    return row && row.version !== '' ? { value: row.value, version: row.version } : undefined
  },
  async write(key: string, value: string, { version, expected, seconds }: WriteTerms) {
    const row = database.row(key)
    if (row?.version === version) return true
    if (row?.version === '' && expected === undefined) throw new Error('The key was removed.')
    if (row?.version !== expected || expected === '') return false
    database.rows.set(key, { value, version, end: database.endOf(seconds) })
    return true
  },
  async remove(key) {
    database.rows.set(key, { value: '', version: '', end: database.endOf(markSeconds) })
  },
  async add(key, amount, seconds) {
    const now = database.now()
    const known = database.counts.get(key)
    const { count, end } = known && known.end > now ? known : { count: 0, end: now + seconds * 1000 }
    const next = Math.max(0, count + amount)
    if (next === 0) database.counts.delete(key)
    else database.counts.set(key, { count: next, end })
    return { count: next, secondsLeft: next === 0 ? 0 : Math.ceil((end - now) / 1000) }
  },
  async list(kind) {
    const stays = ([key, row]: [string, Row]) => key.startsWith(`${kind}:`) && row.end === Infinity
    return [...database.rows].filter(stays).map(([key]) => key.slice(kind.length + 1))
  },
})
