import { Cluster, Redis } from 'ioredis'
import { redisStore, type RedisStore } from '../../lib/index'
import { connectionSettings } from '../../lib/stores/redis-connection'

interface Node {
  readonly host: string
  readonly port: number
}

/** How a process of its own reaches Redis; it can be told in words. */
export type RedisPlan =
  | { readonly url: string }
  | { readonly cluster: readonly Node[] }
  | { readonly sentinels: readonly Node[]; readonly masterName: string }

/** A store on it. Over a single server it makes its own connection, else the client is the host's. */
export function storeOn(
  plan: RedisPlan,
  options: { readonly prefix: string; readonly clock?: () => number },
): RedisStore {
  if ('url' in plan) return redisStore({ url: plan.url, ...options })
  // With the settings that the README advises a host to use.
  const client = clientOn(plan)
  // Without a listener ioredis prints every lost connection.
  client.on('error', () => {})
  return redisStore({ client, ...options })
}

function clientOn(plan: Exclude<RedisPlan, { readonly url: string }>): Cluster | Redis {
  const settings = { ...connectionSettings, maxRetriesPerRequest: 0 }
  if ('cluster' in plan)
    return new Cluster([...plan.cluster], { redisOptions: settings, retryDelayOnFailover: 0 })
  const { sentinels, masterName } = plan
  return new Redis({ sentinels: [...sentinels], name: masterName, ...settings })
}
