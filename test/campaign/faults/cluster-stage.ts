import { startRedisCluster, type RedisCluster } from '../../support/redis-cluster'
import { sendCommand } from './single-stage'
import type { Fault, Stage } from './stage'

/** Three masters with a replica each. */
export class ClusterStage implements Stage {
  private constructor(readonly cluster: RedisCluster) {}

  static async start(): Promise<ClusterStage> {
    return new ClusterStage(await startRedisCluster({ replicas: 1 }))
  }

  get plan(): { readonly cluster: RedisCluster['nodes'] } {
    return { cluster: this.cluster.nodes }
  }

  ping(): Promise<unknown> {
    return Promise.allSettled(this.cluster.servers.map((server) => sendCommand(server, 'PING')))
  }

  stop(): Promise<void> {
    return this.cluster.stop()
  }
}

export const clusterFaults: readonly Fault<ClusterStage>[] = [
  {
    title: 'cluster of 3 masters and 3 replicas: SCRIPT FLUSH on each',
    data: 'kept',
    trouble: 'never',
    seconds: [0, 0],
    begin: async ({ cluster }) => {
      await Promise.all(cluster.servers.slice(0, 3).map((master) => sendCommand(master, 'SCRIPT', 'FLUSH')))
    },
    end: async () => {},
  },
  {
    title: 'cluster of 3 masters and 3 replicas: a master killed for good',
    // Replication is asynchronous: the last writes before the death may be undone.
    data: 'lagging',
    trouble: 'must',
    seconds: [0, 0],
    begin: async ({ cluster }) => cluster.servers[0]?.kill('SIGKILL'),
    end: async () => {},
  },
]
