import { memoryCounters } from '../../lib/stores/memory-counters'
import { countersContract } from '../../lib/testing/index'

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
