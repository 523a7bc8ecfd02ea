import { ConfigurationError, createAuthorizationServer, memoryStore } from '../../lib/index'
import { redisStore } from '../../lib/paths/redis'

// Methods, not function types: so the checker lets a JavaScript host's options through, whatever they are.
const javascript: { redisStore(options: unknown): unknown; createServer(options: unknown): unknown } = {
  redisStore,
  createServer: createAuthorizationServer,
}

/** Every mistake that a host is told of when it makes this. */
function mistakesOf(make: () => unknown): readonly string[] {
  try {
    make()
    return []
  } catch (error) {
    if (error instanceof ConfigurationError)
      return error.issues.map(({ path, message }) => `${path} ${message}`)
    throw error
  }
}

const url = 'redis://127.0.0.1:1'
const pipeline = () => ({ exec: async () => null })
const client = { call: async () => null, pipeline }
const one = { replicas: 1, within: 1 }
const maximum = 'must be a whole number, 1 to 100000.'
const replicas = 'waitForReplicas.replicas must be a whole number'
const within = 'waitForReplicas.within must be seconds'

test.each<[string, object, readonly string[]]>([
  ['neither url nor client', {}, ['url or client must be given, and not both.']],
  ['url and client', { url, client }, ['url or client must be given, and not both.']],
  ['a url that is none', { url: 7 }, ['url must be a text such as redis://localhost:6379.']],
  [
    'a client without call',
    { client: {} },
    ['client must have the function call, as the clients of ioredis have.'],
  ],
  ['a prefix that is no text', { client, prefix: 7 }, ['prefix must be a text such as shop:.']],
  [
    'a cache that is no object',
    { url, cache: 100 },
    ['cache must be an object.', `cache.maximum is missing: it ${maximum}`],
  ],
  ['a cache without a maximum', { url, cache: {} }, [`cache.maximum is missing: it ${maximum}`]],
  ['a cache of none', { url, cache: { maximum: 0 } }, [`cache.maximum ${maximum}`]],
  ['a cache of too many', { url, cache: { maximum: 100_001 } }, [`cache.maximum ${maximum}`]],
  ['a cache of a text', { url, cache: { maximum: '10' } }, [`cache.maximum ${maximum}`]],
  ['a cache of a part', { url, cache: { maximum: 1.5 } }, [`cache.maximum ${maximum}`]],
  [
    'a misspelt cache',
    { url, cache: { maximum: 1, maximun: 2 } },
    ['cache.maximun is not known here. Did you mean maximum? The known names are maximum.'],
  ],
  [
    'a cache over a client of the host',
    { client, cache: { maximum: 1 } },
    ['cache needs connections of the store itself: give url in place of client.'],
  ],
  [
    'a wait that is no object',
    { client, waitForReplicas: 1 },
    [
      'waitForReplicas must be an object.',
      'waitForReplicas.replicas is missing',
      'waitForReplicas.within is missing',
    ],
  ],
  [
    'a wait for nobody',
    { client, waitForReplicas: { within: 1 } },
    ['waitForReplicas.replicas is missing: it must be a whole number, at least 1.'],
  ],
  ['a wait for zero', { client, waitForReplicas: { ...one, replicas: 0 } }, [replicas]],
  ['a wait for half', { client, waitForReplicas: { ...one, replicas: 1.5 } }, [replicas]],
  ['a wait in words', { client, waitForReplicas: { ...one, replicas: '1' } }, [replicas]],
  [
    'a wait without time',
    { client, waitForReplicas: { replicas: 1 } },
    ['waitForReplicas.within is missing'],
  ],
  ['a wait of no time', { client, waitForReplicas: { ...one, within: 0 } }, [within]],
  // WAIT takes 0 for ever.
  ['a wait without end', { client, waitForReplicas: { ...one, within: Infinity } }, [within]],
  ['a wait in milliseconds', { client, waitForReplicas: { ...one, within: 100 } }, [within]],
  [
    'a wait with another field',
    { client, waitForReplicas: { ...one, quorum: 2 } },
    ['waitForReplicas.quorum is not known here'],
  ],
  [
    'a wait over a client without pipelines',
    { client: { call: client.call }, waitForReplicas: one },
    ['client must have the function pipeline for waitForReplicas'],
  ],
])('redisStore refuses %s', (_what, options, expected) => {
  const mistakes = mistakesOf(() => javascript.redisStore(options))
  expect(mistakes).toEqual(expected.map((message) => expect.stringContaining(message)))
})

