import { Cluster, Redis } from 'ioredis'
import { redisStore, type StoreWarning, type RedisStore, type RedisStoreOptions } from '../../lib/index'
import { startRedisCluster, type RedisCluster } from '../support/redis-cluster'
import { startRedisSentinel } from '../support/redis-sentinel'
import { startRedis, type RedisServer } from '../support/redis-server'
import { uniquePrefix } from '../support/stores/redis-under-test'
import { waitUntil } from '../support/wait-until'

const opened: (() => unknown)[] = []
const keep = <T>(value: T, close: (value: T) => unknown): T => {
  opened.push(() => close(value))
  return value
}
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close()
})

const server = async (...extraArguments: readonly string[]): Promise<RedisServer> =>
  keep(await startRedis({ own: true, extraArguments }), (started) => started.stop())
const storeWith = (options: RedisStoreOptions): RedisStore =>
  keep(redisStore(options), (store) => store.close())
const clientOf = (redis: Redis | Cluster) => keep(redis, (client) => client.disconnect())
const sendingOnce = { maxRetriesPerRequest: 0 }
const codes = (cautions: readonly StoreWarning[]) => cautions.map(({ code }) => code)

describe('redisStore looks at', () => {
  it('a sound server and finds nothing, over its own connection and over one of another make', async () => {
    const { url } = await server()
    expect(await storeWith({ url }).check()).toEqual([])
    const client = clientOf(new Redis(url))
    const nodeRedis = { sendCommand: ([name = '', ...rest]: string[]) => client.call(name, ...rest) }
    const adapter = { call: (...words: string[]) => nodeRedis.sendCommand(words) }
    expect(await storeWith({ client: adapter }).check()).toEqual([])
    expect(await client.dbsize()).toBe(0)
  })

  it.each(['allkeys-lru', 'volatile-lru', 'volatile-ttl'])(
    'the eviction policy %s [store-7]',
    async (policy) => {
      const { url } = await server('--maxmemory-policy', policy)
      expect(await storeWith({ url }).check()).toEqual([
        {
          code: 'EAS_REDIS_EVICTION',
          message: `Redis has the eviction policy "${policy}": when its memory is full, it drops live tokens without notice. Set maxmemory-policy to noeviction.`,
        },
      ])
    },
  )

  it('a replica, and at its master behind Sentinel finds nothing [store-8]', async () => {
    const { sentinel, masterName, replica } = keep(await startRedisSentinel(), (started) => started.stop())
    expect(codes(await storeWith({ url: replica.url }).check())).toEqual(['EAS_REDIS_REPLICA'])
    const client = clientOf(new Redis({ sentinels: [sentinel], name: masterName, ...sendingOnce }))
    expect(await storeWith({ client }).check()).toEqual([])
  })

  it.each([
    [6, '6 s ahead of'],
    [3600, '3600 s ahead of'],
    [-6, '6 s behind'],
  ])('a clock that is %i s ahead [store-9]', async (seconds, sharedWarnings) => {
    const { url } = await server()
    const clock = () => Date.now() + seconds * 1000
    const [caution, ...others] = await storeWith({ url, clock }).check()
    expect([caution?.code, others]).toEqual(['EAS_REDIS_CLOCK', []])
    expect(caution?.message).toMatch(`The clock of this process is ${sharedWarnings} that of Redis.`)
  })

  it.each([4, -4])('a clock that is %i s ahead, and finds nothing', async (seconds) => {
    const { url } = await server()
    const clock = () => Date.now() + seconds * 1000
    expect(await storeWith({ url, clock }).check()).toEqual([])
  })

  it.each([
    ['question', -60_000, 0],
    ['answer', 0, 60_000],
  ])('the time of a slow %s without blaming the clock', async (_slow, before, after) => {
    const redis = clientOf(new Redis((await server()).url))
    let ahead = before
    const client = {
      call: async (command: string, ...words: string[]) => {
        const reply = await redis.call(command, ...words)
        if (command === 'TIME') ahead = after
        return reply
      },
    }
    expect(await storeWith({ client, clock: () => Date.now() + ahead }).check()).toEqual([])
  })

  it('all of it, and reports every problem', async () => {
    const { url } = await server('--maxmemory-policy', 'allkeys-lru')
    expect(codes(await storeWith({ url, clock: () => 0 }).check())).toEqual([
      'EAS_REDIS_EVICTION',
      'EAS_REDIS_CLOCK',
    ])
  })

  it('other issuers below its prefix, for a week, once a server or guard has noted its own', async () => {
    const { url } = await server()
    const prefix = 'shared:'
    const at = (days: number) => storeWith({ url, prefix, clock: () => Date.now() + days * 86_400_000 })
    const sharedWarnings = async (days: number, issuer: string) =>
      (await at(days).check(issuer)).filter(({ code }) => code === 'EAS_SHARED_STORE')
    const [one, other] = ['https://one.example', 'https://other.example']
    expect([await sharedWarnings(0, one), await sharedWarnings(0, one)]).toEqual([[], []])
    expect(await sharedWarnings(6, other)).toEqual([
      {
        code: 'EAS_SHARED_STORE',
        message: expect.stringMatching(
          /^The issuer https:\/\/other.* "shared:" with https:\/\/one\.example\./,
        ),
      },
    ])
    expect(await sharedWarnings(8, other)).toEqual([])
    expect(await sharedWarnings(8, one)).toHaveLength(1)
    expect(await storeWith({ url, prefix: 'apart:' }).check(one)).toEqual([])
  })

  it('nothing that its access rules forbid, and is content', async () => {
    const { url } = await server('--maxmemory-policy', 'allkeys-lru')
    const owner = clientOf(new Redis(url))
    await owner.call('ACL', 'SETUSER', 'limited', 'on', '>secret', '~*', '+@all', '-info', '-time', '-hset')
    // Without the ready check, which asks for INFO as well, and grumbles.
    const limited = url.replace('//', '//limited:secret@')
    const client = clientOf(new Redis(limited, { enableReadyCheck: false, ...sendingOnce }))
    expect(await storeWith({ client, clock: () => 0 }).check('https://one.example')).toEqual([])
  })

  it('nothing that its hoster has taken away, and is content', async () => {
    const { url } = await server('--maxmemory-policy', 'allkeys-lru', '--rename-command', 'INFO', '')
    expect(await storeWith({ url }).check()).toEqual([])
  })

  it.each([
    ['as it comes', {}],
    ['that tries a command a second time', { maxRetriesPerRequest: 1 }],
    ['that tries a command for ever', { maxRetriesPerRequest: null }],
  ])('a client %s, which may send an addition twice', async (_client, settings) => {
    const client = clientOf(new Redis((await server()).url, settings))
    const [caution, ...others] = await storeWith({ client }).check()
    expect([caution?.code, others]).toEqual(['EAS_REDIS_RESEND', []])
    expect(caution?.message).toMatch('Set maxRetriesPerRequest to 0')
  })

  it.each([
    ['tries no command again', sendingOnce],
    ['leaves out what was under way', { autoResendUnfulfilledCommands: false }],
  ])('a client that %s, and finds nothing', async (_client, settings) => {
    const client = clientOf(new Redis((await server()).url, settings))
    expect(await storeWith({ client }).check()).toEqual([])
  })

  it('nothing as long as Redis is away, and says so', async () => {
    const away = await startRedis({ own: true })
    await away.stop()
    const { port } = away
    const store = storeWith({ url: `redis://127.0.0.1:${port}` })
    await expect(store.check()).rejects.toBeInstanceOf(Error)
    keep(await startRedis({ own: true, port }), (back) => back.stop())
    await waitUntil('it is found', async () =>
      store.check().then(
        () => true,
        () => false,
      ),
    )
  })
})

