import type { Redis } from 'ioredis'
import { commit } from '../../lib/authorization/commit'
import { type ClientRegistration, memoryStore, type Store } from '../../lib/index'
import { redisStore } from '../../lib/paths/redis'
import { registeredClients } from '../../lib/paths/registration'
import type { StoredAuthorization } from '../../lib/authorization/store'
import { secureRandom } from '../../lib/protocol/credential'
import { but } from '../support/stores/but'
import {
  activeRecord,
  approvedRecord,
  authorizationsOf,
  countersOf,
  endOf,
  inSeconds,
  pendingRecord,
  random22,
  version,
} from '../support/stores/records'
import { letPass, uniquePrefix } from '../support/stores/redis-under-test'
import { withRedis } from '../support/with-redis'

let redis: Redis
withRedis(({ client }) => void (redis = client))

interface Opened {
  readonly store: Store
  /** A second process. */
  readonly other: Store
  readonly clock: () => number
  readonly advance: (seconds: number) => Promise<void>
}

function inMemory(): Opened {
  let ahead = 0
  const clock = () => Date.now() + ahead
  const store = memoryStore({ clock })
  return { store, other: store, clock, advance: async (seconds) => void (ahead += seconds * 1000) }
}

function onRedis(): Opened {
  const prefix = uniquePrefix()
  const open = () => redisStore({ client: redis, prefix })
  let ahead = 0
  const advance = (seconds: number) => {
    ahead += seconds * 1000
    return letPass(redis, prefix, seconds)
  }
  return { store: open(), other: open(), clock: () => Date.now() + ahead, advance }
}

const photos: ClientRegistration = { client_id: 'photos', client_type: 'public', scope: 'a' }
const odd = ['__proto__', 'constructor', ' ', '~', 'ü:{tag} \u0000', 'x'.repeat(256), 'é'.repeat(1000)]
const day = 24 * 3600

