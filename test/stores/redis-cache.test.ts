import type { Redis } from 'ioredis'
import { redisStore, type RedisStore, type RedisStoreOptions } from '../../lib/paths/redis'
import { commit } from '../../lib/authorization/commit'
import { secureRandom } from '../../lib/protocol/credential'
import { cachedRecord, forgetsOnly, isCached, recalls, savedRecord } from '../support/stores/cached-records'
import { type HoldingProxy, startHoldingProxy } from '../support/stores/holding-proxy'
import {
  activeRecord,
  approvedRecord,
  authorizationsOf,
  endOf,
  findById,
  inSeconds,
  random22,
  removeById,
  saveRecord,
  version,
} from '../support/stores/records'
import { connectionsOf } from '../support/stores/redis-statistics'
import { uniquePrefix } from '../support/stores/redis-under-test'
import { waitUntil } from '../support/wait-until'
import { withRedis } from '../support/with-redis'

const cache = { maximum: 100 }

let url: string
let port: number
let redis: Redis
withRedis(
  ({ server, client }) => {
    ;({ url, port } = server)
    redis = client
  },
  { own: true },
)
const opened: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close()
})
let prefix: string
let store: RedisStore
/** Another process, as far as Redis knows. */
let other: RedisStore
const open = (options: Partial<Extract<RedisStoreOptions, { url: string }>> = {}): RedisStore => {
  const made = redisStore({ url, prefix, ...options })
  opened.push(() => made.close())
  return made
}
const proxied = async (): Promise<HoldingProxy> => {
  const proxy = await startHoldingProxy(port)
  opened.push(() => proxy.stop())
  return proxy
}
beforeEach(() => {
  prefix = uniquePrefix()
  store = open({ cache })
  other = open()
})
const keyIn = (id: string) => `authorization:${id}`
const keyOf = (id: string) => prefix + keyIn(id)

/** Saves what the other process finds once more. */
async function resave(writer: RedisStore, id: string): Promise<void> {
  const found = await findById(other, id)
  if (found !== undefined) await saveRecord(writer, version(found.authorization), found)
}

describe('A store with a cache', () => {
  it('recalls what it has read, as it is in Redis; without the option it recalls nothing', async () => {
    const id = await cachedRecord(store)
    expect(store.peek?.(keyIn(id))).toEqual(await other.read(keyIn(id)))
    expect(other.peek?.(keyIn(id))).toBeUndefined()
  })

  it('recalls no record that is not there, and nothing but authorizations [store-25]', async () => {
    const terms = { version: random22(), seconds: 600 }
    await other.write('document:a', '"text"', terms)
    const known = await cachedRecord(store)
    await Promise.all([store.read('document:a'), findById(store, 'a'.repeat(22))])
    expect(store.peek?.('document:a')).toBeUndefined()
    expect([recalls(store, 'a'.repeat(22)), recalls(store, known)]).toEqual([false, true])
  })

  it('recalls nothing more of a record that it has missed, though the news of the change are late', async () => {
    const proxy = await proxied()
    const own = open({ url: proxy.url, cache })
    const id = await cachedRecord(own, other)
    proxy.hold('news')
    await removeById(other, id)
    expect([await findById(own, id), recalls(own, id)]).toEqual([undefined, false])
    proxy.release('news')
  })

  it('recalls so many records at most: those that were used last', async () => {
    const small = open({ cache: { maximum: 2 } })
    const ids = [await cachedRecord(small), await cachedRecord(small)]
    await isCached(small, ids[0] ?? '')
    ids.push(await cachedRecord(small))
    expect(ids.map((id) => recalls(small, id))).toEqual([true, false, true])
  })

  it.each<[string, (id: string) => Promise<unknown>]>([
    ['is removed by another process', (id) => removeById(other, id)],
    ['is saved by another process', (id) => resave(other, id)],
    ['expires in Redis', (id) => redis.pexpire(keyOf(id), 1)],
    ['is deleted by hand', (id) => redis.unlink(keyOf(id))],
    ['is written over by a transaction', (id) => redis.multi().set(keyOf(id), 'x').exec()],
  ])('forgets a record that %s, and no other', async (_change, change) => {
    const [known, id] = [await cachedRecord(store), await cachedRecord(store)]
    await change(id)
    expect(await forgetsOnly(store, id, known)).toBe(true)
  })

  it('forgets what goes when the memory of Redis is full', async () => {
    const id = await cachedRecord(store)
    await redis.config('SET', 'maxmemory-policy', 'allkeys-random', 'maxmemory', '1')
    opened.push(() => redis.config('SET', 'maxmemory-policy', 'noeviction', 'maxmemory', '0'))
    await endOf(redis.set('one more', '1'))
    await waitUntil('it is forgotten', async () => !recalls(store, id))
    expect(await findById(store, id)).toBeUndefined()
  })

  it.each(['FLUSHALL', 'FLUSHDB'])('forgets all records at %s, and goes on', async (command) => {
    const ids = [await cachedRecord(store), await cachedRecord(store)]
    await redis.call(command)
    await waitUntil('they are forgotten', async () => !ids.some((id) => recalls(store, id)))
    expect(recalls(store, await cachedRecord(store))).toBe(true)
  })

  it('has forgotten a record before its own removal or save resolves', async () => {
    const proxy = await proxied()
    const own = open({ url: proxy.url, cache })
    const [removed, saved] = [await cachedRecord(own, other), await cachedRecord(own, other)]
    proxy.hold('news')
    await removeById(own, removed)
    await resave(own, saved)
    expect([recalls(own, removed), recalls(own, saved)]).toEqual([false, false])
    proxy.release('news')
  })

  it('keeps nothing that was read before a change, if the answer comes after the news of it [revocation-13]', async () => {
    const proxy = await proxied()
    const own = open({ url: proxy.url, cache })
    const [known, mark] = [await cachedRecord(own, other), await cachedRecord(own, other)]
    const id = await savedRecord(other)
    proxy.hold('answers')
    const before = proxy.held('answers')
    const reading = findById(own, id)
    await waitUntil('Redis has answered', async () => proxy.held('answers') > before)
    await removeById(other, id)
    await removeById(other, mark)
    expect(await forgetsOnly(own, mark, known)).toBe(true)
    proxy.release('answers')
    expect(await reading).toBeDefined()
    expect([recalls(own, id), await findById(own, id)]).toEqual([false, undefined])
  })

  it('forgets what it keeps, if the news of a change comes after the answer', async () => {
    const proxy = await proxied()
    const own = open({ url: proxy.url, cache })
    const [known, id] = [await cachedRecord(own, other), await cachedRecord(own, other)]
    proxy.hold('news')
    const reading = findById(own, id)
    await findById(own, known)
    await removeById(other, id)
    await reading
    expect(recalls(own, id)).toBe(true)
    proxy.release('news')
    expect(await forgetsOnly(own, id, known)).toBe(true)
  })

  it('commits what it finds in Redis, never what it recalls, and several processes lose no change', async () => {
    const proxy = await proxied()
    const own = open({ url: proxy.url, cache })
    const { accessTokens } = activeRecord(inSeconds(600))
    const { id } = await put(approvedRecord(inSeconds(600), { accessTokens }))
    await isCached(own, id)
    proxy.hold('news')
    expect(await oneMoreFailure(other, id)).toBe(3)
    expect(await oneMoreFailure(own, id)).toBe(4)
    proxy.release('news')
    const writers = [store, other, own, store, other, own, store, other, own]
    await Promise.all(writers.map((writer) => oneMoreFailure(writer, id)))
    expect(await findById(other, id)).toMatchObject({ authorization: { code: { failures: 13 } } })
  })

  it('listens for its own prefix alone', async () => {
    const [id, mark] = [await cachedRecord(store), await cachedRecord(store)]
    const neighbour = open({ prefix: `${prefix}x` })
    const record = await findById(store, id)
    if (record !== undefined) await saveRecord(neighbour, record)
    await removeById(neighbour, id)
    await removeById(other, mark)
    expect(await forgetsOnly(store, mark, id)).toBe(true)
  })
})

