import { memoryClients, memoryDynamicClients, redisStore } from '../../lib/index'
import { memoryCache } from '../../lib/clients/shared-cache'
import { OptionsReader } from '../../lib/primitives/options-reader'
import { memoryCounters } from '../../lib/stores/memory-counters'
import { memoryStore } from '../../lib/stores/memory-store'
import { readStorage } from '../../lib/stores/storage'
import { mistakesWith } from '../support/rooms/mistakes'

const verbs = { find: async () => undefined, save: async () => true, remove: async () => {} }
const places = (store: unknown): readonly string[] => {
  const reading = new OptionsReader({ store }, '')
  readStorage(reading)
  return reading.issues.map(({ path }) => path)
}

test.each<[string, object]>([
  ['the memory store', memoryStore()],
  ['the Redis store', redisStore({ client: { call: async () => null } })],
  ['three verbs', verbs],
  ['absent members', { ...verbs, getCached: undefined, counters: undefined, place: undefined }],
  [
    'all members',
    {
      ...verbs,
      getCached: () => undefined,
      confirmAbsent: async () => true,
      counters: memoryCounters(),
      clients: memoryClients(),
      dynamicClients: memoryDynamicClients(),
      sharedCache: memoryCache(Date.now),
      place: 'my database',
      check: async () => [],
      close: () => {},
    },
  ],
])('a store may be, or have, %s: readStorage returns the object itself', (_what, store) => {
  expect(readStorage(new OptionsReader({ store }, ''))).toBe(store)
})

test.each([undefined, null, [], {}, { ...verbs, find: 1 }, { ...verbs, remove: undefined }])(
  'a value without the three verbs is a mistake: %p',
  (store) => {
    expect(places(store)).toEqual(['store'])
  },
)

test.each([
  ['getCached', new Map()],
  ['confirmAbsent', true],
  ['counters', new Map()],
  ['clients', { find: () => {} }],
  ['dynamicClients', memoryClients()],
  ['sharedCache', { get: () => {} }],
  ['place', 6379],
  ['check', 'never'],
  ['close', null],
])('a wrong member is a mistake with its path: %s', (name, value) => {
  expect(places({ ...verbs, [name]: value })).toEqual([`store.${name}`])
})

test('a member of a class counts as a member of its object does', () => {
  class Host {
    readonly find = verbs.find
    readonly save = verbs.save
    readonly remove = verbs.remove

    get counters() {
      return {}
    }
  }
  expect(places(new Host())).toEqual(['store.counters'])
})

test('createAuthorizationServer lists mistakes in a store among those of the other options', () => {
  const mistakes = mistakesWith({ store: { ...verbs, sharedCache: {}, close: 1 }, login: '' })
  expect(mistakes.map(({ path, message }) => `${path} ${message}`)).toEqual([
    'store.sharedCache must have the functions get and set, as redisStore({ url }).sharedCache has.',
    'store.close must be a function.',
    expect.stringMatching(/^login /),
  ])
})
