import type { Redis } from 'ioredis'
import { redisStore, type RedisStore } from '../../lib/paths/redis'
import { registeredClients } from '../../lib/paths/registration'
import {
  activeRecord,
  approvedRecord,
  authorizationsOf,
  endOf,
  findById,
  findRecord,
  inSeconds,
  pendingRecord,
  random22,
  removeById,
  saveRecord,
  threeVersions,
  version,
} from '../support/stores/records'
import { uniquePrefix } from '../support/stores/redis-under-test'
import { waitUntil } from '../support/wait-until'
import { withRedis } from '../support/with-redis'

const id = 'i'.repeat(22)
const photos = { client_id: 'photos', client_type: 'public', scope: 'a' } as const
const forever = -0.001
const authorization = `authorization:${id}`

let redis: Redis
withRedis(({ client }) => void (redis = client), { own: true })
let prefix: string
let store: RedisStore
beforeEach(() => {
  prefix = uniquePrefix()
  store = redisStore({ client: redis, prefix })
})
const keyOf = (name: string) => `${prefix}authorization:${name}`

/** Each key below the prefix, with the seconds that it has left. */
async function keysLeft(): Promise<Readonly<Record<string, number>>> {
  const left: Record<string, number> = {}
  for (const key of (await redis.keys(`${prefix}*`)).toSorted())
    left[key.slice(prefix.length).replace(prefix, '')] = (await redis.pttl(key)) / 1000
  return left
}

// What a busy machine takes between the write and the look.
const about = (seconds: number) => (left: number) => left <= seconds + 1 && left > seconds - 20

const made = version(approvedRecord(inSeconds(600), { id }))
const terms = (seconds?: number) => ({ version: random22(), seconds })

describe('In Redis', () => {
  it.each<[string, (store: RedisStore) => Promise<unknown>, Readonly<Record<string, number>>]>([
    ['an authorization', (s) => saveRecord(s, made), { [authorization]: 600 }],
    [
      'an authorization that lives longer from now on',
      async (s) => {
        await saveRecord(s, made)
        await saveRecord(s, version(activeRecord(inSeconds(86_400), { id })), made)
      },
      { [authorization]: 86_400 },
    ],
    [
      'an authorization that lives shorter from now on',
      async (s) => {
        await saveRecord(s, made)
        await saveRecord(s, version(activeRecord(inSeconds(60), { id })), made)
      },
      { [authorization]: 60 },
    ],
    [
      'an authorization, by a process whose clock is an hour ahead',
      (s) => {
        const ahead = authorizationsOf(s, () => Date.now() + 3_600_000)
        return ahead.save(pendingRecord(inSeconds(3660), { id }), random22())
      },
      { [authorization]: 60 },
    ],
    [
      'a removed authorization, as an empty mark that refuses late creates',
      async (s) => {
        await saveRecord(s, made)
        await removeById(s, id)
        expect(await redis.get(keyOf(id))).toBe('')
      },
      { [authorization]: 124 },
    ],
    [
      'counts, and nothing of a count that was taken back',
      async (s) => {
        await s.add('count:a', 1, 60)
        await s.add('count:b', 1, 60)
        await s.add('count:b', -1, 60)
      },
      { 'count:count:a': 60 },
    ],
    ['a single use', (s) => s.write('use:a', '1', terms(120)), { 'use:a': 120 }],
    ['a record that is over when it is written, as nothing', (s) => s.write('use:a', '1', terms(0)), {}],
    [
      'records of clients without an end, in a list too, and in it alone once they are removed and marked no more',
      async (s) => {
        await s.write('client:a', '{}', terms())
        await s.write('client:b', '{}', terms(60))
        await s.write('client:c', '{}', terms())
        await s.remove('client:c')
        await redis.pexpire(`${prefix}client:c`, 0)
        expect((await redis.smembers(`${prefix}listed:client`)).toSorted()).toEqual(['a', 'c'])
      },
      { 'client:a': forever, 'client:b': 60, 'listed:client': forever },
    ],
    ['signing keys', (s) => s.write('keys:digest', '{}', terms()), { 'keys:digest': forever }],
    ['a document', (s) => s.write('document:url', '{}', terms(60)), { 'document:url': 60 }],
  ])('%s: these keys, and none besides', async (_what, act, expected) => {
    await act(store)
    const left = await keysLeft()
    expect(Object.keys(left)).toEqual(Object.keys(expected))
    for (const [key, seconds] of Object.entries(expected))
      expect([key, left[key], about(seconds)(left[key] ?? 0)]).toEqual([key, left[key], true])
  })

  it('an authorization of which nothing is alive any more is gone soon', async () => {
    expect(await saveRecord(store, version(pendingRecord(inSeconds(-60), { id })))).toBe(true)
    await waitUntil('it is gone', async () => (await redis.exists(keyOf(id))) === 0)
  })

  it.each([
    ['oauth:', undefined],
    ['eu:{shop}:{1}:', 'eu:{shop}:{1}:'],
    ['a}{b}:', 'a}{b}:'],
    ['{*', '{*'],
    ['', ''],
  ])(
    'the prefix is %s where the option says %s, and the mark of a removal is below it',
    async (own, given) => {
      const prefixed = redisStore({ client: redis, ...(given === undefined ? {} : { prefix: given }) })
      const [first] = threeVersions()
      await saveRecord(prefixed, first)
      expect(await redis.exists(`${own}authorization:${first.authorization.id}`)).toBe(1)
      expect(await findRecord(store, first)).toBeUndefined()
      await removeById(prefixed, first.authorization.id)
      expect(await redis.get(`${own}authorization:${first.authorization.id}`)).toBe('')
    },
  )
})

