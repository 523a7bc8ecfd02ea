import { ExpiringTexts } from '../../lib/stores/expiring-texts'
import { RowsByKey } from '../../lib/stores/rows-by-key'
import { TextBlocks } from '../../lib/stores/text-blocks'
import { Chance } from '../support/races/chance'

const strange = ['', '\n', '"', 'a\nb', '__proto__', '\u{1f511}', '\ud800', 'x'.repeat(300)]
const texts: [string, ...string[]] = [
  '',
  'short',
  'line\nline\n',
  'ключ \u{1f511}',
  'b'.repeat(122),
  'b'.repeat(123),
  'b'.repeat(124),
  'é'.repeat(5000),
]

test('a map of expiring texts answers as a plain one does that forgets in time, through any history', () => {
  const chance = new Chance(20_261_121)
  let now = 1_000_000
  const map = new ExpiringTexts(Number.POSITIVE_INFINITY, () => now)
  const model = new Map<string, { text: string; expiresAt: number }>()
  const keys: [string, ...string[]] = [
    '',
    ...strange,
    ...Array.from({ length: 3000 }, (_, index) => `key-${index}`),
  ]
  for (let step = 0; step < 40_000; step++) {
    const key = chance.among(keys)
    const choice = chance.below(10)
    if (choice < 4) {
      const expiresAt = now + chance.below(2_000_000)
      const text = chance.among(texts)
      map.set(key, text, expiresAt)
      model.set(key, { text, expiresAt })
    } else if (choice < 5) {
      map.delete(key)
      model.delete(key)
    } else if (choice < 6) now += chance.below(1000) - 200
    const kept = model.get(key)
    expect(map.get(key)).toBe(kept === undefined || kept.expiresAt <= now ? undefined : kept.text)
  }
})

test('what was kept while the clock was set back leaves its place when it ends', () => {
  let now = 200_000
  const map = new ExpiringTexts(1, () => now)
  map.delete('nothing')
  now = 100_000
  map.set('a', 'text', 150_000)
  now = 300_000
  expect(map.set('b', 'text', 400_000)).toBe(true)
})

test('rows whose keys share a hash are told apart, whichever of them comes or goes first', () => {
  const chance = new Chance(20_261_122)
  const rows = new RowsByKey((key) => key.length)
  const model = new Map<string, number>()
  const keyOf = new Map<number, string>()
  for (let row = 0; row < 5000; row++) {
    const key = chance.among(['a', 'b', 'c', 'd', 'aa', 'bb', 'cc'])
    const before = model.get(key)
    expect(rows.get(key, (other) => keyOf.get(other) === key)).toBe(before)
    if (before === undefined) {
      rows.add(key, row)
      keyOf.set(row, key)
      model.set(key, row)
    } else {
      rows.remove(key, before)
      model.delete(key)
    }
  }
})

test('blocks that were freed are written again before new ones are asked for', () => {
  const blocks = new TextBlocks()
  const text = 'x'.repeat(100_000)
  const first = blocks.write(text)
  blocks.free(first)
  for (let round = 0; round < 500; round++) {
    const place = blocks.write(text)
    expect(place).toBeLessThan(8192)
    blocks.free(place)
  }
})

test('a text that is no longer kept cannot be read from a chunk that was given back', () => {
  const blocks = new TextBlocks()
  const many = Array.from({ length: 30 }, () => blocks.write('x'.repeat(100_000)))
  for (const place of many) blocks.free(place)
  expect(() => many.map((place) => blocks.read(place))).toThrow('not kept')
})
