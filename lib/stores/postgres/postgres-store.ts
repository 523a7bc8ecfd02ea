import { type Fields, kind, needed, readOptions } from '../../primitives/schema'
import { isRecord } from '../../primitives/values'
import { CreationDeadline } from '../../store/creation-deadline'
import type { Store, StoreWarning } from '../../store/store'
import { gathered } from './additions'
import { warningsOf } from './check'
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
 * removal or write that has settled outlives a crash; a promotion too, if `synchronous_commit` and
 * `synchronous_standby_names` make PostgreSQL wait for the standby. Counts may lose the last moments.
 *
 * @throws ConfigurationError if an option is wrong.
 */
export function postgresStore(options: PostgresStoreOptions): PostgresStore {
  const { pool, ...tables } = readOptions('postgresStore()', fields, options)
  const [ask, statements] = [asking(pool, tables), statementsOn(tables)]
  const create = creating(ask, statements.create)
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
        return row !== undefined && textIn(row, 'outcome') === 'stored'
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
      return warningsOf(row, pool, { before, after: Date.now() })
    },
  }
}

/** @returns the SQL that makes the tables, for the migrations of a host. Run again, it changes nothing. */
export function postgresSchema(options: PostgresTables = {}): string {
  return tablesText(readOptions('postgresSchema()', tableFields, options))
}

/** Milliseconds after its call until a create is void. */
const patience = 2000

function creating(ask: Ask, statement: Statement): (words: readonly Word[]) => Promise<boolean> {
  const creations = new CreationDeadline(patience)
  return async (words) => {
    let outcome = 'unknown'
    await creations.send(async (deadline) => {
      let [row] = await ask(statement, ...words, deadline)
      if (row?.['outcome'] === 'unknown') [row] = await ask(statement, ...words, deadline)
      outcome = textIn(row, 'outcome')
      return outcome === 'late' ? -wholeIn(row, 'clock') : wholeIn(row, 'clock')
    })
    if (outcome === 'stored' || outcome === 'exists') return outcome === 'stored'
    const why = outcome === 'removed' ? 'it was removed' : 'another is under its key, and cannot be read'
    throw new Error(`The record was not created: ${why}.`)
  }
}

/** Milliseconds. */
const pause = 60_000

/** Deletes what has expired, a thousand rows in a statement: at most once a minute, and never twice at a time. */
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
