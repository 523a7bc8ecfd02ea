import { setTimeout } from 'node:timers/promises'
import type { RedisPlan } from '../../support/redis-plan'
import { startRedisSentinel, type RedisSentinel } from '../../support/redis-sentinel'
import { sendCommand } from './single-stage'
import type { Fault, Stage } from './stage'

/** A master, its replica, and a sentinel that swaps them. */
export class SentinelStage implements Stage {
  private constructor(readonly redis: RedisSentinel) {}

  static async start(): Promise<SentinelStage> {
    return new SentinelStage(await startRedisSentinel())
  }

  get plan(): RedisPlan {
    return { sentinels: [this.redis.sentinel], masterName: this.redis.masterName }
  }

  ping(): Promise<unknown> {
    const { master, replica } = this.redis
    return Promise.allSettled([master, replica].map((server) => sendCommand(server, 'PING')))
  }

  stop(): Promise<void> {
    return this.redis.stop()
  }
}

export const sentinelFaults: readonly Fault<SentinelStage>[] = [
  {
    title: 'Sentinel fails over to a replica that lags by a second',
    data: 'lagging',
    trouble: 'must',
    seconds: [0, 0],
    begin: async ({ redis: { master, replica } }) => {
      // What comes after its link is cut never reaches a replica that cannot connect again.
      await replica.kill('SIGSTOP')
      await sendCommand(master, 'CLIENT', 'KILL', 'TYPE', 'replica')
      await setTimeout(1000)
      await master.kill('SIGKILL')
      await replica.kill('SIGCONT')
    },
    end: async () => {},
  },
]
