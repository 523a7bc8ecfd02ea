import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { memoryStore } from '../../lib/index'
import { redisStore, type RedisStoreOptions } from '../../lib/paths/redis'
import { storeContract } from '../../lib/paths/testing'
import { Clock } from '../support/flows/clock'
import { endOf, random22 } from '../support/stores/records'
import { redisUnderTest, uniquePrefix } from '../support/stores/redis-under-test'
import { withRedis } from '../support/with-redis'

storeContract('The contract of a store in memory:', () => {
  const clock = new Clock()
  return { store: memoryStore({ clock: clock.read }), advance: (seconds) => clock.advance(seconds) }
})

const page = readFileSync(join(__dirname, '../../docs/guides/stores.md'), 'utf8')
const rulesIn = (line: RegExp) => (line.exec(page)?.[1] ?? '').replaceAll('\\', '').split(' ')
// For the check of ioredis that a server is ready.
const rights = ['~test:*', 'resetchannels', '-@all', '+info', ...rulesIn(/^`redisStore` needs `(.+?)`/m)]
const rightsOfWait = rulesIn(/`waitForReplicas` `(.+?)`/)
const rightsOfCache = rulesIn(/`cache` `(.+?)`/)

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
  await redis.call('ACL', 'SETUSER', 'waiting', 'on', '>secret', ...rights, ...rightsOfWait)
  await redis.call('ACL', 'SETUSER', 'plain', 'on', '>secret', ...rights)
  urlOfCache = url.replace('//', '//caching:secret@')
  url = url.replace('//', '//plain:secret@')
  client = new Redis(url, { maxRetriesPerRequest: 0 })
})
afterAll(() => client.disconnect())

describe.each<[string, () => RedisStoreOptions]>([
  ['a client of the host', () => ({ client })],
  ['a connection of its own', () => ({ url })],
  ['a connection of its own and a cache', () => ({ url: urlOfCache, cache: { maximum: 10 } })],
])('With the rights that the page of stores names, a store on Redis over %s', (_way, options) => {
  storeContract('keeps the contract:', () => redisUnderTest(options(), () => [redis]))
  it('finds nothing wrong, and notes its issuer', async () => {
    const store = redisStore({ ...options(), prefix: uniquePrefix() })
    const checks = async (issuer: string) => (await store.check(issuer)).map(({ code }) => code)
    expect([await checks('https://one.example'), await checks('https://other.example')]).toEqual([
      [],
      ['EAS_SHARED_STORE'],
    ])
    await store.close()
  })
})

test('With the rights that the page of stores names for it, a store may wait for replicas', async () => {
  const waitForReplicas = { replicas: 1, within: 0.1 }
  const write = async (user: string) => {
    const store = redisStore({
      url: url.replace('plain', user),
      prefix: uniquePrefix(),
      waitForReplicas,
    })
    return endOf(store.write('client:a', '{}', { version: random22() })).finally(() => store.close())
  }
  expect(await write('waiting')).toMatch('reached 0 of 1 replicas')
  expect(await write('plain')).toMatch('NOPERM')
})
