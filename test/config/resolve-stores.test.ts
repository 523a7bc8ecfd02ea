import { resolveOptions } from '../../lib/config/resolve-options'
import { memoryCounters } from '../../lib/stores/memory-counters'
import { memoryStore } from '../../lib/stores/memory-store'
import { optionsWith } from '../support/rooms/registrations'
import { warningsOf } from '../support/rooms/warnings'

const bare = { find: async () => undefined, save: async () => true, remove: async () => {} }

describe('the option counters', () => {
  it('is what the host gives', () => {
    const counters = memoryCounters()
    expect(resolveOptions(optionsWith({ counters, store: memoryStore() })).counters).toBe(counters)
  })

  it('is by default what the store has', () => {
    const store = memoryStore()
    expect(resolveOptions(optionsWith({ store })).counters).toBe(store.counters)
  })

  it('is in memory beside a store that has none, on the clock of the server', async () => {
    let now = 0
    const { counters } = resolveOptions(optionsWith({ store: bare, clock: () => now }))
    expect(await counters.useOnce('once', 10)).toBe(true)
    now = 9_999
    expect(await counters.useOnce('once', 10)).toBe(false)
    now = 10_000
    expect(await counters.useOnce('once', 10)).toBe(true)
  })
})

const inProduction = (bend: string) =>
  warningsOf(`
    process.env.NODE_ENV = 'production'
    const store = { find: async () => undefined, save: async () => true, remove: async () => {} }
    const { memoryCounters } = suite
    createAuthorizationServer({ ...options, store, ${bend} })
  `).map(({ code }) => code)

const guardInProduction = (bend: string) =>
  warningsOf(`
    process.env.NODE_ENV = 'production'
    const store = { find: async () => undefined, save: async () => true, remove: async () => {} }
    const { createBearerGuard, mac } = suite
    createBearerGuard({ issuer: 'http://localhost', store, ${bend} })
  `).map(({ code }) => code)

describe('EAS_COUNTERS_IN_MEMORY', () => {
  it('is given in production for a store without counters [store-10]', () => {
    expect(inProduction('')).toEqual(['EAS_COUNTERS_IN_MEMORY'])
  })

  it('is not given to a host that says which counters it means', () => {
    expect(inProduction('counters: memoryCounters()')).toEqual([])
    expect(inProduction('store: memoryStore({ allowInProduction: true })')).toEqual([])
  })

  it('is given to a guard of its own only where its token types count', () => {
    expect(guardInProduction('')).toEqual([])
    const tokenTypes = "tokenTypes: [mac({ hosts: ['api.example.com'] })]"
    expect(guardInProduction(tokenTypes)).toEqual(['EAS_COUNTERS_IN_MEMORY'])
  })
})
