import { expiryOf, memoryClients, memoryCounters, memoryStore, redisStore } from '../../lib/index'
import type { AuthorizationStore } from '../../lib/index'
import { withRedis } from '../support/with-redis'
import type { Redis } from 'ioredis'
import {
  activeRecord,
  endOf,
  findRecord,
  inSeconds,
  pendingRecord,
  random22,
  saveRecord,
  version,
} from '../support/stores/records'
import { uniquePrefix } from '../support/stores/redis-under-test'

let clients = 0
/** Of a client of its own: what one client may have is another matter. */
const lasting = (seconds = 600_000) =>
  version(activeRecord(inSeconds(seconds), { clientId: `client ${clients++}` }))
const many = (count: number) => Array.from({ length: count }, () => lasting())
const saveAll = async (store: AuthorizationStore, records: readonly ReturnType<typeof lasting>[]) => {
  for (const record of records) await saveRecord(store, record)
}

describe('A memory store', () => {
  it('has a record until the millisecond in which its last credential dies, and not in that one', async () => {
    const saved = lasting(60)
    const end = inSeconds(60) * 1000
    let now = end - 60_000
    const store = memoryStore({ clock: () => now })
    await saveRecord(store, saved)
    const expiresAt = expiryOf(saved.authorization)
    now = expiresAt * 1000 - 1
    expect(await findRecord(store, saved)).toEqual(saved)
    now = expiresAt * 1000
    expect(await findRecord(store, saved)).toBeUndefined()
    expect(await saveRecord(store, version(saved.authorization), saved)).toBe(false)
  })

  it('that is full of live records refuses the next one, drops none, and still changes those that it has', async () => {
    const store = memoryStore({ maximumRecords: 100 })
    const [kept, refused] = [many(100), many(20)]
    await saveAll(store, kept)
    for (const record of refused) {
      expect(await endOf(saveRecord(store, record))).toMatch('The memory store is full.')
      expect(await findRecord(store, record)).toBeUndefined()
    }
    expect(await Promise.all(kept.map((record) => findRecord(store, record)))).toEqual(kept)
    const [first = lasting()] = kept
    const changed = version(first.authorization)
    expect(await saveRecord(store, changed, first)).toBe(true)
    expect(await findRecord(store, first)).toEqual(changed)
  })

  it.each<
    [string, (store: AuthorizationStore, first: ReturnType<typeof lasting>, pass: () => void) => unknown]
  >([
    ['was removed', (store, { authorization }) => store.remove(authorization.id)],
    ['has expired', (_store, _first, pass) => pass()],
  ])('has room again where one %s', async (_how, leave) => {
    let ahead = 0
    const store = memoryStore({ maximumRecords: 2, clock: () => Date.now() + ahead })
    const first = lasting(60)
    await saveAll(store, [first, lasting()])
    expect(await endOf(saveRecord(store, lasting()))).toMatch('full')
    await leave(store, first, () => void (ahead = 61_000))
    expect(await saveRecord(store, lasting())).toBe(true)
    expect(await endOf(saveRecord(store, lasting()))).toMatch('full')
  })

  it('has room of their own for requests that wait, so that they crowd out no tokens', async () => {
    const store = memoryStore({ maximumRecords: 8 })
    const waiting = () =>
      version(pendingRecord(inSeconds(60), { clientId: `c${clients++}`, subject: `o${clients}` }))
    for (let count = 0; count < 4; count++) expect(await saveRecord(store, waiting())).toBe(true)
    expect(await endOf(saveRecord(store, waiting()))).toMatch('full')
    await saveAll(store, many(8))
    expect(await endOf(saveRecord(store, lasting()))).toMatch('full')
  })

  it('gives one client a quarter of its room, which expired and removed records leave, and changed ones once', async () => {
    let ahead = 0
    const store = memoryStore({ maximumRecords: 8, clock: () => Date.now() + ahead })
    const ofOne = (seconds: number, id?: string) =>
      version(activeRecord(inSeconds(seconds), { clientId: 'one', ...(id === undefined ? {} : { id }) }))
    const isFull = async (seconds: number) =>
      saveRecord(store, ofOne(seconds)).then(
        () => false,
        (error: { reason: string }) => error.reason === 'client_share_full',
      )
    const first = ofOne(60)
    await saveAll(store, [first, lasting(), lasting(), lasting(50)])
    expect(await saveRecord(store, ofOne(60, first.authorization.id), first)).toBe(true)
    expect([await isFull(60), await isFull(60)]).toEqual([false, true])
    await store.remove(first.authorization.id)
    expect([await isFull(60), await isFull(60)]).toEqual([false, true])
    ahead = 61_000
    expect([await isFull(600), await isFull(600), await isFull(600)]).toEqual([false, false, true])
  })

  it('refuses consents of new owners where there is no room, and forgets all the same', async () => {
    const { consents } = memoryStore({ maximumRecords: 1 })
    const terms = { seconds: 60, age: 0 }
    expect(await consents.remember('one', 'client', 'a', terms)).toBe(true)
    expect(await endOf(consents.remember('two', 'client', 'b', terms))).toMatch(/full/)
    expect(await endOf(consents.forget('two', undefined))).toMatch(/full/)
    await consents.forget('one', undefined)
    expect(await consents.find('one', 'client')).toBeUndefined()
  })
})

