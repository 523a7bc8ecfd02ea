import { startRedisProcess, type RedisProcess } from './redis-process'
import { infoSays, startReplicatedRedis } from './redis-replicated'

const masterName = 'authorizations'

export async function startRedisSentinel() {
  const { stop: stopServers, ...servers } = await startReplicatedRedis()
  let process: RedisProcess | undefined
  const stop = async (): Promise<void> => {
    await Promise.all([process?.stop(), stopServers()])
  }
  try {
    // One that comes before the replica learns of it only at its next question, up to 10 s later.
    process = await startSentinel(servers.master.port)
    const { port } = process
    await infoSays(port, 'sentinel', 'status=ok', 'slaves=1')
    return { sentinel: { host: '127.0.0.1', port }, masterName, ...servers, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

export type RedisSentinel = Awaited<ReturnType<typeof startRedisSentinel>>

function startSentinel(masterPort: number): Promise<RedisProcess> {
  const configuration = [
    `sentinel monitor ${masterName} 127.0.0.1 ${masterPort} 1`,
    `sentinel down-after-milliseconds ${masterName} 500`,
    `sentinel failover-timeout ${masterName} 2000`,
  ].join('\n')
  return startRedisProcess({ configuration, extraArguments: ['--sentinel'], readyWhen: /Sentinel ID is/ })
}
