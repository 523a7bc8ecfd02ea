import { Pool } from 'pg'
import { clientsSchema } from '../../../docs/examples/postgres-clients'
import { postgresStore, schema } from '../../../docs/examples/postgres-store'
import { startPostgres, type PostgresServer } from '../postgres-server'

/** A PostgreSQL server with the tables of the recipe, for all tests of a file. */
export interface PostgresTables {
  readonly server: PostgresServer
  readonly pool: Pool
  readonly store: ReturnType<typeof postgresStore>
}

export function usePostgresTables(): () => PostgresTables {
  let tables: PostgresTables
  beforeAll(async () => {
    const server = await startPostgres()
    const pool = new Pool({ connectionString: server.url, max: 20 })
    await pool.query(schema + clientsSchema)
    tables = { server, pool, store: postgresStore(pool) }
  }, 60_000)
  afterAll(async () => {
    await tables.pool.end()
    await tables.server.stop()
  })
  return () => tables
}

/** Lets time pass as the database sees it: everything ends so much sooner. */
export async function advance({ pool }: PostgresTables, seconds: number): Promise<void> {
  for (const table of ['oauth_authorizations', 'oauth_counters']) {
    const earlier = `update ${table} set expires_at = expires_at - $1::float8 * interval '1 second'`
    await pool.query(earlier, [seconds])
  }
}
