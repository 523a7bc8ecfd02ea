import { ClientMarks } from '../../lib/authorization/client-marks'
import { issuerDigest } from '../../lib/authorization/issuer'
import type { AuthorizationStore } from '../../lib/authorization/store'
import { memoryStore, type MemoryStore } from '../../lib/stores/memory-store'
import {
  activeRecord,
  approvedRecord,
  deniedRecord,
  pendingRecord,
  polledRecord,
  random22,
} from '../../lib/testing/example-records'
import { Clock } from '../support/flows/clock'
import { Gate } from '../support/flows/gate'

const digest = issuerDigest('https://auth.example')
const clientId = 's6BhdRkqt3'

/** Two processes on one store. The second has marks of its own. */
function processes() {
  const clock = new Clock()
  const store: MemoryStore = memoryStore({ clock: clock.read })
  const reads: string[] = []
  const gates: Gate[] = []
  const index = {
    ...verbsOf(store),
    revokedBefore: async (client: string) => {
      reads.push(client)
      const found = await store.index.revokedBefore(client)
      await gates.shift()?.pass()
      return found
    },
  }
  const marksOn = (own: MemoryStore['index']) =>
    new ClientMarks({ index: own, issuerDigest: digest, clock: clock.read, requestLifetime: 600 })
  const now = () => Math.floor(clock.read() / 1000)
  return { clock, now, store, reads, gates, here: marksOn(index), elsewhere: marksOn(verbsOf(store)) }
}

const verbsOf = ({ index }: MemoryStore): MemoryStore['index'] => ({
  add: (...given) => index.add(...given),
  list: (...given) => index.list(...given),
  remove: (...given) => index.remove(...given),
  mark: (...given) => index.mark(...given),
  revokeClient: (...given) => index.revokeClient(...given),
  revokedBefore: (...given) => index.revokedBefore(...given),
})

const isThere = async (store: AuthorizationStore, id: string) => (await store.find(id)) !== undefined

