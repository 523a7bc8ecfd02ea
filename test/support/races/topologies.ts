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
  const { url, stop } = await startRedis()
  return { redis: { url }, stop }
}

async function cluster(): Promise<RunningRedis> {
  const { nodes, stop } = await startRedisCluster()
  return { redis: { cluster: nodes }, stop }
}

async function behindSentinel(): Promise<RunningRedis> {
  const { sentinel, masterName, stop } = await startRedisSentinel()
  return { redis: { sentinels: [sentinel], masterName }, stop }
}

/** Every kind of Redis that the store works on. */
export const topologies = [
  ['one Redis', oneServer],
  ['a cluster of three masters', cluster],
  ['Redis behind Sentinel', behindSentinel],
] as const