describe('redisStore on a cluster looks at', () => {
  let cluster: RedisCluster
  beforeAll(async () => {
    cluster = await startRedisCluster()
  })
  afterAll(() => cluster.stop())

  it('a client that asks one node alone', async () => {
    for (const { url } of cluster.servers)
      expect(codes(await storeWith({ url, prefix: uniquePrefix() }).check())).toEqual(['EAS_REDIS_CLUSTER'])
  })

  it('a client that sends to another node what one has not answered', async () => {
    const client = clientOf(new Cluster(cluster.nodes))
    const [caution, ...others] = await storeWith({ client }).check()
    expect([caution?.code, others]).toEqual(['EAS_REDIS_RESEND', []])
    expect(caution?.message).toMatch('Set retryDelayOnFailover to 0')
  })

  it('a client that knows clusters, and finds nothing', async () => {
    const client = clientOf(new Cluster(cluster.nodes, { retryDelayOnFailover: 0 }))
    expect(await storeWith({ client }).check()).toEqual([])
  })
})

const now = () => [String(Math.floor(Date.now() / 1000)), '0']

const says = (...lines: readonly string[]) => ({
  call: async (command: string) => (command === 'INFO' ? `# Server\r\n${lines.join('\r\n')}\r\n` : now()),
})

describe('redisStore looks at the version', () => {
  it.each(['6.0.16', '5.0.14', '2.8.0', '6.1.99'])('%s, which is too old', async (version) => {
    expect(await storeWith({ client: says(`redis_version:${version}`) }).check()).toEqual([
      {
        code: 'EAS_REDIS_VERSION',
        message: `Redis is version ${version}, and the store needs 6.2 or later, or Valkey: upgrade it.`,
      },
    ])
  })

  it.each([
    ['6.2.0', ['redis_version:6.2.0']],
    ['7.0.15', ['redis_version:7.0.15']],
    ['10.0.1', ['redis_version:10.0.1']],
    ['of Valkey', ['redis_version:7.2.4', 'server_name:valkey', 'valkey_version:8.0.1']],
    ['that is none', ['redis_version:unstable']],
    ['that is not told', []],
  ])('%s and finds nothing', async (_version, lines) => {
    expect(await storeWith({ client: says(...lines) }).check()).toEqual([])
  })

  it('in whatever form a client answers, and guesses nothing', async () => {
    for (const answer of [undefined, null, 7, [], {}, Buffer.from('role:slave')])
      expect(await storeWith({ client: { call: async () => answer } }).check('https://one.example')).toEqual(
        [],
      )
  })
})
