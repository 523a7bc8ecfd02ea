import { startRedisCluster } from '../redis-cluster'
import type { RedisPlan } from '../redis-plan'
import { startRedisSentinel } from '../redis-sentinel'
import { startRedis } from '../redis-server'

/** A Redis of some kind that runs. */
export interface RunningRedis {
  readonly redis: RedisPlan
  readonly stop: () => Promise<void>
}

async function oneServer(): Promise<RunningRedis> {
  const server = await startRedis()
  return { redis: { url: server.url }, stop: () => server.stop() }
}

async function cluster(): Promise<RunningRedis> {
  const servers = await startRedisCluster()
  return { redis: { cluster: servers.nodes }, stop: () => servers.stop() }
}

async function behindSentinel(): Promise<RunningRedis> {
  const servers = await startRedisSentinel()
  const { sentinel, masterName } = servers
  return { redis: { sentinels: [sentinel], masterName }, stop: () => servers.stop() }
}

/** Every kind of Redis that the store works on. */
export const topologies: readonly (readonly [name: string, start: () => Promise<RunningRedis>])[] = [
  ['one Redis', oneServer],
  ['a cluster of three masters', cluster],
  ['Redis behind Sentinel', behindSentinel],
]
