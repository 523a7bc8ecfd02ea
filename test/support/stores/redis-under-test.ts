import type { Redis } from 'ioredis'
import type { RedisCommands } from '../../../lib/stores/redis/redis-commands'
import type { ReplicaWait } from '../../../lib/stores/redis/replicas'
import { redisStore } from '../../../lib/stores/redis/redis-store'
import { random22 } from '../../../lib/testing/example-records'
import type { StoreUnderTest } from '../../../lib/testing/index'

/** A prefix that no other test uses, and no other program on a server that is not ours. */
export function uniquePrefix(): string {
  return `test:${random22()}:`
}

/**
 * A store for the contract. Its time passes on both sides: on the store's clock, and in the lifetimes that Redis
 * counts down, so a key without one stays for ever.
 */
export function redisUnderTest(
  connection: ({ client: RedisCommands } | { url: string; cache?: { maximum: number } }) & {
    waitForReplicas?: ReplicaWait
  },
  masters: () => readonly Redis[],
): StoreUnderTest {
  const prefix = uniquePrefix()
  let ahead = 0
  const store = redisStore({ ...connection, prefix, clock: () => Date.now() + ahead })
  return {
    store,
    advance: async (seconds) => {
      ahead += seconds * 1000
      await Promise.all(masters().map((master) => shortenLifetimes(master, prefix, seconds)))
    },
    close: () => store.close(),
  }
}

async function shortenLifetimes(master: Redis, prefix: string, seconds: number): Promise<void> {
  for (const key of await master.keys(`${prefix}*`)) {
    const left = await master.pttl(key)
    if (left >= 0) await master.pexpire(key, left - seconds * 1000)
  }
}
