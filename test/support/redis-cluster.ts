import { Redis } from 'ioredis'
import { startRedis, type RedisServer } from './redis-server'
import { waitUntil } from './wait-until'

const slotRanges: readonly [number, number][] = [
  [0, 5460],
  [5461, 10922],
  [10923, 16383],
]

/** Three masters, and with `replicas: 1` a replica that has caught up with each. */
export async function startRedisCluster(options: { replicas?: 0 | 1 } = {}) {
  const clustered = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000']
  const extraArguments = [...clustered, '--repl-diskless-sync-delay', '0']
  const start = () => Promise.all(slotRanges.map(() => startRedis({ extraArguments })))
  const servers = await start()
  const replicas = options.replicas === 1 ? await start() : []
  const all = [...servers, ...replicas]
  const stop = async (): Promise<void> => {
    await Promise.all(all.map((server) => server.stop()))
  }
  const clients = all.map(({ url }) => new Redis(url, { maxRetriesPerRequest: 1 }))
  try {
    await join(clients)
    let metAt = -Infinity
    await waitUntil('cluster_state:ok on every node', async () => {
      const answers = await Promise.all(clients.map((client) => client.call('CLUSTER', 'INFO')))
      if (answers.every((answer) => String(answer).includes('cluster_state:ok'))) return true
      // Redis forgets a handshake that a busy machine did not finish within the time-out of nodes.
      if (performance.now() - metAt < 3000) return false
      metAt = performance.now()
      await meet(clients, all)
      return false
    })
    await follow(clients.slice(servers.length), clients)
  } catch (error) {
    await stop()
    throw error
  } finally {
    for (const client of clients) client.disconnect()
  }
  return { nodes: servers.map(({ port }) => ({ host: '127.0.0.1', port })), servers, replicas, stop }
}

export type RedisCluster = Awaited<ReturnType<typeof startRedisCluster>>

async function join(clients: readonly Redis[]): Promise<void> {
  await Promise.all(
    clients.map(async (client, index) => {
      const [first, last] = slotRanges[index] ?? []
      // Given beforehand: equal epochs would have to be settled by a collision among the nodes, which takes time.
      await client.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1)
      if (first !== undefined && last !== undefined)
        await client.call('CLUSTER', 'ADDSLOTSRANGE', first, last)
    }),
  )
}

async function meet([first]: readonly Redis[], servers: readonly RedisServer[]): Promise<void> {
  for (const { port } of servers.slice(1)) await first?.call('CLUSTER', 'MEET', '127.0.0.1', port)
}

/** Each replica follows the master of the same place. */
async function follow(replicas: Redis[], masters: Redis[]): Promise<void> {
  for (const [index, replica] of replicas.entries()) {
    const id = String(await masters[index]!.call('CLUSTER', 'MYID'))
    await waitUntil('the replica knows its master', async () =>
      String(await replica.call('CLUSTER', 'NODES')).includes(id),
    )
    await replica.call('CLUSTER', 'REPLICATE', id)
    // Something to acknowledge, which needs no key.
    await masters[index]!.flushall()
    await waitUntil(
      'the replica has caught up, and says so',
      async () =>
        (await replica.info('replication')).includes('master_link_status:up') &&
        (await masters[index]!.wait(1, 1000)) === 1,
    )
  }
}
