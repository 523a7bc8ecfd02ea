import { ConfigurationError } from '../../lib/primitives/options-reader'
import type { StoredAuthorization } from '../../lib/authorization/store'
import { memoryClients } from '../../lib/stores/memory-clients'
import { memoryCounters } from '../../lib/stores/memory-counters'
import { memoryStore } from '../../lib/stores/memory-store'
import {
  activeRecord,
  findRecord,
  inSeconds,
  random22,
  saveRecord,
  version,
} from '../../lib/testing/example-records'
import { authorizationStoreContract, clientRegistryContract, countersContract } from '../../lib/testing/index'
import { extent } from '../support/extent'
import { runInNode } from '../support/stores/node-program'
import { waitingClients } from '../support/stores/waiting-clients'
import { clientObjectsContract } from './client-objects-contract'

function movableClock() {
  let ahead = 0
  return {
    clock: () => Date.now() + ahead,
    advance: (seconds: number) => {
      ahead += seconds * 1000
    },
  }
}

function inEnvironment(NODE_ENV: string): void {
  jest.replaceProperty(process, 'env', { ...process.env, NODE_ENV })
}

let clients = 0

/** Of a client of its own: what one client may have is another matter. */
function ending(expiresAt: number): StoredAuthorization {
  return version(activeRecord(expiresAt, { clientId: `client ${clients++}` }))
}

function lasting(): StoredAuthorization {
  return ending(inSeconds(600_000))
}

function manyOf(count: number): readonly StoredAuthorization[] {
  return Array.from({ length: count }, lasting)
}

authorizationStoreContract('memoryStore keeps the contract', async () => {
  const { clock, advance } = movableClock()
  return { store: memoryStore({ clock }), advance, close: async () => {} }
})

describe('memoryStore', () => {
  it('has a record until the millisecond in which its last credential dies, and not in that one', async () => {
    const expiresAt = inSeconds(60)
    const saved = ending(expiresAt)
    const endsAt = expiresAt * 1000
    let now = endsAt - 60_000
    const store = memoryStore({ clock: () => now })
    await saveRecord(store, saved)
    now = endsAt - 1
    expect(await findRecord(store, saved)).toEqual(saved)
    now = endsAt
    expect(await findRecord(store, saved)).toBeUndefined()
    expect(await saveRecord(store, version(saved.authorization), saved)).toBe(false)
  })
})

describe('memoryStore in production', () => {
  afterEach(() => jest.restoreAllMocks())

  it('is refused, with a sentence and both cures [store-11]', () => {
    inEnvironment('production')
    expect(() => memoryStore()).toThrow('The memory store is not for production')
    expect(() => memoryStore()).toThrow('redisStore({ url })')
    expect(() => memoryStore()).toThrow('memoryStore({ allowInProduction: true })')
  })

  it('is there for who asks for it', async () => {
    inEnvironment('production')
    const saved = version(activeRecord(inSeconds(600)))
    const store = memoryStore({ allowInProduction: true })
    await saveRecord(store, saved)
    expect(await findRecord(store, saved)).toEqual(saved)
  })

  it.each(['development', 'test', ''])('is nothing special where NODE_ENV is "%s"', (environment) => {
    inEnvironment(environment)
    expect(() => memoryStore()).not.toThrow()
  })
})

describe('memoryStore with a bound', () => {
  it('refuses the next record when it is full of live ones, and drops none of them', async () => {
    const store = memoryStore({ maximumRecords: 100 })
    const kept = manyOf(100)
    for (const record of kept) await saveRecord(store, record)
    for (const record of manyOf(200)) {
      await expect(saveRecord(store, record)).rejects.toThrow('The memory store is full.')
      expect(await findRecord(store, record)).toBeUndefined()
    }
    expect(await Promise.all(kept.map((record) => findRecord(store, record)))).toEqual(kept)
  })

  it('still changes the records that it has when it is full', async () => {
    const store = memoryStore({ maximumRecords: 1 })
    const first = lasting()
    await saveRecord(store, first)
    const second = version({
      ...first.authorization,
      ...activeRecord(inSeconds(700), { id: first.authorization.id }),
    })
    expect(await saveRecord(store, second, first)).toBe(true)
    expect(await findRecord(store, first)).toEqual(second)
  })

  it('takes one more when one was removed', async () => {
    const store = memoryStore({ maximumRecords: 1 })
    const [first, second] = [lasting(), lasting()]
    await saveRecord(store, first)
    await store.remove(first.authorization.id)
    expect(await saveRecord(store, second)).toBe(true)
  })

  it('takes new ones in the place of those that expired', async () => {
    const { clock, advance } = movableClock()
    const store = memoryStore({ maximumRecords: 3, clock })
    for (let n = 0; n < 3; n++) await saveRecord(store, ending(inSeconds(60)))
    await expect(saveRecord(store, lasting())).rejects.toThrow('full')
    advance(61)
    for (const record of manyOf(3)) expect(await saveRecord(store, record)).toBe(true)
    await expect(saveRecord(store, lasting())).rejects.toThrow('full')
  })

  // What counts towards the bound is what is held in memory, so the bound tells whether anything is left behind.
  it('lets expired records go while new ones come, and keeps the whole bound for live ones', async () => {
    const { clock, advance } = movableClock()
    const maximumRecords = extent(3000, 15_000)
    const store = memoryStore({ maximumRecords, clock })
    for (let n = 0; n < (maximumRecords * 2) / 3; n++) await saveRecord(store, ending(inSeconds(60)))
    advance(61)
    const live = manyOf(maximumRecords)
    for (const record of live) await saveRecord(store, record)
    await expect(saveRecord(store, lasting())).rejects.toThrow('full')
    expect(await Promise.all(live.map((record) => findRecord(store, record)))).toEqual(live)
  })
})

