import { CommandReader } from '../../support/command-reader'
import { type Between, type RedisProxy, startRedisProxy } from '../../support/stores/redis-proxy'

/** A way to Redis on which a process dies between two steps of its work on signing keys. */
export interface KillingProxy extends RedisProxy {
  /**
   * Kills at a step, counted from now: each command on the keys is two steps. At the first one, the command has not
   * reached Redis, and at the second one, its reply has not reached the process.
   */
  killAt(step: number, kill: () => void): void
}

export async function startKillingProxy(port: number): Promise<KillingProxy> {
  let left = Infinity
  let kill = () => {}
  const between = (): Between => {
    const reader = new CommandReader()
    let isKilled = false
    let isDoomed = false
    const die = () => {
      isKilled = true
      kill()
    }
    return {
      holds(words) {
        for (const command of reader.commandsIn(words)) {
          if (!command.some((word) => word.includes(':keys:'))) continue
          if (left === 1) die()
          if (left === 2) isDoomed = true
          left = left > 2 ? left - 2 : Infinity
        }
        return isKilled
      },
      replied(pass) {
        if (isDoomed && !isKilled) die()
        if (!isKilled) pass()
      },
    }
  }
  return {
    ...(await startRedisProxy(port, between)),
    killAt(step, act) {
      left = step
      kill = act
    },
  }
}
