import type { Redis } from 'ioredis'
import { redisStore, type RedisStoreOptions } from '../../../lib/paths/redis'
import type { StoreUnderTest } from '../../../lib/paths/testing'
import { random22 } from './records'

/** A prefix that no other test uses, and no other program on a server that is not ours. */
export function uniquePrefix(): string {
  return `test:${random22()}:`
}

/**
 * A store for the contract, and a second one on the same keys. Time passes in the lifetimes that Redis counts down, so a
 * key without one stays for ever.
 */
export function redisUnderTest(
  options: RedisStoreOptions,
  masters: () => readonly Redis[],
): StoreUnderTest & Required<Pick<StoreUnderTest, 'advance'>> {
  const prefix = uniquePrefix()
  const [store, other] = [redisStore({ ...options, prefix }), redisStore({ ...options, prefix })]
  return {
    store,
    other,
    advance: async (seconds) => {
      for (const master of masters()) await letPass(master, prefix, seconds)
    },
    close: async () => void (await Promise.all([store.close(), other.close()])),
  }
}

/** Lets time pass on one server, in the lifetimes that Redis counts down. */
export async function letPass(master: Redis, prefix: string, seconds: number): Promise<void> {
  for (const key of await master.keys(`${prefix}*`)) {
    const left = await master.pttl(key)
    if (left >= 0) await master.pexpire(key, Math.ceil(left - seconds * 1000))
  }
}