const ofOne = (id = random22()) => version(activeRecord(inSeconds(600), { clientId: 'one', id }))

describe('memoryStore and the share of one client', () => {
  it('finds its expired records, however many of others expired before them', async () => {
    const { clock, advance } = movableClock()
    const store = memoryStore({ maximumRecords: 20_000, clock })
    const full = { reason: 'client_share_full' }
    for (let n = 0; n < 5000; n++)
      await saveRecord(store, version(activeRecord(inSeconds(50), { clientId: 'first' })))
    for (let n = 0; n < 5000; n++)
      await saveRecord(store, version(activeRecord(inSeconds(60), { clientId: 'second' })))
    await expect(
      saveRecord(store, version(activeRecord(inSeconds(60), { clientId: 'second' }))),
    ).rejects.toMatchObject(full)
    advance(61)
    for (let n = 0; n < 5000; n++)
      await saveRecord(store, version(activeRecord(inSeconds(600), { clientId: 'second' })))
    await expect(
      saveRecord(store, version(activeRecord(inSeconds(600), { clientId: 'second' }))),
    ).rejects.toMatchObject(full)
  })

  it('is left by a record that is removed, and once by one that is changed', async () => {
    const store = memoryStore({ maximumRecords: 4 })
    for (let round = 0; round < 10; round++) {
      const first = ofOne()
      expect(await saveRecord(store, first)).toBe(true)
      expect(await saveRecord(store, ofOne(first.authorization.id), first)).toBe(true)
      await expect(saveRecord(store, ofOne())).rejects.toMatchObject({ reason: 'client_share_full' })
      await store.remove(first.authorization.id)
    }
  })
})

it('memoryStore keeps no process alive', () => {
  const { status, output } = runInNode(`
    const { memoryStore } = require('./lib/stores/memory-store')
    const { activeRecord, inSeconds, random22 } = require('./lib/testing/example-records')
    memoryStore().save(activeRecord(inSeconds(600)), random22()).then(console.log)
  `)
  expect({ status, output }).toEqual({ status: 0, output: 'true\n' })
})

countersContract('memoryCounters keep the contract', async () => {
  let now = 1_000_000
  return {
    counters: memoryCounters({ clock: () => now }),
    advance: (seconds) => void (now += seconds * 1000),
    close: async () => {},
  }
})

describe('memoryCounters with a bound', () => {
  it('refuse the next key when they are full of live ones, and forget none of them', async () => {
    const counters = memoryCounters({ maximumKeys: 2 })
    await counters.add('a', 1, 60)
    await counters.useOnce('b', 60)
    await expect(counters.add('c', 1, 60)).rejects.toThrow('The counters in memory are full.')
    await expect(counters.useOnce('c', 60)).rejects.toThrow('The counters in memory are full.')
    expect(await counters.add('a', 1, 60)).toMatchObject({ count: 2 })
    expect(await counters.useOnce('b', 60)).toBe(false)
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

  it('take the place of keys that have ended', async () => {
    let now = 0
    const counters = memoryCounters({ maximumKeys: 2, clock: () => now })
    await counters.add('a', 1, 60)
    await counters.add('b', 1, 60)
    now = 60_000
    expect(await counters.add('c', 1, 60)).toMatchObject({ count: 1 })
  })
})

clientRegistryContract('memoryClients keeps the contract', () => ({ clients: memoryClients() }))
clientRegistryContract('memoryClients keeps the contract behind a wait', () => ({
  clients: waitingClients(memoryClients()),
}))
clientObjectsContract('memoryClients keeps objects', memoryClients)

describe('memoryClients in production', () => {
  const before = process.env['NODE_ENV']
  beforeEach(() => {
    process.env['NODE_ENV'] = 'production'
  })
  afterEach(() => {
    process.env['NODE_ENV'] = before
  })

  it('is refused, with the cure, because a restart would forget every client', () => {
    expect(() => memoryClients()).toThrow(ConfigurationError)
    expect(() => memoryClients()).toThrow('redisStore({ url }).clients')
  })

  it('is there for who insists', async () => {
    expect(await memoryClients({ allowInProduction: true }).list()).toEqual([])
  })
})