describe.each([
  ['memory', inMemory],
  ['Redis', onRedis],
])('In %s,', (_where, open) => {
  test('an authorization is found as it was saved, until its last credential ends', async () => {
    const { store, clock, advance } = open()
    const authorizations = authorizationsOf(store, clock)
    const [soon, later] = [inSeconds(60), inSeconds(600)]
    const refreshToken = {
      digest: 'd',
      generation: 7,
      tagKey: 'k',
      expiresAt: later,
    }
    const code = { ...approvedRecord(soon).code, expiresAt: soon }
    const { accessTokens } = activeRecord(later)
    const mortal = [pendingRecord(soon), approvedRecord(soon), activeRecord(soon)].map(version)
    const lasting = [
      pendingRecord(later, { subject: 'Zoë\u0000👩‍🚀', extensionData: { ['__proto__']: [null, 0.1, ''] } }),
      approvedRecord(soon, { code, accessTokens }),
      activeRecord(soon, { refreshToken }),
      activeRecord(soon, { usedUntil: later }),
    ].map(version)
    for (const { authorization, revision } of [...mortal, ...lasting])
      expect(await authorizations.save(authorization, revision)).toBe(true)
    const findAll = (all: typeof mortal) =>
      Promise.all(all.map(({ authorization: { id } }) => authorizations.find(id)))
    expect(await findAll([...mortal, ...lasting])).toEqual([...mortal, ...lasting])
    await advance(61)
    expect(await findAll(mortal)).toEqual(mortal.map(() => undefined))
    expect(await findAll(lasting)).toEqual(lasting)
    await advance(540)
    expect(await findAll(lasting)).toEqual(lasting.map(() => undefined))
  })

  test('no change of an authorization is lost when several processes commit at once', async () => {
    const { store, other } = open()
    const record = approvedRecord(inSeconds(600))
    await authorizationsOf(store).save(record, random22())
    const oneMore = (by: Store) =>
      commit(
        authorizationsOf(by),
        record.id,
        (current) => {
          if (current?.state !== 'approved') throw new Error('The record is not there.')
          const failures = current.code.failures + 1
          const authorization = { ...current, code: { ...current.code, failures } }
          return { action: 'save', authorization, outcome: failures }
        },
        secureRandom,
      )
    const counts = await Promise.all(Array.from({ length: 8 }, (_, at) => oneMore(at % 2 ? store : other)))
    expect(counts.toSorted((a, b) => a - b)).toEqual([3, 4, 5, 6, 7, 8, 9, 10])
  })

  test('a key is used once, in one of 50 parallel calls, and again when its time is over', async () => {
    const { store, other, advance } = open()
    const [one, two] = [countersOf(store), countersOf(other)]
    for (const key of odd) {
      const uses = Array.from({ length: 50 }, (_, at) => (at % 2 ? one : two).useOnce(key, 60))
      expect((await Promise.all(uses)).filter(Boolean)).toHaveLength(1)
      expect(await one.add(key, 1, 60)).toMatchObject({ count: 1 })
    }
    await advance(59)
    expect(await one.useOnce('__proto__', 60)).toBe(false)
    await advance(2)
    expect(await one.useOnce('__proto__', 60)).toBe(true)
  })

  test('a client has any identifier, each its own, in keys of printable ASCII', async () => {
    const { store, other } = open()
    const keys: string[] = []
    const noted = but(store, {
      read: (key) => store.read(key).finally(() => keys.push(key)),
      write: (key, ...words) => store.write(key, ...words).finally(() => keys.push(key)),
    })
    const clients = registeredClients(noted)
    const ids = ['Photos', 'photos', ...odd]
    for (const client_id of ids) {
      expect(await clients.find(client_id)).toBeUndefined()
      expect(await clients.add({ ...photos, client_id })).toBe(true)
    }
    for (const key of keys) expect(key).toMatch(/^client:[\x20-\x7e]{1,500}$/)
    for (const client_id of ids)
      expect(await registeredClients(other).find(client_id)).toEqual({ ...photos, client_id })
    for (const absent of ['', 'photo', 'photos ', ...keys.map((key) => key.slice('client:'.length))])
      expect([absent, (await clients.find(absent))?.client_id]).toEqual([
        absent,
        ids.find((id) => id === absent),
      ])
    expect((await clients.list()).map(({ client_id }) => client_id)).toEqual(ids.toSorted())
  })

  test('one of 50 parallel registrations of an identifier succeeds, and later ones overwrite nothing', async () => {
    const { store, other } = open()
    const [one, two] = [registeredClients(store), registeredClients(other)]
    const described = (at: number) => ({ ...photos, description: `rival ${at}` })
    const added = await Promise.all(
      Array.from({ length: 50 }, (_, at) => (at % 2 ? one : two).add(described(at))),
    )
    expect(added.filter(Boolean)).toHaveLength(1)
    const winner = described(added.indexOf(true))
    expect([await one.add(photos), await one.add(winner), await two.find('photos')]).toEqual([
      false,
      false,
      winner,
    ])
  })

  test('no change of a client is lost in 32 parallel ones, and another client is left alone', async () => {
    const { store, other } = open()
    const [one, two] = [registeredClients(store), registeredClients(other)]
    await one.add({ ...photos, description: '' })
    await one.add({ ...photos, client_id: 'other' })
    const change = (by: typeof one) =>
      by.update('photos', (found) => ({ ...found, description: `${found.description}x` }))
    await Promise.all(Array.from({ length: 32 }, (_, at) => change(at % 2 ? one : two)))
    expect(await one.find('photos')).toEqual({ ...photos, description: 'x'.repeat(32) })
    expect(await two.find('other')).toEqual({ ...photos, client_id: 'other' })
  })

  test('a change of a client that fails, or of a client that is not there, writes nothing', async () => {
    const { store } = open()
    const clients = registeredClients(store)
    const fails = (): never => {
      throw new Error('no')
    }
    expect(await clients.update('photos', fails)).toBeUndefined()
    await clients.add(photos)
    const before = await store.read('client:photos')
    expect(await endOf(clients.update('photos', fails))).toBe('Error: no')
    await expect(clients.update('photos', (found) => ({ ...found, client_id: 'b' }))).rejects.toThrow(
      RangeError,
    )
    expect(await clients.update('photos', (found) => found)).toEqual(photos)
    expect(await store.read('client:photos')).toEqual(before)
    expect(await clients.find('b')).toBeUndefined()
  })

  test('a deleted client keeps its identifier', async () => {
    const { store, other } = open()
    const clients = registeredClients(store)
    await clients.add({ ...photos, client_name: 'Photos' })
    const deleted = { ...photos, scope: '', disabled: true, deleted: true }
    expect(await clients.update('photos', () => deleted)).toEqual(deleted)
    expect(await registeredClients(other).add(photos)).toBe(false)
    expect([await clients.find('photos'), await clients.list()]).toEqual([deleted, [deleted]])
  })

  test('a registration is frozen, the same object until it changes, and apart from what was given', async () => {
    const clients = registeredClients(open().store)
    const redirect_uris = ['https://photos.example/']
    await clients.add({ ...photos, redirect_uris })
    redirect_uris.push('https://thief.example/')
    const found = await clients.find('photos')
    expect(found?.redirect_uris).toEqual(['https://photos.example/'])
    expect(await clients.find('photos')).toBe(found)
    expect(() => Object.assign(found ?? {}, { scope: 'b' })).toThrow(TypeError)
    expect(() => Object.assign(found?.redirect_uris ?? [], ['https://thief.example/'])).toThrow(TypeError)
    await clients.update('photos', (current) => ({ ...current, scope: 'b' }))
    expect((await clients.find('photos'))?.scope).toBe('b')
  })

  test('the last day of use of a client is the latest, in any order, beside changes, and after a deletion', async () => {
    const { store, other } = open()
    const clients = registeredClients(store)
    for (const client_id of ['photos', '__proto__', 'unused']) await clients.add({ ...photos, client_id })
    expect([...(await clients.lastUses())]).toEqual([])
    for (const client_id of ['photos', '__proto__']) await clients.find(client_id)
    for (const days of [20_000, 20_002, 20_001]) {
      await clients.noteUse('__proto__', days * day + 7)
      await clients.find('__proto__')
    }
    const others = registeredClients(other)
    await others.find('photos')
    await Promise.all([
      ...Array.from({ length: 10 }, (_, at) => others.noteUse('photos', at * day)),
      clients.update('photos', (found) => ({ ...found, scope: 'b' })),
    ])
    expect([clients.noteUse('nobody', day), clients.noteUse('__proto__', 20_002 * day)]).toEqual([
      undefined,
      undefined,
    ])
    await clients.update('photos', (found) => ({ ...found, deleted: true }))
    expect(new Set(await clients.lastUses())).toEqual(
      new Set([
        ['photos', 9 * day],
        ['__proto__', 20_002 * day],
      ]),
    )
    expect(await clients.find('photos')).toEqual({ ...photos, scope: 'b', deleted: true })
  })
})

