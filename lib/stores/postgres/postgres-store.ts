import { inTime } from '../../primitives/clock'
import { Lines } from '../../primitives/concurrency'
import { type Fields, kind, needed, readOptions } from '../../primitives/schema'
import { isRecord } from '../../primitives/values'
import { clocksApart, CreationDeadline, warningsOf } from '../../store/database-clock'
import type { Count, Store, StoreWarning } from '../../store/store'
import {
  type Ask,
  asking,
  bytesIn,
  describePool,
  type PostgresPool,
  textIn,
  wholeIn,
  type Word,
} from './pool'
import { type PostgresTables, type Statement, statementsOn, tableFields, tablesText } from './statements'

export interface PostgresStoreOptions extends PostgresTables {
  /** The host's pool of pg, or another object with the same `query`. The store does not end it. */
  readonly pool: PostgresPool
}

/** A {@link Store} on PostgreSQL. */
export interface PostgresStore extends Store {
  /** For messages, such as `PostgreSQL at localhost:5432`. Never a password. */
  readonly place: string
  /** Rejects if the tables are not there. */
  check(): Promise<readonly StoreWarning[]>
}

const none: PostgresPool = { query: async () => ({ rows: [] }) }
const fields = {
  ...tableFields,
  pool: needed(
    none,
    kind(
      (value): value is PostgresPool => isRecord(value) && typeof value['query'] === 'function',
      'must have the function query, as the Pool of pg has.',
    ),
  ),
} satisfies Fields<PostgresStoreOptions>

/**
 * Keeps records in PostgreSQL 12 or later, in two tables that `npx express-authorization-server migrate` makes. A
 * settled write or removal outlives a crash; a promotion too, if `synchronous_commit` and `synchronous_standby_names`
 * make PostgreSQL wait for the standby. Counts may lose the last moments.
 *
 * @throws ConfigurationError if an option is wrong.
 */
export function postgresStore(options: PostgresStoreOptions): PostgresStore {
  const { pool, ...tables } = readOptions('postgresStore()', fields, options)
  const [ask, statements] = [asking(pool, tables), statementsOn(tables)]
  const creations = new CreationDeadline(patience)
  const create = (words: readonly Word[]) =>
    creations.send(async (deadline) => {
      let [row] = await ask(statements.create, ...words, deadline)
      if (row?.['reply'] === null) [row] = await ask(statements.create, ...words, deadline)
      if (row?.['reply'] === null)
        throw new Error('The record was not created: another is under its key, and cannot be read.')
      return wholeIn(row, 'reply')
    })
  const sweep = sweeping(ask, [statements.sweepRecords, statements.sweepCounts])
  const count = gathered(async (key, amount, seconds) => {
    const [row] = await ask(statements.add, key, amount, seconds)
    return { count: wholeIn(row, 'count'), secondsLeft: wholeIn(row, 'left') }
  })
  return {
    place: describePool(pool),
    async read(key) {
      const [row] = await ask(statements.read, key)
      return row && { value: bytesIn(row, 'value'), version: textIn(row, 'version') }
    },
    async write(key, value, { version, expected, seconds }) {
      const words = [key, version, Buffer.from(value), seconds ?? null]
      const replace = async (former: string) => {
        const [row] = await ask(statements.replace, ...words, former)
        return row !== undefined && wholeIn(row, 'reply') > 0
      }
      const isStored = await (expected === undefined ? create(words) : replace(expected))
      sweep()
      return isStored
    },
    async remove(key) {
      await ask(statements.remove, key)
      sweep()
    },
    async add(key, amount, seconds) {
      const counted = await count(key, amount, seconds)
      sweep()
      return counted
    },
    list: async (kindOfRecord) => (await ask(statements.list, kindOfRecord)).map((row) => textIn(row, 'id')),
    async check() {
      const before = Date.now()
      const [row] = await ask(statements.check)
      const clocks = { before, there: wholeIn(row, 'clock'), after: Date.now() }
      const missing = missingTimeouts(pool).join(' and no ')
      return warningsOf(
        [
          textIn(row, 'standby') === 'true',
          'EAS_POSTGRES_STANDBY',
          'The pool is connected to a standby, which refuses every write, and whose data may be out of date. Connect it to the primary.',
        ],
        [
          textIn(row, 'commit') === 'off',
          'EAS_POSTGRES_COMMIT',
          'synchronous_commit is off: a crash of PostgreSQL brings back a revoked token, or a code that was redeemed. Set it to on for the role or the database of the pool.',
        ],
        [
          missing !== '',
          'EAS_POSTGRES_TIMEOUT',
          `The pool has no ${missing}: a dead connection holds its place for many minutes, until none is left. Set 1000 and 2000 (milliseconds), or your own.`,
        ],
        clocksApart('EAS_POSTGRES_CLOCK', 'PostgreSQL', clocks),
      )
    },
  }
}

/** @returns the SQL that makes the tables, for the migrations of a host. Run again, it changes nothing. */
export function postgresSchema(options: PostgresTables = {}): string {
  return tablesText(readOptions('postgresSchema()', tableFields, options))
}

// Milliseconds until a create is void.
const patience = 2000

// Milliseconds.
const pause = 60_000

// Deletes what has expired, a thousand rows in a statement, at most once a minute.
function sweeping(ask: Ask, statements: readonly Statement[]): () => void {
  let lastEnd = -pause
  const sweep = async () => {
    for (const statement of statements) while (wholeIn((await ask(statement))[0], 'gone') === 1000);
  }
  return () => {
    if (performance.now() - lastEnd < pause) return
    lastEnd = Infinity
    // A failure shows at the next write, too.
    void sweep()
      .catch(() => {})
      .finally(() => (lastEnd = performance.now()))
  }
}

// Others must not wait behind a dead connection.
const silence = { seconds: 2, late: () => new Error('The pool did not reply within 2 s.') }

interface Batch {
  size: number
  readonly stored: Promise<Count>
}

// Additions of this process to one key wait for the statement before them, and go together, in any order. `send`
// resolves to the stored count, below 0 too.
function gathered(send: (key: string, amount: number, seconds: number) => Promise<Count>): Store['add'] {
  const lines = new Lines()
  const waiting = new Map<string, Batch>()
  return async (key, amount, seconds) => {
    const name = `${amount} ${seconds} ${key}`
    const begun = (): Batch => {
      const stored = lines.take(key, () => {
        waiting.delete(name)
        return inTime(() => send(key, amount * batch.size, seconds), silence)
      })
      return { size: 0, stored }
    }
    const batch = waiting.get(name) ?? begun()
    waiting.set(name, batch)
    const place = (batch.size += 1)
    const { count, secondsLeft } = await batch.stored
    const own = Math.max(0, count - amount * (batch.size - place))
    return { count: own, secondsLeft: own === 0 ? 0 : secondsLeft }
  }
}

// Only of a pool that shows its options, as that of pg does.
function missingTimeouts(pool: object): readonly string[] {
  const { options }: { options?: unknown } = pool
  if (!isRecord(options) || !('max' in options)) return []
  return ['connectionTimeoutMillis', 'query_timeout'].filter((name) => !options[name])
}
