import { ExpiringMap } from '../../lib/primitives/expiring-map'
import { Chance } from '../support/races/chance'

test('an expiring map answers as a plain one does that forgets in time, through any history', () => {
  const chance = new Chance(20_261_121)
  let now = 1_000_000
  const map = new ExpiringMap<number>(Number.POSITIVE_INFINITY, () => now)
  const model = new Map<string, { value: number; expiresAt: number }>()
  const keys: [string, ...string[]] = ['', '__proto__', ...Array.from({ length: 300 }, (_, n) => `key-${n}`)]
  for (let value = 0; value < 10_000; value++) {
    const key = chance.among(keys)
    const choice = chance.below(10)
    if (choice < 4) {
      const expiresAt = now + chance.below(2_000_000)
      map.set(key, value, expiresAt)
      model.set(key, { value, expiresAt })
    } else if (choice < 5) {
      map.delete(key)
      model.delete(key)
    } else if (choice < 6) now += chance.below(1000) - 200
    const kept = model.get(key)
    expect(map.get(key)).toBe(kept === undefined || kept.expiresAt <= now ? undefined : kept.value)
  }
})

test('what was kept while the clock was set back leaves its place when it ends', () => {
  let now = 200_000
  const map = new ExpiringMap<string>(1, () => now)
  map.delete('nothing')
  now = 100_000
  map.set('a', 'value', 150_000)
  now = 300_000
  expect(map.set('b', 'value', 400_000)).toBe(true)
})

test('a full map refuses a new key, keeps a known one, and has room when an entry has expired', () => {
  let now = 0
  const map = new ExpiringMap<string>(2, () => now)
  expect([map.set('a', '1', 1000), map.set('b', '1', 9000), map.set('c', '1', 9000)]).toEqual([
    true,
    true,
    false,
  ])
  expect(map.set('b', '2', 9000)).toBe(true)
  now = 1000
  expect(map.set('c', '1', 9000)).toBe(true)
  expect(['a', 'b', 'c'].map((key) => map.get(key))).toEqual([undefined, '2', '1'])
})