describe('What a server sees of a store that it shares with another issuer', () => {
  const own = 'digest of issuer'

  test.each([
    ['its own record', own, ['active', 'active', false, 'missing']],
    ['a record of another issuer', 'digest of others', ['missing', 'missing', true, 'active']],
  ])('%s', async (_whose, issuerDigest, expected) => {
    const store = memoryStore()
    const record = activeRecord(inSeconds(600), { issuerDigest })
    await authorizationsOf(store).save(record, random22())
    const cached = await store.read(`authorization:${record.id}`)
    const shared = Object.assign(store, {
      peek: () => cached,
      confirmAbsent: async (key: string) => (await store.read(key)) === undefined,
    })
    const authorizations = authorizationsOf(shared, Date.now, own)
    const stateOf = (found: StoredAuthorization | undefined) => found?.authorization.state ?? 'missing'
    const found = stateOf(await authorizations.find(record.id))
    const recalled = stateOf(authorizations.getCached?.(record.id))
    const isAbsent = await authorizations.confirmAbsent?.(record.id)
    const remove = () => ({ action: 'delete', outcome: undefined }) as const
    await commit(authorizations, record.id, remove, secureRandom)
    const left = stateOf(await authorizationsOf(store).find(record.id))
    expect([found, recalled, isAbsent, left]).toEqual(expected)
  })
})