describe('Counters in memory', () => {
  it('that are full of live keys refuse the next one, forget none, and have room when one has ended', async () => {
    let now = 0
    const counters = memoryCounters({ maximumKeys: 2, clock: () => now })
    await counters.add('a', 1, 60)
    await counters.useOnce('b', 90)
    expect(await endOf(counters.add('c', 1, 60))).toMatch('The counters in memory are full.')
    expect(await endOf(counters.useOnce('c', 60))).toMatch('The counters in memory are full.')
    expect(await counters.add('a', 1, 60)).toMatchObject({ count: 2 })
    expect(await counters.useOnce('b', 60)).toBe(false)
    now = 60_000
    expect(await counters.add('c', 1, 60)).toMatchObject({ count: 1 })
  })

  it('keep a quarter for what one client spends, and the rest for others and for failures', async () => {
    const counters = memoryCounters({ maximumKeys: 4 })
    const full = { reason: 'single_uses_full', retryAfter: 60 }
    expect(await counters.useOnce('a', 60, 'one')).toBe(true)
    await expect(counters.useOnce('b', 60, 'one')).rejects.toMatchObject(full)
    expect(await counters.useOnce('a', 60, 'one')).toBe(false)
    expect(await counters.useOnce('b', 60, 'other')).toBe(true)
    expect(await counters.add('c', 1, 60)).toMatchObject({ count: 1 })
  })
})

describe('Registered clients', () => {
  let redis: Redis
  withRedis(({ client }) => void (redis = client))
  it.each([
    ['in memory', () => memoryClients()],
    ['on Redis', () => redisStore({ client: redis, prefix: uniquePrefix() }).clients],
  ])('%s are frozen, the same object until they change, and keep their identifier', async (_where, open) => {
    const registry = open()
    const client_id = random22()
    const redirect_uris = ['https://photos.example/']
    await registry.add({ client_id, client_type: 'public', redirect_uris, scope: 'a' })
    const found = await registry.find(client_id)
    expect([await registry.find(client_id), await registry.update(client_id, (same) => same)]).toEqual([
      found,
      found,
    ])
    expect(await registry.find(client_id)).toBe(found)
    expect(() => Object.assign(found ?? {}, { scope: 'b' })).toThrow(TypeError)
    expect(() => Object.assign(found?.redirect_uris ?? [], ['https://thief.example/'])).toThrow(TypeError)
    await expect(
      registry.update(client_id, (current) => ({ ...current, client_id: 'another' })),
    ).rejects.toThrow(RangeError)
  })
})
