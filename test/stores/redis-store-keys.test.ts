import type { Redis } from 'ioredis'
import { encodeAuthorization } from '../../lib/authorization/codec'
import { redisStore, type RedisStore } from '../../lib/stores/redis/redis-store'
import {
  activeRecord,
  approvedRecord,
  findRecord,
  inSeconds,
  pendingRecord,
  random22,
  saveRecord,
  threeVersions,
  version,
} from '../../lib/testing/example-records'
import { everyCredential } from '../support/stores/every-credential'
import { uniquePrefix } from '../support/stores/redis-under-test'
import { waitUntil } from '../support/wait-until'
import { withRedis } from '../support/with-redis'

describe('redisStore', () => {
  let redis: Redis
  let prefix: string
  let store: RedisStore
  withRedis(({ client }) => void (redis = client), { own: true })
  beforeEach(() => {
    prefix = uniquePrefix()
    store = redisStore({ client: redis, prefix })
  })

  const keyOf = (id: string) => `${prefix}authorization:${id}`

  describe('keeps one key for each authorization', () => {
    it('under its prefix, and none besides', async () => {
      const before = await redis.keys('*')
      const records = Array.from({ length: 3 }, threeVersions)
      for (const [first, second, third] of records) {
        await saveRecord(store, first)
        await saveRecord(store, second, first)
        await saveRecord(store, third, first)
      }
      const ids = records.map(([{ authorization }]) => authorization.id)
      const added = (await redis.keys('*')).filter((key) => !before.includes(key))
      expect(added.toSorted()).toEqual(ids.map(keyOf).toSorted())
      for (const id of ids) await store.remove(id)
      expect(await redis.keys(`${prefix}authorization:*`)).toEqual([])
    })

    it('under "oauth:" where no prefix is set', async () => {
      const [first] = threeVersions()
      await saveRecord(redisStore({ client: redis }), first)
      expect(await redis.del(`oauth:authorization:${first.authorization.id}`)).toBe(1)
    })

    it('apart from those of another prefix', async () => {
      const [first] = threeVersions()
      await saveRecord(store, first)
      expect(await findRecord(redisStore({ client: redis, prefix: uniquePrefix() }), first)).toBeUndefined()
    })
  })

  describe('leaves a mark where it removes an authorization', () => {
    it('under its prefix, for about two minutes', async () => {
      const [first] = threeVersions()
      await saveRecord(store, first)
      await store.remove(first.authorization.id)
      const [mark = '', ...more] = await redis
        .keys('*')
        .then((all) => all.filter((key) => key.includes(prefix)))
      expect([mark.startsWith(prefix), more]).toEqual([true, []])
      expect(await redis.pttl(mark)).toBeLessThanOrEqual(124_000)
      expect(await redis.pttl(mark)).toBeGreaterThan(110_000)
    })

    it.each([
      ['a revision of its own', threeVersions()[0]],
      ['the revision of the create that was removed', undefined],
    ])('which refuses a create under its id: %s', async (_what, other) => {
      const [first] = threeVersions()
      const { id } = first.authorization
      await saveRecord(store, first)
      await store.remove(id)
      const create = store.save(first.authorization, other?.revision ?? first.revision)
      await expect(create).rejects.toThrow('REMOVED')
      expect(await findRecord(store, first)).toBeUndefined()
    })

    it('and removes although the memory of Redis is full', async () => {
      const [first] = threeVersions()
      await saveRecord(store, first)
      await redis.config('SET', 'maxmemory', '1')
      try {
        await expect(saveRecord(store, threeVersions()[0])).rejects.toThrow('OOM')
        await store.remove(first.authorization.id)
      } finally {
        await redis.config('SET', 'maxmemory', '0')
      }
      expect(await findRecord(store, first)).toBeUndefined()
      await expect(saveRecord(store, first)).rejects.toThrow('REMOVED')
    })
  })

  it.each(['{', '}', '{}shop:', 'a}b{', '{shop:', 'a}{'])(
    'refuses a prefix that would scatter the keys of one authorization: %s',
    (braces) => {
      expect(() => redisStore({ client: redis, prefix: braces })).toThrow(
        'prefix must be a text without braces',
      )
    },
  )

  it.each(['{shop}:', 'a}{b}:', 'eu:{shop}:{1}:'])('takes a prefix with a hash tag: %s', async (tagged) => {
    const [first] = threeVersions()
    const own = redisStore({ client: redis, prefix: tagged })
    await saveRecord(own, first)
    await own.remove(first.authorization.id)
    await expect(saveRecord(own, first)).rejects.toThrow('REMOVED')
  })

  describe('lets Redis expire a record with its last credential', () => {
    /** By how many milliseconds a key ends earlier, or later, than its record and the way of the save to Redis allow. */
    const strayOf = async (expiresAt: number, id: string, save: () => Promise<unknown>) => {
      const begun = performance.now()
      await save()
      const took = performance.now() - begun
      const late = Number(await redis.call('PEXPIRETIME', keyOf(id))) - expiresAt * 1000
      return late < 0 ? -late : Math.max(0, late - took)
    }

    it('by giving its key the time that remains, at each save anew', async () => {
      const id = random22()
      const [short, long, shorter] = [inSeconds(60), inSeconds(86_400), inSeconds(30)]
      const first = version(approvedRecord(short, { id }))
      const second = version(activeRecord(long, { id }))
      expect(await strayOf(short, id, () => saveRecord(store, first))).toBeLessThan(1000)
      expect(await strayOf(long, id, () => saveRecord(store, second, first))).toBeLessThan(1000)
      expect(
        await strayOf(shorter, id, () => saveRecord(store, version(activeRecord(shorter, { id })), second)),
      ).toBeLessThan(1000)
    })

    it('as a span of time, so that the clocks of process and Redis need not agree', async () => {
      const hour = 3600
      const ahead = redisStore({ client: redis, prefix, clock: () => Date.now() + hour * 1000 })
      const authorization = pendingRecord(inSeconds(hour + 60))
      const save = () => saveRecord(ahead, version(authorization))
      expect(await strayOf(authorization.expiresAt - hour, authorization.id, save)).toBeLessThan(1000)
    })

    it('in real time', async () => {
      const mortal = version(pendingRecord(inSeconds(2)))
      expect(await saveRecord(store, mortal)).toBe(true)
      await waitUntil('it is gone', async () => (await redis.exists(keyOf(mortal.authorization.id))) === 0)
      expect(await findRecord(store, mortal)).toBeUndefined()
    })

    it('soon, where nothing of it is alive any more', async () => {
      const dead = version(pendingRecord(inSeconds(-60)))
      expect(await saveRecord(store, dead)).toBe(true)
      await waitUntil('it is gone', async () => (await redis.exists(keyOf(dead.authorization.id))) === 0)
    })
  })

  describe('stands what else happens in Redis', () => {
    it('survives that Redis forgets its scripts', async () => {
      const [first, second, third] = threeVersions()
      await saveRecord(store, first)
      await redis.script('FLUSH')
      expect(await saveRecord(store, second, first)).toBe(true)
      await redis.script('FLUSH')
      expect(await saveRecord(store, third, first)).toBe(false)
      expect(await findRecord(store, first)).toEqual(second)
    })

    const revision = random22()
    it.each([
      ['other text', 'hello'],
      ['nothing', ''],
      ['a revision alone', revision],
      ['other JSON', `${revision}{"name":"Ada"}`],
      ['JSON that is no list', `${revision}null`],
      ['a record without its fields', `${revision}["a"]`],
      ['a state of a later version', `${revision}["s",1795000000]`],
      [
        'a record that was cut',
        `${revision}${encodeAuthorization(activeRecord(inSeconds(60))).slice(0, -1)}`,
      ],
    ])('rejects when another program wrote under the key: %s [store-5]', async (_what, value) => {
      const id = random22()
      await redis.set(keyOf(id), value, 'EX', 60)
      await expect(store.find(id)).rejects.toThrow(/not readable by this version|JSON/)
    })

    it('neither reads nor overwrites a value of another type', async () => {
      const [first] = threeVersions()
      const key = keyOf(first.authorization.id)
      await redis.rpush(key, 'a list')
      await expect(findRecord(store, first)).rejects.toThrow('WRONGTYPE')
      await expect(saveRecord(store, first)).rejects.toThrow('WRONGTYPE')
      expect(await redis.lrange(key, 0, -1)).toEqual(['a list'])
      await redis.del(key)
    })

    it('does not create over the text of another program', async () => {
      const [first] = threeVersions()
      await redis.set(keyOf(first.authorization.id), 'hello', 'EX', 60)
      expect(await saveRecord(store, first)).toBe(false)
      expect(await redis.get(keyOf(first.authorization.id))).toBe('hello')
    })
  })

  it('keeps nothing that can be presented [code-19]', async () => {
    const dumps: string[] = []
    const credentials = await everyCredential(store, async (id) => {
      dumps.push(`${await redis.get(keyOf(id))}`)
    })
    expect(credentials).toHaveLength(8)
    expect(dumps).toHaveLength(4)
    const secrets = credentials.flatMap((text) => {
      const secret = Buffer.from(text.slice(3), 'base64url').subarray(-32)
      return [text, text.slice(-40), secret.toString('base64'), secret.toString('hex')]
    })
    for (const dump of dumps) expect(secrets.filter((secret) => dump.includes(secret))).toEqual([])
  })
})
