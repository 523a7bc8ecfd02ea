import type { AuthorizationStore, StoredAuthorization } from '../../lib/authorization/store'
import { AuthorizationCache } from '../../lib/stores/redis/authorization-cache'
import { remembering } from '../../lib/stores/redis/cache'
import {
  activeRecord,
  approvedRecord,
  deniedRecord,
  pendingRecord,
  version,
} from '../../lib/testing/example-records'
import { Gate } from '../support/flows/gate'

const noon = 1_700_000_000
let now = noon * 1000
let stopwatch = 5000
let cache: AuthorizationCache
beforeEach(() => {
  now = noon * 1000
  stopwatch = 5000
  cache = new AuthorizationCache(
    3,
    () => now,
    () => stopwatch,
  )
  cache.trust(6000)
})

const idOf = ({ authorization }: StoredAuthorization) => authorization.id
const record = (expiresAt = noon + 600) => version(activeRecord(expiresAt))

/** Reads it as a store does that has it. */
function read(found: StoredAuthorization): void {
  const ticket = cache.begin(idOf(found))
  if (ticket === undefined) return
  cache.keep(ticket, found)
  cache.end(ticket)
}

const known = (...records: readonly StoredAuthorization[]) =>
  records.map((found) => cache.getCached(idOf(found)) !== undefined)

describe('a cache of authorizations', () => {
  it('gives what was read, as the same value', () => {
    const found = record()
    expect(cache.getCached(idOf(found))).toBeUndefined()
    read(found)
    expect(cache.getCached(idOf(found))).toBe(found)
  })

  it('has room for so many, and the one that was used longest ago goes', () => {
    const [first, second, third, fourth, fifth] = [record(), record(), record(), record(), record()]
    for (const found of [first, second, third]) read(found)
    expect(known(first)).toEqual([true])
    read(fourth)
    expect(known(first, second, third, fourth)).toEqual([true, false, true, true])
    read(fifth)
    expect(known(first, third, fourth, fifth)).toEqual([false, true, true, true])
  })

  it('takes no second place for what it has already, and gives the newer', () => {
    const [first, second, third] = [record(), record(), record()]
    const newer = version(first.authorization)
    for (const found of [first, second, third, newer]) read(found)
    expect(known(second, third)).toEqual([true, true])
    expect(cache.getCached(idOf(first))).toBe(newer)
  })

  it('lets a record die when it expires, by the clock of the store', () => {
    const found = record(noon + 10)
    read(found)
    now += 9999
    expect(known(found)).toEqual([true])
    now += 1
    expect(known(found)).toEqual([false])
  })

  it('keeps only records with access tokens', () => {
    const { accessTokens } = activeRecord(noon + 600)
    const [withToken, without] = [
      approvedRecord(noon + 600, { accessTokens }),
      approvedRecord(noon + 600),
    ].map(version)
    const others = [version(pendingRecord(noon + 600)), version(deniedRecord(noon + 600)), without]
    for (const found of [withToken, ...others]) if (found !== undefined) read(found)
    expect(others.flatMap((found) => (found === undefined ? [] : known(found)))).toEqual([
      false,
      false,
      false,
    ])
    expect(withToken && known(withToken)).toEqual([true])
  })

  it('gives nothing any more from the moment at which trust ends, and again when it is renewed', () => {
    const found = record()
    read(found)
    stopwatch = 5999
    expect(known(found)).toEqual([true])
    stopwatch = 6000
    expect([known(found), cache.begin('another')]).toEqual([[false], undefined])
    cache.trust(7000)
    expect(known(found)).toEqual([true])
  })

  it('is empty after distrust, and takes nothing from reads that began before', () => {
    const [found, late] = [record(), record()]
    read(found)
    const ticket = cache.begin(idOf(late))
    cache.distrust()
    cache.trust(7000)
    if (ticket !== undefined) cache.keep(ticket, late)
    expect(ticket).toBeDefined()
    expect(known(found, late)).toEqual([false, false])
  })

  it('is empty after everything may have changed, and goes on', () => {
    const [found, late] = [record(), record()]
    read(found)
    const ticket = cache.begin(idOf(late))
    cache.clear()
    if (ticket !== undefined) cache.keep(ticket, late)
    expect(known(found, late)).toEqual([false, false])
    read(found)
    expect(known(found)).toEqual([true])
  })

  it.each([
    ['that objects know', '__proto__'],
    ['that is empty', ''],
    ['that is huge', 'x'.repeat(100_000)],
  ])('takes an id %s for what it is', (_kind, id) => {
    expect(cache.getCached(id)).toBeUndefined()
    const found = version(activeRecord(noon + 600, { id }))
    read(found)
    expect(cache.getCached(id)).toBe(found)
    cache.drop(id)
    expect(cache.getCached(id)).toBeUndefined()
  })

  it('reports once that it was wanted', () => {
    cache.wasWanted()
    expect(cache.wasWanted()).toBe(false)
    cache.getCached('an id')
    expect([cache.wasWanted(), cache.wasWanted()]).toEqual([true, false])
  })
})

