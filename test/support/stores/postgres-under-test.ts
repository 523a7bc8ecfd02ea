import { Pool, type PoolConfig } from 'pg'
import { postgresSchema, postgresStore, type PostgresPool } from 'express-authorization-server/postgres'
import { type PostgresServer, startPostgres } from '../postgres-server'

/** A server with the tables of the store, for the tests of a file. */
export function withPostgres() {
  let server: PostgresServer
  let pool: Pool
  const pools: Pool[] = []
  const open = (config: PoolConfig = {}) => {
    const opened = new Pool({ connectionString: server.url, max: 20, ...config })
    // A connection that is idle may break.
    opened.on('error', () => {})
    pools.push(opened)
    return opened
  }
  beforeAll(async () => {
    server = await startPostgres()
    pool = open()
    await pool.query(postgresSchema())
  })
  afterAll(async () => {
    await Promise.all(pools.map((each) => each.end()))
    await server.stop()
  })
  return {
    server: () => server,
    pool: () => pool,
    /** Another pool, which ends with the file. */
    open,
    /** Lets time pass as the database sees it: everything ends so much sooner. */
    advance: async (seconds: number): Promise<void> => {
      for (const table of ['oauth_records', 'oauth_records_counts'])
        await pool.query(`update ${table} set ends = ends - $1::float8 * interval '1 second'`, [seconds])
    },
    waiting: async (event: string) =>
      (await pool.query('select from pg_stat_activity where wait_event_type = $1', [event])).rowCount,
  }
}

export type Query = Parameters<PostgresPool['query']>[0]

/** A store whose statements are written down, and may be sent again. */
export function watched(pool: PostgresPool) {
  const sent: Query[] = []
  const store = postgresStore({
    pool: {
      query: (query) => {
        sent.push(query)
        return pool.query(query)
      },
    },
  })
  /** Without those that delete what has expired. */
  const statements = () => sent.filter(({ text }) => !text.includes('skip locked'))
  return { store, statements, sent }
}
