import { memoryStore } from '../../store/memory-store'
import { loadPg } from '../postgres/load-pg'
import { postgresStore } from '../postgres/postgres-store'
import type { PostgresTables } from '../postgres/statements'
import { redisStore } from '../redis/redis-store'
import { sqliteStore } from '../sqlite/sqlite-store'
import type { Store } from '../../store/store'
import { namedStore, variable } from './store-url'

/**
 * The store that the variable `STORE_URL` names, for the option `store`:
 *
 * - absent or empty: `memoryStore()`, which refuses production
 * - `file:./oauth.db` or `file:///var/lib/shop/oauth.db`: `sqliteStore()`
 * - `redis://localhost:6379` or `rediss://…`: `redisStore()`; `?prefix=shop:` gives it a prefix
 * - `postgres://localhost/shop` or `postgresql://…`: `postgresStore()` on ten connections of its own;
 *   `?schema=oauth&table=records` names its tables
 *
 * @param environment such as `process.env`.
 * @throws ConfigurationError if the variable names something else, or the store cannot work, for example without its
 * package.
 */
export function storeFrom(environment: Readonly<Record<string, string | undefined>>): Store {
  const named = namedStore(environment[variable])
  switch (named.kind) {
    case 'memory':
      return memoryStore()
    case 'file':
      return sqliteStore({ path: named.path })
    case 'redis': {
      const { kind: _, ...options } = named
      return redisStore(options)
    }
    case 'postgres':
      return storeAt(named.url, named.tables)
  }
}

/** Milliseconds, as for Redis. */
const timeouts = { connectionTimeoutMillis: 2000, query_timeout: 2000 }

function storeAt(connectionString: string, tables: PostgresTables): Store {
  const { Pool } = loadPg({
    subject: `storeFrom() cannot connect to the PostgreSQL of ${variable}:`,
    cure: 'run "npm install pg"',
  })
  const pool = new Pool({ connectionString, ...timeouts })
  // Without a listener, an idle connection that breaks ends the process.
  pool.on('error', () => {})
  let end: Promise<void> | undefined
  return Object.assign(postgresStore({ pool, ...tables }), { close: () => (end ??= pool.end()) })
}
