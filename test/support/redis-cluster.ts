import { Redis } from 'ioredis'
import { startRedis, type RedisServer } from './redis-server'
import { waitUntil } from './wait-until'

export interface RedisCluster {
  nodes: { host: string; port: number }[]
  servers: RedisServer[]
  stop(): Promise<void>
}

const slotRanges: readonly [number, number][] = [
  [0, 5460],
  [5461, 10922],
  [10923, 16383],
]

export async function startRedisCluster(): Promise<RedisCluster> {
  const extraArguments = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000']
  const servers = await Promise.all(slotRanges.map(() => startRedis({ extraArguments })))
  const stop = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.stop()))
  }
  const clients = servers.map(({ url }) => new Redis(url, { maxRetriesPerRequest: 1 }))
  try {
    await join(clients, servers)
    await waitUntil('cluster_state:ok on every node', async () => {
      const answers = await Promise.all(clients.map((client) => client.call('CLUSTER', 'INFO')))
      return answers.every((answer) => String(answer).includes('cluster_state:ok'))
    })
  } catch (error) {
    await stop()
    throw error
  } finally {
    for (const client of clients) client.disconnect()
  }
  return { nodes: servers.map(({ port }) => ({ host: '127.0.0.1', port })), servers, stop }
}

async function join(clients: Redis[], servers: RedisServer[]): Promise<void> {
  await Promise.all(
    clients.map(async (client, index) => {
      const [first, last] = slotRanges[index]!
      // Given beforehand: equal epochs would have to be settled by a collision among the nodes, which takes time.
      await client.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1)
      await client.call('CLUSTER', 'ADDSLOTSRANGE', first, last)
    }),
  )
  for (const { port } of servers.slice(1)) await clients[0]!.call('CLUSTER', 'MEET', '127.0.0.1', port)
}
