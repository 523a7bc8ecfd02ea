import { type Fields, kind, readOptions } from '../../primitives/schema'
import { isRecord } from '../../primitives/values'
import { CreationDeadline } from '../creation-deadline'
import type { Count, Store, StoredValue, StoreWarning, WriteTerms } from '../store'
import { Additions } from './additions'
import { warningsOf } from './check'
import { type Ask, asking, bytesIn, describePool, type PostgresPool, textIn, wholeIn } from './pool'
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

const fields = {
  ...tableFields,
  pool: kind(
    (value): value is PostgresPool => isRecord(value) && typeof value['query'] === 'function',
    'must have the function query, as the Pool of pg has.',
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
  if (pool === undefined) throw new Error('A pool is missing.')
  return new StoreOnPostgres(pool, asking(pool, tables), statementsOn(tables))
}

/** @returns the SQL that makes the tables, for the migrations of a host. Run again, it changes nothing. */
export function postgresSchema(options: PostgresTables = {}): string {
  return tablesText(readOptions('postgresSchema()', tableFields, options))
}

/** Milliseconds after its call until a create is void. */
const patience = 2000

class StoreOnPostgres implements PostgresStore {
  readonly place: string
  private readonly creations = new CreationDeadline(patience)
  private readonly additions: Additions
  private readonly sweep: () => void

  constructor(
    private readonly pool: PostgresPool,
    private readonly ask: Ask,
    private readonly statements: ReturnType<typeof statementsOn>,
  ) {
    this.place = describePool(pool)
    this.additions = new Additions(async (key, amount, seconds) => {
      const [row] = await ask(statements.add, key, amount, seconds)
      return { count: wholeIn(row, 'count'), secondsLeft: wholeIn(row, 'left') }
    })
    this.sweep = sweeping(ask, [statements.sweepRecords, statements.sweepCounts])
  }

  async read(key: string): Promise<StoredValue | undefined> {
    const [row] = await this.ask(this.statements.read, key)
    return row && { value: bytesIn(row, 'value'), version: textIn(row, 'version') }
  }

  async write(key: string, value: string, { version, expected, seconds }: WriteTerms): Promise<boolean> {
    const words = [key, version, Buffer.from(value), seconds ?? null]
    const isStored =
      expected === undefined ? await this.create(words) : await this.replace([...words, expected])
    this.sweep()
    return isStored
  }

  private async create(words: Parameters<Ask>[1][]): Promise<boolean> {
    let outcome = 'unknown'
    await this.creations.send(async (deadline) => {
      const create = async () => {
        const [row] = await this.ask(this.statements.create, ...words, deadline)
        outcome = textIn(row, 'outcome')
        return outcome === 'late' ? -wholeIn(row, 'clock') : wholeIn(row, 'clock')
      }
      const clock = await create()
      return outcome === 'unknown' ? create() : clock
    })
    if (outcome === 'stored' || outcome === 'exists') return outcome === 'stored'
    throw new Error(
      outcome === 'removed'
        ? 'The record was removed.'
        : 'The record was not created: another is under its key, and cannot be read.',
    )
  }

  private async replace(words: Parameters<Ask>[1][]): Promise<boolean> {
    const [row] = await this.ask(this.statements.replace, ...words)
    return row !== undefined && textIn(row, 'outcome') === 'stored'
  }

  async remove(key: string): Promise<void> {
    await this.ask(this.statements.remove, key)
    this.sweep()
  }

  async add(key: string, amount: 1 | -1, seconds: number): Promise<Count> {
    const count = await this.additions.add(key, amount, seconds)
    this.sweep()
    return count
  }

  async list(kindOfRecord: 'client'): Promise<readonly string[]> {
    return (await this.ask(this.statements.list, kindOfRecord)).map((row) => textIn(row, 'id'))
  }

  async check(): Promise<readonly StoreWarning[]> {
    const before = Date.now()
    const [row] = await this.ask(this.statements.check)
    return warningsOf(row, this.pool, { before, after: Date.now() })
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
