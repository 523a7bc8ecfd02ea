import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import {
  memoryClients,
  memoryDynamicClients,
  memoryStore,
  redisStore,
  type RedisStoreOptions,
} from '../../lib/index'
import {
  authorizationIndexContract,
  authorizationStoreContract,
  clientRegistryContract,
  consentStoreContract,
  countersContract,
  dynamicClientStoreContract,
  storeContract,
} from '../../lib/testing/index'
import { Clock } from '../support/flows/clock'
import { redisContracts } from '../support/stores/contracts'
import { authorizationsOf } from '../support/stores/records'
import { countersOf } from '../support/stores/records'
import { redisUnderTest, uniquePrefix } from '../support/stores/redis-under-test'
import { withRedis } from '../support/with-redis'

describe('The contract of each store in memory:', () => {
  const opened = () => {
    const clock = new Clock()
    const store = memoryStore({ clock: clock.read })
    const { index, consents } = store
    const advance = (seconds: number) => clock.advance(seconds)
    return { store, counters: countersOf(store), index, consents, clock, advance }
  }
  storeContract('records and counts', opened)
  authorizationStoreContract('authorizations', () => {
    // The records of the kit end by the clock of the machine.
    let ahead = 0
    const clock = () => Date.now() + ahead
    const store = authorizationsOf(memoryStore({ clock }), clock)
    return { store, advance: (seconds) => void (ahead += seconds * 1000) }
  })
  authorizationIndexContract('the index', opened)
  consentStoreContract('consents', opened)
  countersContract('counters', opened)
  clientRegistryContract('clients', () => ({ clients: memoryClients() }))
  dynamicClientStoreContract('clients that register themselves', () => {
    const { clock, advance } = opened()
    return { clients: memoryDynamicClients({ clock: clock.read }), advance }
  })
})

const page = readFileSync(join(__dirname, '../../docs/stores.md'), 'utf8')
const rulesIn = (line: RegExp) => (line.exec(page)?.[1] ?? '').replaceAll('\\', '').split(' ')
// For the check of ioredis that a server is ready.
const rights = ['~test:*', 'resetchannels', '-@all', '+info', ...rulesIn(/^`redisStore` needs `(.+?)`/m)]
const rightsOfCache = rulesIn(/^\| access rules .*`(.+)`/m)

let redis: Redis
let client: Redis
let url: string
let urlOfCache: string
withRedis(
  (started) => {
    redis = started.client
    url = started.server.url
  },
  { own: true },
)
beforeAll(async () => {
  await redis.call('ACL', 'SETUSER', 'caching', 'on', '>secret', ...rights, ...rightsOfCache)
  await redis.call('ACL', 'SETUSER', 'plain', 'on', '>secret', ...rights)
  urlOfCache = url.replace('//', '//caching:secret@')
  url = url.replace('//', '//plain:secret@')
  client = new Redis(url)
})
afterAll(() => client.disconnect())

describe('The contract of each store on Redis, with the rights that the page of stores names:', () => {
  redisContracts(
    () => ({ client }),
    () => [redis],
  )
})

describe.each<[string, () => RedisStoreOptions]>([
  ['a connection of its own', () => ({ url })],
  ['a connection of its own and a cache', () => ({ url: urlOfCache, cache: { maximum: 10 } })],
])('The contract of a store on Redis, over %s:', (_way, options) => {
  storeContract('records and counts', () => redisUnderTest(options(), () => [redis]))
  it('the rights that the page of stores names suffice, so that nothing is wrong', async () => {
    const store = redisStore({ ...options(), prefix: uniquePrefix() })
    expect(await store.check()).toEqual([])
    await store.close()
  })
})
