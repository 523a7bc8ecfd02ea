import { Redis } from 'ioredis'
import { startRedisProcess, type RedisProcess } from './redis-process'
import { startRedis } from './redis-server'
import { waitUntil } from './wait-until'

const masterName = 'authorizations'

export async function startRedisSentinel() {
  const started: RedisProcess[] = []
  const keep = <P extends RedisProcess>(process: P): P => {
    started.push(process)
    return process
  }
  const stop = async (): Promise<void> => {
    await Promise.all(started.map((process) => process.stop()))
  }
  try {
    // The delay, 5 s by default, lets further replicas share one transfer.
    const master = keep(await startRedis({ extraArguments: ['--repl-diskless-sync-delay', '0'] }))
    const replicaOf = ['--replicaof', '127.0.0.1', String(master.port)]
    const replica = keep(await startRedis({ extraArguments: replicaOf }))
    // A sentinel that comes before the replica learns of it only at its next question, up to 10 s later.
    await infoSays(replica.port, 'replication', 'master_link_status:up')
    const { port } = keep(await startSentinel(master.port))
    await infoSays(port, 'sentinel', 'status=ok', 'slaves=1')
    return { sentinel: { host: '127.0.0.1', port }, masterName, master, replica, stop }
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

export async function infoSays(
  port: number,
  section: 'replication' | 'sentinel',
  ...words: string[]
): Promise<void> {
  const client = new Redis(port, '127.0.0.1', { maxRetriesPerRequest: 1 })
  try {
    await waitUntil(`INFO ${section} says ${words.join(', ')}`, async () => {
      const answer = await client.info(section)
      return words.every((word) => answer.includes(word))
    })
  } finally {
    client.disconnect()
  }
}
