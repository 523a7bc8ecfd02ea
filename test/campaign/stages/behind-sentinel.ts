import { startRedisSentinel, type RedisSentinel } from '../../support/redis-sentinel'
import type { RedisServer } from '../../support/redis-server'
import type { StorePlan } from '../../support/store-plan'
import { type RedisStage, sendCommand } from './stage'

/** A master, its replica, and a sentinel that swaps them, once. */
export class BehindSentinel implements RedisStage {
  readonly ways = [[], []] as const
  isSpent = false

  private constructor(private readonly redis: RedisSentinel) {}

  static async start(): Promise<BehindSentinel> {
    return new BehindSentinel(await startRedisSentinel())
  }

  plansFor(prefix: string): readonly [StorePlan, StorePlan] {
    const { sentinel, masterName } = this.redis
    const plan = { sentinels: [sentinel], masterName, prefix }
    return [plan, plan]
  }

  async masters(): Promise<readonly RedisServer[]> {
    return [this.isSpent ? this.redis.replica : this.redis.master]
  }

  async isWhole(): Promise<void> {}

  async empty(): Promise<void> {
    for (const master of await this.masters()) await sendCommand(master, 'FLUSHALL')
  }

  /** The master dies; its replica is behind, wakes, and is made master by the sentinel. */
  async failOver(): Promise<void> {
    const { master, replica } = this.redis
    this.isSpent = true
    await master.kill('SIGKILL')
    await replica.kill('SIGCONT')
  }

  /** Cuts the replica off: what comes from now on never reaches it. */
  async leaveReplicaBehind(): Promise<void> {
    const { master, replica } = this.redis
    await replica.kill('SIGSTOP')
    await sendCommand(master, 'CLIENT', 'KILL', 'TYPE', 'replica')
  }

  stop(): Promise<void> {
    return this.redis.stop()
  }
}
