import { postgresStore } from 'express-authorization-server/postgres'
import { sqliteStore } from 'express-authorization-server/sqlite'
import { Cluster, Redis } from 'ioredis'
import { Pool } from 'pg'
import type { Store } from '../../lib/index'
import { redisStore, type ReplicaWait } from '../../lib/paths/redis'
import { connectionSettings } from '../../lib/stores/redis/connection'
import { requireNode } from './nodes'
import { careless } from './stores/broken-connections'

interface Node {
  readonly host: string
  readonly port: number
}

interface OfRedis {
  readonly prefix: string
  readonly waitForReplicas?: ReplicaWait
}

type RedisPlan = OfRedis &
  /** `isCareless`: creates are never refused. */
  (
    | { readonly url: string; readonly isCareless?: boolean }
    | {
        readonly cluster: readonly Node[]
        /** The way to each node that leads elsewhere than to its own port. */
        readonly ways?: Readonly<Record<string, Node>>
      }
    | { readonly sentinels: readonly Node[]; readonly masterName: string }
  )

/** How a process of its own reaches a database; it can be told in words. */
export type StorePlan =
  | RedisPlan
  /** The path of a file. */
  | { readonly sqlite: string }
  /** A URL, and the schema in which the tables are. */
  | { readonly postgres: string; readonly schema: string }

/** The Node whose processes can reach it: that of the tests, unless it has no SQLite. */
export const nodeFor = (plan: StorePlan): string => ('sqlite' in plan ? requireNode(24) : process.execPath)

/** A store on it. Over a single Redis it makes its own connection, else the client is the host's. */
export function storeOn(plan: StorePlan, clock: () => number): Store {
  if ('sqlite' in plan) return sqliteStore({ path: plan.sqlite, clock })
  if ('postgres' in plan) return overPool(plan.postgres, plan.schema)
  const { prefix, waitForReplicas } = plan
  const options = { prefix, clock, ...(waitForReplicas && { waitForReplicas }) }
  if ('url' in plan && plan.isCareless !== true) return redisStore({ url: plan.url, ...options })
  // With the settings that docs/guides/stores.md advises a host to use.
  const client = clientOn(plan)
  // Without a listener ioredis prints every lost connection.
  client.on('error', () => {})
  return redisStore({ client: 'url' in plan ? careless(client) : client, ...options })
}

function overPool(connectionString: string, schema: string): Store {
  const timeouts = { connectionTimeoutMillis: 2000, query_timeout: 2000 }
  const pool = new Pool({ connectionString, max: 10, ...timeouts })
  // An idle connection may break.
  pool.on('error', () => {})
  return postgresStore({ pool, schema })
}

function clientOn(plan: RedisPlan): Cluster | Redis {
  if ('url' in plan) return new Redis(plan.url, connectionSettings)
  const settings = { ...connectionSettings, maxRetriesPerRequest: 0 }
  if ('cluster' in plan)
    return new Cluster([...plan.cluster], {
      redisOptions: settings,
      retryDelayOnFailover: 0,
      ...(plan.ways && { natMap: { ...plan.ways } }),
    })
  const { sentinels, masterName } = plan
  return new Redis({ sentinels: [...sentinels], name: masterName, ...settings })
}
