import { Redis } from 'ioredis'
import { startRedis, type RedisServer } from './redis-server'
import { waitUntil } from './wait-until'

export interface RedisCluster {
  nodes: { host: string; port: number }[]
  /** The masters, and after them, if asked for, a replica of each, in the same order. */
  servers: RedisServer[]
  stop(): Promise<void>
}

const slotRanges: readonly [number, number][] = [
  [0, 5460],
  [5461, 10922],
  [10923, 16383],
]

const extraArguments = [
  '--cluster-enabled',
  'yes',
  '--cluster-node-timeout',
  '2000',
  // The delay, 5 s by default, lets further replicas share one transfer.
  '--repl-diskless-sync-delay',
  '0',
]

export async function startRedisCluster({ replicas = false } = {}): Promise<RedisCluster> {
  const places = replicas ? [...slotRanges, ...slotRanges] : slotRanges
  const servers = await Promise.all(places.map(() => startRedis({ extraArguments })))
  const stop = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.stop()))
  }
  const clients = servers.map(({ url }) => new Redis(url, { maxRetriesPerRequest: 1 }))
  try {
    await join(clients, servers)
    await everyAnswer(clients, 'cluster_state:ok', 'CLUSTER', 'INFO')
    if (replicas) await follow(clients)
  } catch (error) {
    await stop()
    throw error
  } finally {
    for (const client of clients) client.disconnect()
  }
  return { nodes: servers.map(({ port }) => ({ host: '127.0.0.1', port })), servers, stop }
}

async function everyAnswer(
  clients: readonly Redis[],
  words: string,
  command: string,
  topic: string,
): Promise<void> {
  await waitUntil(`${words} on every node`, async () => {
    const answers = await Promise.all(clients.map((client) => client.call(command, topic)))
    return answers.every((answer) => String(answer).includes(words))
  })
}

async function join(clients: Redis[], servers: RedisServer[]): Promise<void> {
  await Promise.all(
    clients.slice(0, slotRanges.length).map(async (client, index) => {
      const [first, last] = slotRanges[index]!
      // Given beforehand: equal epochs would have to be settled by a collision among the nodes, which takes time.
      await client.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1)
      await client.call('CLUSTER', 'ADDSLOTSRANGE', first, last)
    }),
  )
  for (const { port } of servers.slice(1)) await clients[0]!.call('CLUSTER', 'MEET', '127.0.0.1', port)
}

/** Makes the second half of the nodes replicas of the first. */
async function follow(clients: readonly Redis[]): Promise<void> {
  const masters = clients.slice(0, slotRanges.length)
  const replicas = clients.slice(slotRanges.length)
  const ids = await Promise.all(masters.map((master) => master.call('CLUSTER', 'MYID')))
  await Promise.all(
    replicas.map((replica, index) =>
      waitUntil('the replica knows its master', () =>
        replica.call('CLUSTER', 'REPLICATE', String(ids[index])).then(
          () => true,
          () => false,
        ),
      ),
    ),
  )
  await everyAnswer(replicas, 'master_link_status:up', 'INFO', 'replication')
}