/** A store with one record, each call of which has read or written at once, and answers when the test lets it. */
function waiting(stored: StoredAuthorization) {
  let current: StoredAuthorization | undefined = stored
  const gates = { find: [] as Gate[], save: new Gate(), remove: new Gate() }
  const store: AuthorizationStore = {
    find: async () => {
      const found = current
      const gate = new Gate()
      gates.find.push(gate)
      await gate.pass()
      return found
    },
    save: async (authorization, revision) => {
      current = { authorization, revision }
      await gates.save.pass()
      return true
    },
    remove: async () => {
      current = undefined
      await gates.remove.pass()
      throw new Error('The reply was lost.')
    },
  }
  return { gates, store: remembering(store, cache) }
}

describe('a store with a cache, while a read of it is under way', () => {
  const found = record()
  const id = idOf(found)

  it('does not keep what was read before an announced change', async () => {
    const { store, gates } = waiting(found)
    const reading = store.find(id)
    cache.drop(id)
    gates.find[0]?.open()
    expect(await reading).toBe(found)
    expect(store.getCached(id)).toBeUndefined()
  })

  it('does not keep it either when another read began after the change', async () => {
    const { store, gates } = waiting(found)
    const before = store.find(id)
    cache.drop(id)
    const newer = version(found.authorization)
    void store.save(newer.authorization, newer.revision)
    const after = store.find(id)
    gates.find[1]?.open()
    expect(await after).toEqual(newer)
    gates.find[0]?.open()
    expect(await before).toBe(found)
    expect(store.getCached(id)).toEqual(newer)
  })

  it('keeps the first of many reads, however they overlap', async () => {
    const { store, gates } = waiting(found)
    const first = store.find(id)
    const others = [store.find(id), store.find(id)]
    gates.find[0]?.open()
    await first
    expect(store.getCached(id)).toBe(found)
    for (const gate of gates.find) gate.open()
    await Promise.all(others)
  })

  it('has forgotten the record before its own save resolves', async () => {
    const { store, gates } = waiting(found)
    read(found)
    const reading = store.find(id)
    const saving = store.save(found.authorization, 'newer')
    gates.find[0]?.open()
    await reading
    gates.save.open()
    await saving
    expect(store.getCached(id)).toBeUndefined()
  })

  it('has dropped it before its own removal settles, even if the result is unknown', async () => {
    const { store, gates } = waiting(found)
    read(found)
    const reading = store.find(id)
    const removing = store.remove(id)
    gates.remove.open()
    await expect(removing).rejects.toThrow('lost')
    expect(store.getCached(id)).toBeUndefined()
    gates.find[0]?.open()
    await reading
    expect(store.getCached(id)).toBeUndefined()
  })

  it('keeps nothing of a read that failed, and the next one is kept', async () => {
    let fails = true
    const store = remembering(
      {
        find: async () => {
          if (fails) throw new Error('connection refused')
          return found
        },
        save: async () => true,
        remove: async () => {},
      },
      cache,
    )
    await expect(store.find(id)).rejects.toThrow('refused')
    expect(store.getCached(id)).toBeUndefined()
    fails = false
    await store.find(id)
    expect(store.getCached(id)).toBe(found)
  })

  it('keeps nothing of a record that is not there [store-25]', async () => {
    const absent = { find: async () => undefined, save: async () => true, remove: async () => {} }
    const store = remembering(absent, cache)
    for (let guess = 0; guess < 100; guess++) await store.find(`guess ${guess}`)
    read(found)
    read(record())
    read(record())
    expect(store.getCached(id)).toBe(found)
  })
})