const verbs = {
  read: async () => undefined,
  write: async () => true,
  remove: async () => {},
  add: async () => ({ count: 1, secondsLeft: 60 }),
  list: async () => [],
}

class Host {
  readonly read = verbs.read
  readonly write = verbs.write
  readonly remove = verbs.remove
  readonly add = verbs.add
  readonly list = verbs.list

  get peek() {
    return {}
  }
}

test.each<[string, unknown, readonly string[]]>([
  ['null', null, ['store']],
  ['a list', [], ['store']],
  ['read that is no function', { ...verbs, read: 1 }, ['store']],
  ['no remove', { ...verbs, remove: undefined }, ['store']],
  [
    'the verbs of authorizations alone',
    { find: verbs.read, save: verbs.write, remove: verbs.remove },
    ['store'],
  ],
  ['the memory store', memoryStore(), []],
  ['the Redis store', redisStore({ client }), []],
  ['five verbs', verbs, []],
  ['absent members', { ...verbs, peek: undefined, place: undefined }, []],
  [
    'all members',
    {
      ...memoryStore(),
      ...verbs,
      peek: () => undefined,
      confirmAbsent: async () => true,
      place: 'my database',
      check: async () => [],
      close: () => {},
      connectionFailure: () => undefined,
    },
    [],
  ],
  ['a wrong peek', { ...verbs, peek: new Map() }, ['store.peek']],
  ['a wrong confirmAbsent', { ...verbs, confirmAbsent: true }, ['store.confirmAbsent']],
  ['a wrong peek of a class', new Host(), ['store.peek']],
  ['members of its own', { ...verbs, clients: 7 }, []],
  ['a wrong place', { ...verbs, place: 6379 }, ['store.place']],
  ['a wrong check', { ...verbs, check: 'never' }, ['store.check']],
  ['a wrong close', { ...verbs, close: null }, ['store.close']],
  ['two mistakes', { ...verbs, close: 1, place: 7 }, ['store.close', 'store.place']],
])('a server reads each member of a store: %s', (_what, store, paths) => {
  const options = {
    issuer: 'https://auth.example',
    scopes: { 'photos:read': 'See your photos' },
    clients: [],
    resourceOwner: () => undefined,
    store,
  }
  const mistakes = mistakesOf(() => javascript.createServer(options))
  expect(
    mistakes.map((mistake) => mistake.split(' ')[0]).filter((path) => path?.startsWith('store')),
  ).toEqual(paths)
})

test('In production, a store in memory is refused with both cures, unless the host asks for it [store-11]', () => {
  const usual = process.env['NODE_ENV']
  const mistakesIn = (environment: string, options?: { allowInProduction: boolean }) => {
    process.env['NODE_ENV'] = environment
    try {
      return mistakesOf(() => memoryStore(options))
    } finally {
      process.env['NODE_ENV'] = usual
    }
  }
  const cures =
    'use storeFrom(process.env) with STORE_URL, or allow memory: memoryStore({ allowInProduction: true })'
  expect(mistakesIn('production')).toEqual([expect.stringContaining(cures)])
  expect(mistakesIn('production', { allowInProduction: true })).toEqual([])
  for (const environment of ['development', 'test', '']) expect(mistakesIn(environment)).toEqual([])
})
