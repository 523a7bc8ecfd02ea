import { memoryStore, type Store } from '../../lib/index'
import { endOf, random22 } from '../support/stores/records'

const many = (count: number, kind = 'authorization') =>
  Array.from({ length: count }, () => `${kind}:${random22()}`)
const create = (store: Store, key: string, seconds?: number) =>
  store.write(key, `"${key}"`, { version: random22(), seconds })

describe('A memory store', () => {
  it('has a record until the millisecond in which it ends, and not in that one', async () => {
    let now = 0
    const store = memoryStore({ clock: () => now })
    const first = { value: '"a"', version: random22() }
    await store.write('use:a', first.value, { version: first.version, seconds: 60 })
    now = 60_000 - 1
    expect(await store.read('use:a')).toEqual(first)
    now = 60_000
    expect(await store.read('use:a')).toBeUndefined()
    expect(await store.write('use:a', '"b"', { version: random22(), expected: first.version })).toBe(false)
  })

  it('that is full of live records refuses the next one, drops none, and still changes those that it has [store-26]', async () => {
    const store = memoryStore({ maximumRecords: 100 })
    const [kept, refused] = [many(100), many(20)]
    for (const key of kept) await create(store, key, 600)
    for (const key of refused) {
      expect(await endOf(create(store, key, 600))).toMatch('The memory store is full.')
      expect(await store.read(key)).toBeUndefined()
    }
    const found = await Promise.all(kept.map((key) => store.read(key)))
    expect(found.map((each) => each?.value)).toEqual(kept.map((key) => `"${key}"`))
    const [key = ''] = kept
    const changed = { value: '"changed"', version: random22() }
    const terms = { version: changed.version, expected: found[0]?.version }
    expect(await store.write(key, changed.value, terms)).toBe(true)
    expect(await store.read(key)).toEqual(changed)
  })

  it('has room for 100000 records of each kind by default', async () => {
    const store = memoryStore()
    const terms = { version: random22(), seconds: 60 }
    for (let at = 0; at < 100_000; at++) await store.write(`use:${at}`, '1', terms)
    expect(await endOf(create(store, 'use:more', 60))).toMatch('full')
  })

  it.each<[string, number, (store: Store, key: string) => unknown]>([
    ['was removed, once the mark has ended', 125, (store, key) => store.remove(key)],
    ['has expired', 61, () => {}],
  ])('has room again where one %s', async (_how, seconds, leave) => {
    let now = 0
    const store = memoryStore({ maximumRecords: 2, clock: () => now })
    const [first = '', second = '', third = '', fourth = ''] = many(4)
    await create(store, first, 60)
    await create(store, second)
    await leave(store, first)
    expect(await endOf(create(store, third))).toMatch('full')
    now = seconds * 1000
    expect(await create(store, third)).toBe(true)
    expect(await endOf(create(store, fourth))).toMatch('full')
  })

  it('has room of its own for each kind of records, and for counts, so that they crowd out no others', async () => {
    const store = memoryStore({ maximumRecords: 2 })
    for (const kind of ['authorization', 'use', 'document']) {
      for (const key of many(2, kind)) expect(await create(store, key, 60)).toBe(true)
      expect(await endOf(create(store, `${kind}:more`, 60))).toMatch('full')
    }
    expect(await store.add('use:more', 1, 60)).toMatchObject({ count: 1 })
  })

  it('that is full of live counts refuses the next one, forgets none, and has room when one has ended', async () => {
    let now = 0
    const store = memoryStore({ maximumRecords: 2, clock: () => now })
    await store.add('a', 1, 60)
    await store.add('b', 1, 90)
    expect(await endOf(store.add('c', 1, 60))).toMatch('The memory store is full.')
    expect(await store.add('a', 1, 60)).toMatchObject({ count: 2 })
    now = 60_000
    expect(await store.add('c', 1, 60)).toMatchObject({ count: 1 })
  })
})