/** Counts one more failure of a code, as a wrong redemption does. */
function oneMoreFailure(writer: RedisStore, id: string): Promise<number> {
  return commit(
    authorizationsOf(writer),
    id,
    (current) => {
      if (current?.state !== 'approved') throw new Error('The record is not there.')
      const failures = current.code.failures + 1
      return {
        action: 'save',
        authorization: { ...current, code: { ...current.code, failures } },
        outcome: failures,
      }
    },
    secureRandom,
  )
}

async function put<T extends Parameters<typeof version>[0]>(authorization: T): Promise<T> {
  await saveRecord(other, version(authorization))
  return authorization
}

describe('A cache that Redis does not serve', () => {
  const limited = async (...rules: readonly string[]): Promise<RedisStore> => {
    const name = `limited-${rules.join('')}`.replaceAll('|', '')
    await redis.call('ACL', 'SETUSER', name, 'on', '>secret', '~*', '&*', '+@all', ...rules)
    return open({ cache, url: url.replace('//', `//${name}:secret@`) })
  }
  it.each<[string, () => Promise<RedisStore>]>([
    ['CLIENT TRACKING is forbidden', () => limited('-client|tracking')],
    ['its channel is forbidden', () => limited('resetchannels')],
    ['writes are forbidden', () => limited('-set')],
    // As a proxy of a hoster may: here the names of keys are not those that were agreed on.
    ['nothing is announced', async () => open({ cache, url: `${url}?keyPrefix=other:` })],
  ])('is a warning, and the store works without it: %s', async (_what, started) => {
    const own = await started()
    const id = await savedRecord(_what === 'nothing is announced' ? own : other)
    const [caution, ...more] = await own.check()
    expect([caution?.code, more]).toEqual(['EAS_REDIS_TRACKING', []])
    expect(await findById(own, id)).toBeDefined()
    expect(recalls(own, id)).toBe(false)
  })

  it('finds nothing to say where Redis does it', async () => {
    expect(await open({ cache }).check()).toEqual([])
  })
})

it('close() ends each connection of a store, once and for all, and leaves a client of the host alone', async () => {
  await redisStore({ client: redis, prefix }).close()
  expect(await redis.ping()).toBe('PONG')
  await Promise.all([store.close(), other.close()])
  const isAlone = async () => (await connectionsOf(redis)) === 1
  await waitUntil('the stores of other tests are gone', isAlone)
  for (const options of [{}, { cache }]) {
    const own = open(options)
    const id = await savedRecord(own)
    if ('cache' in options) await isCached(own, id)
    expect(await connectionsOf(redis)).toBeGreaterThan(1)
    await own.close()
    expect(recalls(own, id)).toBe(false)
    await waitUntil('the connections are gone', isAlone)
    expect(await endOf(findById(own, id))).toMatch('Connection is closed.')
    await expect(own.close()).resolves.toBeUndefined()
  }
  expect(await isAlone()).toBe(true)
})