describe('A mark of a client', () => {
  it('ends records that were granted before it or in the same second, and no later ones', async () => {
    const { here, now, store } = processes()
    const granted = [-100, 0, 5, 6].map((later) => activeRecord(now() + 3600, { grantedAt: now() + later }))
    for (const record of granted) await store.save(record, random22())
    await here.revoke(clientId, 3600)
    const there = await Promise.all(granted.map(({ id }) => isThere(here.forEndpoints(store), id)))
    expect(there).toEqual([false, false, false, true])
    const known = await Promise.all(granted.map(async ({ id }) => here.known(await store.find(id))))
    expect(known.map((found) => found !== undefined)).toEqual([false, false, false, true])
  })

  it('ends what does not say when it was granted, and nothing without a mark', async () => {
    const { here, now, store } = processes()
    const records = [activeRecord(now() + 60), approvedRecord(now() + 60)]
    for (const record of records) await store.save(record, random22())
    for (const { id } of records) expect(await isThere(here.forEndpoints(store), id)).toBe(true)
    await here.revoke(clientId, 3600)
    for (const { id } of records) expect(await isThere(here.forEndpoints(store), id)).toBe(false)
  })

  it('ends requests that were open before it, and leaves denials, which give the client nothing', async () => {
    const { here, now, store, reads } = processes()
    const [early, late, denied] = [
      pendingRecord(now() + 300),
      pendingRecord(now() + 606),
      deniedRecord(now() + 300),
    ]
    for (const record of [early, late, denied]) await store.save(record, random22())
    await here.revoke(clientId, 3600)
    const before = reads.length
    expect(await isThere(here.forEndpoints(store), denied.id)).toBe(true)
    expect(reads).toHaveLength(before)
    expect(await isThere(here.forEndpoints(store), early.id)).toBe(false)
    expect(await isThere(here.forEndpoints(store), late.id)).toBe(true)
  })

  it('leaves requests where no lifetime of requests is known, as at a guard', async () => {
    const { clock, now, store } = processes()
    const guard = new ClientMarks({ index: verbsOf(store), issuerDigest: digest, clock: clock.read })
    const open = pendingRecord(now() + 4)
    await store.save(open, random22())
    await guard.revoke(clientId, 3600)
    expect(await isThere(guard.forGuards(store), open.id)).toBe(true)
  })

  it('ends what a client gets by polling once its owner has approved it, and leaves what gives nothing', async () => {
    const { here, now, store } = processes()
    const polled = (grantedAt: number | undefined, decision: 'approved' | 'denied' | undefined) =>
      polledRecord(now() + 300, { grantedAt, decision })
    const ended = [polled(now(), 'approved'), polled(undefined, 'approved')]
    const kept = [polled(now() + 6, 'approved'), polled(now(), 'denied'), polled(undefined, undefined)]
    for (const record of [...ended, ...kept]) await store.save(record, random22())
    await here.revoke(clientId, 3600)
    const there = await Promise.all(
      [...ended, ...kept].map(({ id }) => isThere(here.forEndpoints(store), id)),
    )
    expect(there).toEqual([false, false, true, true, true])
  })

  it('outlives what a process whose clock is ahead has granted at the moment of the mark', async () => {
    const { here, elsewhere, now, store, clock } = processes()
    const record = activeRecord(now() + 3605, { grantedAt: now() + 5 })
    await store.save(record, random22())
    await here.revoke(clientId, 3600)
    clock.advance(3604)
    expect(await isThere(store, record.id)).toBe(true)
    expect(await isThere(elsewhere.forEndpoints(store), record.id)).toBe(false)
  })

  it('makes a store that confirms absences confirm that of a record from before it', async () => {
    const { here, now, store } = processes()
    const record = activeRecord(now() + 60, { grantedAt: now() })
    await store.save(record, random22())
    const waiting = here.forEndpoints({
      find: (id) => store.find(id),
      save: (...given) => store.save(...given),
      remove: (id) => store.remove(id),
      confirmAbsent: async (id) => (await store.find(id)) === undefined,
    })
    expect(await waiting.confirmAbsent?.(record.id)).toBe(false)
    await here.revoke(clientId, 3600)
    expect(await waiting.confirmAbsent?.(record.id)).toBe(true)
    expect(await waiting.confirmAbsent?.(random22())).toBe(true)
  })

  it('does not make the id of a record free, so that a one-time use stays used', async () => {
    const { here, now, store } = processes()
    const record = activeRecord(now() + 60, { grantedAt: now(), usedUntil: now() + 60 })
    await store.save(record, random22())
    await here.revoke(clientId, 3600)
    expect(await here.forEndpoints(store).save({ ...record, grantedAt: now() + 10 }, random22())).toBe(false)
  })
})

