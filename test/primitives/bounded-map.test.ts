import { BoundedMap } from '../../lib/primitives/bounded-map'

function three(): BoundedMap<number> {
  const latest = new BoundedMap<number>(3)
  for (const [key, value] of Object.entries({ a: 1, b: 2, c: 3 })) latest.put(key, value)
  return latest
}
const kept = (latest: BoundedMap<number>) => ['a', 'b', 'c', 'd'].map((key) => latest.get(key))

describe('Latest', () => {
  it('keeps as many as it may, and lets the one go that was put there longest ago', () => {
    const latest = three()
    latest.put('d', 4)
    expect(kept(latest)).toEqual([undefined, 2, 3, 4])
    expect([latest.has('a'), latest.has('d')]).toEqual([false, true])
  })

  it('counts one that is put there again as the latest, and lets none go for it', () => {
    const latest = three()
    latest.put('a', 5)
    expect(kept(latest)).toEqual([5, 2, 3, undefined])
    latest.put('d', 4)
    expect(kept(latest)).toEqual([5, undefined, 3, 4])
  })

  it('does not take a look for a use', () => {
    const latest = three()
    latest.get('a')
    latest.put('d', 4)
    expect(latest.has('a')).toBe(false)
  })

  it('forgets one, or all', () => {
    const latest = three()
    latest.delete('b')
    expect(kept(latest)).toEqual([1, undefined, 3, undefined])
    latest.clear()
    expect(kept(latest)).toEqual([undefined, undefined, undefined, undefined])
  })
})
