import { Redis } from 'ioredis'
import { startRedis, type RedisServer } from './redis-server'
import { waitUntil } from './wait-until'

/** A master and a replica that follows it, both the test's own. */
export async function startReplicatedRedis() {
  // The delay, 5 s by default, lets further replicas share one transfer.
  const master = await startRedis({ extraArguments: ['--repl-diskless-sync-delay', '0'] })
  const replica = await startReplicaOf(master.port).catch(async (error: unknown) => {
    await master.stop()
    throw error
  })
  return {
    master,
    replica,
    stop: async () => {
      await Promise.all([master.stop(), replica.stop()])
    },
  }
}

export type ReplicatedRedis = Awaited<ReturnType<typeof startReplicatedRedis>>

/** A replica that has caught up. */
export async function startReplicaOf(masterPort: number): Promise<RedisServer> {
  const replica = await startRedis({ extraArguments: ['--replicaof', '127.0.0.1', String(masterPort)] })
  await infoSays(replica.port, 'replication', 'master_link_status:up')
  // Until it has said so itself, the master counts it as behind.
  const master = new Redis(masterPort, '127.0.0.1', { maxRetriesPerRequest: 1 })
  try {
    await master.incr('mark')
    await waitUntil('the replica acknowledges', async () => (await master.wait(1, 1000)) >= 1)
  } finally {
    master.disconnect()
  }
  return replica
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
