import { Cluster, Redis } from 'ioredis'
import { redisStore, type RedisStore, type ReplicaWait } from '../../lib/index'
import { connectionSettings } from '../../lib/stores/redis/connection'
import { careless } from './stores/broken-connections'

interface Node {
  readonly host: string
  readonly port: number
}

interface StoreOptions {
  readonly prefix: string
  readonly clock?: () => number
}

interface Waiting {
  readonly waitForReplicas?: ReplicaWait
}

/** How a process of its own reaches Redis; it can be told in words. */
export type RedisPlan = Waiting &
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

/** A store on it. Over a single server it makes its own connection, else the client is the host's. */
export function storeOn(plan: RedisPlan, options: StoreOptions): RedisStore {
  if ('url' in plan) return overUrl(plan, options)
  // With the settings that docs/guides/redis.md advises a host to use.
  const client = clientOn(plan)
  // Without a listener ioredis prints every lost connection.
  client.on('error', () => {})
  return redisStore({ client, ...options, ...waitOf(plan) })
}

const waitOf = ({ waitForReplicas }: Waiting): Waiting =>
  waitForReplicas === undefined ? {} : { waitForReplicas }

function overUrl(plan: Extract<RedisPlan, { url: string }>, options: StoreOptions): RedisStore {
  const { url, isCareless = false } = plan
  if (!isCareless) return redisStore({ url, ...options, ...waitOf(plan) })
  const client = new Redis(url, connectionSettings)
  client.on('error', () => {})
  return redisStore({ client: careless(client), ...options })
}

function clientOn(plan: Exclude<RedisPlan, { url: string }>): Cluster | Redis {
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
