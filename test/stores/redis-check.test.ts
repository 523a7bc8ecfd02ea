import { Redis } from 'ioredis'
import { redisStore, type RedisStore, type RedisStoreOptions } from '../../lib/paths/redis'
import { endOf, findById } from '../support/stores/records'
import { startRedis } from '../support/redis-server'
import { uniquePrefix } from '../support/stores/redis-under-test'
import { withRedis } from '../support/with-redis'

let redis: Redis
let url: string
withRedis(
  ({ client, server }) => {
    redis = client
    url = server.url
  },
  { own: true },
)
const opened: (() => unknown)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close()
})
const storeWith = (options: RedisStoreOptions): RedisStore => {
  const store = redisStore({ prefix: uniquePrefix(), ...options })
  opened.push(() => store.close())
  return store
}
const clientWith = (settings: object): Redis => {
  const client = new Redis(url, settings)
  opened.push(() => client.disconnect())
  return client
}
const configured = async (name: string, value: string, usual: string) => {
  await redis.config('SET', name, value)
  opened.push(() => redis.config('SET', name, usual))
}
const said = async (store: RedisStore, issuer?: string) =>
  (await store.check(issuer)).map(({ code, message }) => `${code} ${message}`)

describe('check() finds', () => {
  it('nothing on a sound server, over a connection of the store and over clients of a host, and writes nothing', async () => {
    const adapter = { call: (name: string, ...words: string[]) => redis.call(name, ...words) }
    const before = await redis.dbsize()
    const sound: readonly RedisStoreOptions[] = [
      { url },
      { client: adapter },
      { client: clientWith({ maxRetriesPerRequest: 0 }) },
      { client: clientWith({ autoResendUnfulfilledCommands: false }) },
    ]
    expect(await Promise.all(sound.map((options) => said(storeWith(options))))).toEqual([[], [], [], []])
    expect(await redis.dbsize()).toBe(before)
  })

  it.each(['allkeys-lru', 'volatile-lru', 'volatile-ttl'])(
    'the eviction policy %s [store-7]',
    async (policy) => {
      await configured('maxmemory-policy', policy, 'noeviction')
      expect(await said(storeWith({ url }))).toEqual([
        `EAS_REDIS_EVICTION Redis has the eviction policy "${policy}": when its memory is full, it drops live tokens without notice. Set maxmemory-policy to noeviction.`,
      ])
      expect(await said(storeWith({ url, clock: () => 0 }))).toEqual([
        expect.stringMatching('^EAS_REDIS_EVICTION'),
        expect.stringMatching('^EAS_REDIS_CLOCK'),
      ])
    },
  )

  it('a replica [store-8]', async () => {
    await redis.replicaof('127.0.0.1', '1')
    opened.push(() => redis.replicaof('NO', 'ONE'))
    expect(await said(storeWith({ url }))).toEqual([expect.stringMatching('^EAS_REDIS_REPLICA')])
  })

  it.each([
    [6, 'EAS_REDIS_CLOCK The clock of this process is 6 s ahead of that of Redis.'],
    [3600, 'EAS_REDIS_CLOCK The clock of this process is 3600 s ahead of that of Redis.'],
    [-6, 'EAS_REDIS_CLOCK The clock of this process is 6 s behind that of Redis.'],
    [4, undefined],
    [-4, undefined],
  ])('a clock of the process that is %i s ahead [store-9]', async (seconds, expected) => {
    // It stands still between question and answer, as on a machine that is not busy.
    const at = Date.now()
    const time = () => [String(Math.floor(at / 1000)), String((at % 1000) * 1000)]
    const call = async (command: string, ...words: string[]) =>
      command === 'TIME' ? time() : redis.call(command, ...words)
    const warnings = await said(storeWith({ client: { call }, clock: () => at + seconds * 1000 }))
    expect(warnings.map((warning) => warning.slice(0, expected?.length))).toEqual(
      expected === undefined ? [] : [expected],
    )
  })

  it.each([
    ['question', -60_000, 0],
    ['answer', 0, 60_000],
  ])('nothing wrong with the clock for a slow %s', async (_slow, before, after) => {
    let ahead = before
    const call = async (command: string, ...words: string[]) => {
      const reply = await redis.call(command, ...words)
      if (command === 'TIME') ahead = after
      return reply
    }
    expect(await said(storeWith({ client: { call }, clock: () => Date.now() + ahead }))).toEqual([])
  })

  it('other issuers below its prefix, for a week, once a server or guard has noted its own', async () => {
    const prefix = uniquePrefix()
    const at = (days: number, issuer: string) =>
      said(storeWith({ url, prefix, clock: () => Date.now() + days * 86_400_000 }), issuer).then((warnings) =>
        warnings.filter((warning) => warning.startsWith('EAS_SHARED_STORE')),
      )
    const [one, other] = ['https://one.example', 'https://other.example']
    expect([await at(0, one), await at(0, one)]).toEqual([[], []])
    expect(await at(6, other)).toEqual([
      expect.stringMatching(`^EAS_SHARED_STORE The issuer ${other}.* "${prefix}" with ${one}\\.`),
    ])
    expect([await at(8, other), (await at(8, one)).length]).toEqual([[], 1])
    expect(await said(storeWith({ url }), one)).toEqual([])
  })

  it.each([
    ['as it comes', {}],
    ['that tries a command a second time', { maxRetriesPerRequest: 1 }],
    ['that tries a command for ever', { maxRetriesPerRequest: null }],
  ])('a client %s, which may send an addition twice', async (_client, settings) => {
    expect(await said(storeWith({ client: clientWith(settings) }))).toEqual([
      expect.stringMatching(/^EAS_REDIS_RESEND .*Set maxRetriesPerRequest to 0/),
    ])
  })

  it('nothing that access rules forbid to look at, or that a client answers strangely', async () => {
    await configured('maxmemory-policy', 'allkeys-lru', 'noeviction')
    await redis.call('ACL', 'SETUSER', 'blind', 'on', '>secret', '~*', '+@all', '-info', '-time', '-hset')
    // Without the ready check, which asks for INFO as well, and grumbles.
    const client = new Redis(url.replace('//', '//blind:secret@'), {
      enableReadyCheck: false,
      maxRetriesPerRequest: 0,
    })
    opened.push(() => client.disconnect())
    expect(await said(storeWith({ client, clock: () => 0 }), 'https://one.example')).toEqual([])
    for (const answer of [undefined, null, 7, [], {}, Buffer.from('role:slave')])
      expect(await said(storeWith({ client: { call: async () => answer } }), 'https://one.example')).toEqual(
        [],
      )
  })

  it.each([
    ['6.0.16', ['redis_version:6.0.16'], true],
    ['6.1.99', ['redis_version:6.1.99'], true],
    ['2.8.0', ['redis_version:2.8.0'], true],
    ['6.2.0', ['redis_version:6.2.0'], false],
    ['10.0.1', ['redis_version:10.0.1'], false],
    ['of Valkey', ['redis_version:7.2.4', 'server_name:valkey', 'valkey_version:8.0.1'], false],
    ['that is none', ['redis_version:unstable'], false],
  ])('whether the version is too old: %s', async (version, lines, isTooOld) => {
    const time = () => [String(Math.floor(Date.now() / 1000)), '0']
    const call = async (command: string) => (command === 'INFO' ? lines.join('\r\n') : time())
    const message = `EAS_REDIS_VERSION Redis is version ${version}, and the store needs 6.2 or later, or Valkey: upgrade it.`
    expect(await said(storeWith({ client: { call } }))).toEqual(isTooOld ? [message] : [])
  })

  it('no server, and rejects with what the connection says', async () => {
    const away = await startRedis({ own: true })
    await away.stop()
    const store = storeWith({ url: away.url })
    expect(await endOf(store.check())).toMatch(/ECONNREFUSED/)
    expect(await endOf(findById(store, 'an id'))).toMatch('max retries')
    expect(store.connectionFailure()).toMatch(/ECONNREFUSED/)
  })
})