describe('A mark that another process has set', () => {
  /** A token of the client, and the store of a guard that has just accepted it. */
  async function guarded() {
    const staged = processes()
    const { now, store, here } = staged
    const record = activeRecord(now() + 3600, { grantedAt: now() })
    await store.save(record, random22())
    const known = await store.find(record.id)
    const caching = here.forGuards({ ...verbs(store), getCached: () => known })
    expect(await isThere(caching, record.id)).toBe(true)
    return { ...staged, caching, id: record.id }
  }

  const verbs = (store: MemoryStore): AuthorizationStore => ({
    find: (id) => store.find(id),
    save: (...given) => store.save(...given),
    remove: (id) => store.remove(id),
  })

  it('counts at guards within a second, in the cache and in the store', async () => {
    const { caching, id, clock, elsewhere } = await guarded()
    clock.advance(0.5)
    await elsewhere.revoke(clientId, 3600)
    clock.advance(0.499)
    expect(caching.getCached?.(id)).toBeDefined()
    clock.advance(0.001)
    expect(caching.getCached?.(id)).toBeUndefined()
    expect(await caching.find(id)).toBeUndefined()
    expect(caching.getCached?.(id)).toBeUndefined()
  })

  it('counts at endpoints at once', async () => {
    const { here, store, id, elsewhere } = await guarded()
    await elsewhere.revoke(clientId, 3600)
    expect(await isThere(here.forEndpoints(store), id)).toBe(false)
  })

  it('counts at guards of a process at once, if the process has set it itself', async () => {
    const { caching, id, here } = await guarded()
    await here.revoke(clientId, 3600)
    expect(caching.getCached?.(id)).toBeUndefined()
    expect(await caching.find(id)).toBeUndefined()
  })

  it('is not taken back by a read that began before it and ends after it', async () => {
    const { caching, id, here, clock, gates } = await guarded()
    clock.advance(1)
    const gate = new Gate()
    gates.push(gate)
    const slow = caching.find(id)
    while (gate.waiting === 0) await new Promise((resolve) => setImmediate(resolve))
    await here.revoke(clientId, 3600)
    gate.open()
    expect(await slow).toBeUndefined()
    expect(caching.getCached?.(id)).toBeUndefined()
  })

  it('counts at guards a second after a slow read of its absence has begun', async () => {
    const { caching, id, elsewhere, clock, gates } = await guarded()
    clock.advance(1)
    const gate = new Gate()
    gates.push(gate)
    const slow = caching.find(id)
    while (gate.waiting === 0) await new Promise((resolve) => setImmediate(resolve))
    await elsewhere.revoke(clientId, 3600)
    clock.advance(0.9)
    gate.open()
    expect(await slow).toBeDefined()
    clock.advance(0.1)
    expect(caching.getCached?.(id)).toBeUndefined()
    expect(await caching.find(id)).toBeUndefined()
  })

  it('is read once for all requests of a second, and again by a request that comes later', async () => {
    const { caching, id, clock, reads, gates } = await guarded()
    clock.advance(1)
    const before = reads.length
    const gate = new Gate()
    gates.push(gate)
    const early = Array.from({ length: 50 }, () => caching.find(id))
    while (gate.waiting === 0) await new Promise((resolve) => setImmediate(resolve))
    clock.advance(1)
    // What the first read finds may be older than a second by now: it must not decide for a later request.
    expect(await caching.find(id)).toBeDefined()
    expect(reads).toHaveLength(before + 2)
    gate.open()
    expect((await Promise.all(early)).every((found) => found !== undefined)).toBe(true)
    expect(reads).toHaveLength(before + 2)
  })

  it('is not outlived by what a guard remembers while the store fails', async () => {
    const { caching, id, clock, gates } = await guarded()
    clock.advance(1)
    gates.push(Object.assign(new Gate(), { pass: () => Promise.reject(new Error('no connection')) }))
    await expect(caching.find(id)).rejects.toThrow('no connection')
    expect(caching.getCached?.(id)).toBeUndefined()
    expect(await caching.find(id)).toBeDefined()
  })
})

it('A process remembers 10 000 clients at most, and forgets those that it has read longest ago', async () => {
  const { here, now, store, reads } = processes()
  const named = (number: number) => `client-${number}`
  const guard = here.forGuards(store)
  const idOf = async (number: number) => {
    const record = activeRecord(now() + 60, { clientId: named(number), grantedAt: now() })
    await store.save(record, random22())
    return record.id
  }
  const first = await idOf(0)
  await guard.find(first)
  await guard.find(first)
  expect(reads).toHaveLength(1)
  for (let number = 1; number <= 10_000; number++) await guard.find(await idOf(number))
  expect(reads).toHaveLength(10_001)
  await guard.find(first)
  expect(reads).toHaveLength(10_002)
})

it('A guard does not read marks of clients that have no record here', async () => {
  const { here, store, reads } = processes()
  for (let count = 0; count < 100; count++) await here.forGuards(store).find(random22())
  expect(reads).toEqual([])
})
