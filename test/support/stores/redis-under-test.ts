import type { Redis } from 'ioredis'
import { redisStore, type RedisStoreOptions } from '../../../lib/index'
import type { AuthorizationsUnderTest, StoreUnderTest } from '../../../lib/testing/index'
import { authorizationsOf, random22 } from './records'

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

/** Its authorizations, for the contract of these. Their process has the time that passes. */
export function authorizationsUnderTest(
  options: RedisStoreOptions,
  masters: () => readonly Redis[],
): AuthorizationsUnderTest {
  const { store, ...underTest } = redisUnderTest(options, masters)
  let ahead = 0
  return {
    ...underTest,
    store: authorizationsOf(store, () => Date.now() + ahead),
    advance: async (seconds) => {
      ahead += seconds * 1000
      await underTest.advance(seconds)
    },
  }
}

/** Lets time pass on one server: in the lifetimes that Redis counts down, and in the times of its sorted sets. */
export async function letPass(master: Redis, prefix: string, seconds: number): Promise<void> {
  for (const key of await master.keys(`${prefix}*`)) {
    const left = await master.pttl(key)
    if (left >= 0) await master.pexpire(key, Math.ceil(left - seconds * 1000))
    // The number of clients of a network is no time.
    const holdsTimes = key.includes(':index:') || (left < 0 && !key.endsWith('-networks'))
    if (holdsTimes && (await master.type(key)) === 'zset') await moveTimes(master, key, seconds * 1000)
  }
}

async function moveTimes(master: Redis, key: string, milliseconds: number): Promise<void> {
  const commands = master.pipeline()
  const [...members] = await master.zrange(key, '0', '-1', 'WITHSCORES')
  for (let at = 0; at < members.length; at += 2) {
    // The times of a mark are stored as negative numbers.
    const step = Number(members[at + 1]) < 0 ? milliseconds : -milliseconds
    commands.zincrby(key, String(step), members[at] ?? '')
  }
  await commands.exec()
}
