import { SingleStage, sendCommand } from '../single-stage'
import type { FaultyNetwork } from '../../../support/faulty-network'
import type { RedisPlan } from '../../../support/redis-plan'
import { replicaWait, type CampaignStage } from './campaign-stage'

/** One Redis, or a master and a replica. */
export class OneServer implements CampaignStage {
  private constructor(
    readonly redis: SingleStage,
    private readonly hasReplica: boolean,
  ) {}

  static async start(hasReplica: boolean): Promise<OneServer> {
    const redis = await SingleStage.start()
    if (hasReplica) await redis.addReplica()
    return new OneServer(redis, hasReplica)
  }

  get plan(): RedisPlan {
    return { url: this.redis.server.url }
  }

  get plans(): readonly [RedisPlan, RedisPlan] {
    const wait = this.hasReplica ? { waitForReplicas: replicaWait } : {}
    const [one, other] = this.redis.networks
    return [
      { url: one.url, ...wait },
      { url: other.url, ...wait },
    ]
  }

  get ways(): readonly [readonly FaultyNetwork[], readonly FaultyNetwork[]] {
    const [one, other] = this.redis.networks
    return [[one], [other]]
  }

  async masters() {
    return [this.redis.server]
  }

  ping(): Promise<unknown> {
    return this.redis.ping()
  }

  async empty(): Promise<void> {
    await sendCommand(this.redis.server, 'FLUSHALL')
  }

  stop(): Promise<void> {
    return this.redis.stop()
  }
}
