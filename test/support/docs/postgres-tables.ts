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
  })
  afterAll(async () => {
    await tables.pool.end()
    await tables.server.stop()
  })
  return () => tables
}

const times: readonly (readonly [table: string, columns: readonly string[]])[] = [
  ['oauth_authorizations', ['expires_at']],
  ['oauth_counters', ['expires_at']],
  ['oauth_owners', ['marked_at', 'mark_ends_at', 'expires_at']],
  ['oauth_owner_entries', ['expires_at']],
  ['oauth_revoked_clients', ['expires_at']],
  ['oauth_consent_owners', ['forgotten_at', 'expires_at']],
  ['oauth_consents', ['expires_at']],
]

/** Lets time pass as the database sees it: everything was, and ends, so much sooner. */
export async function advance({ pool }: PostgresTables, seconds: number): Promise<void> {
  for (const [table, columns] of times) {
    const earlier = columns.map((column) => `${column} = ${column} - $1::float8 * interval '1 second'`)
    await pool.query(`update ${table} set ${earlier.join(', ')}`, [seconds])
  }
}
