import { startFaultyNetwork, type FaultyNetwork } from '../../support/faulty-network'
import { startRedisCluster, type RedisCluster } from '../../support/redis-cluster'
import { startRedis, type RedisServer } from '../../support/redis-server'
import type { StorePlan } from '../../support/store-plan'
import { waitUntil } from '../../support/wait-until'
import { type RedisStage, replicaWait, sendCommand } from './stage'

/** A cluster of three masters with a replica each, and for each process a separate way to each node. */
export class ThreeMasters implements RedisStage {
  /** Whether writes of the processes that start now wait for replicas. */
  waits = false

  private constructor(
    private readonly cluster: RedisCluster,
    /** All six. */
    private readonly nodes: RedisServer[],
    readonly ways: readonly [readonly FaultyNetwork[], readonly FaultyNetwork[]],
  ) {}

  static async start(): Promise<ThreeMasters> {
    const cluster = await startRedisCluster({ replicas: 1 })
    const nodes = [...cluster.servers, ...cluster.replicas]
    // Only when the campaign says so: one that the cluster begins by itself would lose writes that nothing excuses.
    for (const node of nodes) await sendCommand(node, 'CONFIG', 'SET', 'cluster-replica-no-failover', 'yes')
    const ways = () => Promise.all(nodes.map(({ port }) => startFaultyNetwork(port)))
    return new ThreeMasters(cluster, nodes, [await ways(), await ways()])
  }

  plansFor(prefix: string, waits: boolean): readonly [StorePlan, StorePlan] {
    this.waits = waits
    const [one, other] = this.ways
    return [this.planOver(one, prefix), this.planOver(other, prefix)]
  }

  private planOver(networks: readonly FaultyNetwork[], prefix: string): StorePlan {
    const places = networks.map(({ url }) => ({ host: '127.0.0.1', port: Number(new URL(url).port) }))
    const ways = Object.fromEntries(
      this.nodes.flatMap(({ port }, index) => {
        const place = places[index]
        return place === undefined ? [] : [[`127.0.0.1:${port}`, place]]
      }),
    )
    return { cluster: places, ways, prefix, ...(this.waits ? { waitForReplicas: replicaWait } : {}) }
  }

  /** In the order of their ports, which does not change. */
  async masters(): Promise<readonly RedisServer[]> {
    const roles = await Promise.all(this.nodes.map(roleOf))
    return this.nodes.filter((_, index) => roles[index]?.[0] === 'master')
  }

  /** The node that follows this master. */
  async replicaOf(master: RedisServer): Promise<RedisServer> {
    for (const node of this.nodes) {
      const [kind, , port] = await roleOf(node)
      if (kind === 'slave' && port === master.port) return node
    }
    throw new Error('The master has no replica.')
  }

  /** Starts a node again that was killed, where it was. */
  async restart(node: RedisServer): Promise<void> {
    const clustered = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000']
    const calm = ['--cluster-replica-no-failover', 'yes', '--repl-diskless-sync-delay', '0']
    const extraArguments = ['--dir', node.directory, ...clustered, ...calm]
    const again = await startRedis({ port: node.port, extraArguments })
    // The directory goes with the first one, at the end.
    this.nodes[this.nodes.indexOf(node)] = {
      ...again,
      directory: node.directory,
      stop: async () => {
        await again.stop()
        await node.stop()
      },
    }
  }

  /** Waits until each of three masters has a replica that has caught up, and the whole cluster says that it works. */
  async isWhole(): Promise<void> {
    await waitUntil('the cluster is whole', async () => {
      const masters = await this.masters()
      const say = async (
        nodes: readonly RedisServer[],
        word: string,
        command: string,
        ...words: string[]
      ) => {
        const states = nodes.map((node) => sendCommand(node, command, ...words).catch(() => ''))
        return (await Promise.all(states)).every((state) => String(state).includes(word))
      }
      return (
        masters.length === 3 &&
        (await say(this.nodes, 'cluster_state:ok', 'CLUSTER', 'INFO')) &&
        (await say(masters, 'state=online', 'INFO', 'replication'))
      )
    })
  }

  async empty(): Promise<void> {
    await Promise.all((await this.masters()).map((master) => sendCommand(master, 'FLUSHALL')))
  }

  async stop(): Promise<void> {
    await Promise.all(this.ways.flat().map((network) => network.stop()))
    await Promise.all(this.nodes.map((node) => node.stop()))
    await this.cluster.stop()
  }
}

async function roleOf(node: RedisServer): Promise<readonly unknown[]> {
  const role = await sendCommand(node, 'ROLE').catch(() => [])
  return Array.isArray(role) ? role : []
}