describe('A store on Redis', () => {
  it('creates nothing under the id of an authorization that was removed, and removes also where memory is full', async () => {
    const [first, other] = [threeVersions()[0], threeVersions()[0]]
    await saveRecord(store, first)
    await redis.config('SET', 'maxmemory', '1')
    try {
      expect(await endOf(saveRecord(store, other))).toMatch('OOM')
      await removeById(store, first.authorization.id)
    } finally {
      await redis.config('SET', 'maxmemory', '0')
    }
    expect(await findRecord(store, first)).toBeUndefined()
    for (const revision of [first.revision, random22()])
      expect(await endOf(authorizationsOf(store).save(first.authorization, revision))).toMatch(
        'The record was removed.',
      )
  })

  it('goes on where Redis forgets its scripts', async () => {
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
    ['a revision alone', revision],
    ['other JSON', `${revision}{"name":"Ada"}`],
    ['JSON that is no list', `${revision}null`],
    ['a record without its fields', `${revision}["a"]`],
    ['a state of a later version', `${revision}["s",1795000000]`],
    ['a record that was cut', `${revision}["a","Zk3-_qVb09XxYyAa","s6",`],
  ])('takes what another program wrote for no record: %s [store-5]', async (_what, text) => {
    const [{ authorization: first }] = threeVersions()
    await redis.set(keyOf(first.id), text, 'EX', 60)
    expect(await endOf(findById(store, first.id))).toMatch(/not readable by this version|JSON/)
    expect(await endOf(authorizationsOf(store).save(first, random22()))).toBe(false)
    expect(await redis.get(keyOf(first.id))).toBe(text)
  })

  it('neither reads nor overwrites a value of another type', async () => {
    const [first] = threeVersions()
    const key = keyOf(first.authorization.id)
    await redis.rpush(key, 'a list')
    expect(await endOf(findRecord(store, first))).toMatch('WRONGTYPE')
    expect(await endOf(saveRecord(store, first))).toMatch('WRONGTYPE')
    expect(await redis.lrange(key, 0, -1)).toEqual(['a list'])
  })

  it.each([
    ['no JSON', `${'x'.repeat(22)}{"client_secret_hashes":["sha256:digest`],
    ['no registration', `${'x'.repeat(22)}[1]`],
  ])('says of a client that is %s what it is not, and quotes nothing', async (_what, text) => {
    const clients = registeredClients(store)
    await redis.set(`${prefix}client:photos`, text)
    await redis.sadd(`${prefix}listed:client`, 'photos')
    const acts = [clients.find('photos'), clients.list(), clients.update('photos', () => photos)]
    const problem = 'Error: The stored text is no client that the host registered.'
    expect(await Promise.all(acts.map(endOf))).toEqual([problem, problem, problem])
  })

  it('shows another process each change of a client at once, also beyond what it remembers', async () => {
    const clients = registeredClients(store)
    const others = registeredClients(redisStore({ client: redis, prefix }))
    const ids = Array.from({ length: 1100 }, (_, n) => `client ${n}`)
    await Promise.all(ids.map((client_id) => clients.add({ ...photos, client_id })))
    for (const client_id of ids) expect((await clients.find(client_id))?.client_id).toBe(client_id)
    for (const client_id of ['client 0', 'client 1099']) {
      await others.update(client_id, (found) => ({ ...found, scope: 'b' }))
      expect((await clients.find(client_id))?.scope).toBe('b')
    }
  })
})
