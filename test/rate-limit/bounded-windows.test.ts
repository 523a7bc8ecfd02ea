import { BoundedWindows } from '../../lib/rate-limit/bounded-windows'
import { Clock } from '../support/flows/clock'

function started(maximum?: number) {
  const clock = new Clock()
  return { clock, windows: new BoundedWindows(clock.read, 60_000, maximum) }
}

describe('BoundedWindows', () => {
  it('count the hits of each key from its first hit until the window ends, and then anew', () => {
    const { clock, windows } = started()
    const resetTime = new Date(clock.read() + 60_000)
    expect(windows.get('one')).toBeUndefined()
    expect(windows.increment('one')).toEqual({ totalHits: 1, resetTime })
    clock.advance(59)
    expect(windows.increment('one')).toEqual({ totalHits: 2, resetTime })
    expect(windows.get('one')).toEqual({ totalHits: 2, resetTime })
    expect(windows.increment('other')).toMatchObject({ totalHits: 1 })
    clock.advance(1)
    expect(windows.get('one')).toBeUndefined()
    expect(windows.increment('one')).toEqual({ totalHits: 1, resetTime: new Date(clock.read() + 60_000) })
  })

  it('tell each caller the count as it was then', () => {
    const { windows } = started()
    const told = [windows.increment('one'), windows.increment('one'), windows.count('one')]
    expect(told).toMatchObject([{ totalHits: 1 }, { totalHits: 2 }, { totalHits: 3 }])
  })

  it('have no room for a new key beyond the maximum, and have room again when a window ends', () => {
    const { clock, windows } = started(2)
    windows.increment('first')
    clock.advance(30)
    windows.increment('second')
    for (let again = 0; again < 3; again++) {
      expect(windows.count('third')).toBeUndefined()
      expect(() => windows.increment('third')).toThrow('The counts of requests in memory are full.')
    }
    expect(windows.increment('first')).toMatchObject({ totalHits: 2 })
    clock.advance(30)
    expect(windows.increment('third')).toMatchObject({ totalHits: 1 })
    expect(windows.count('first')).toBeUndefined()
    expect(windows.increment('second')).toMatchObject({ totalHits: 2 })
  })

  it('have room for a hundred thousand keys', () => {
    const { windows } = started()
    for (let key = 0; key < 100_000; key++) windows.increment(String(key))
    expect(windows.count('one more')).toBeUndefined()
    expect(windows.count('0')).toMatchObject({ totalHits: 2 })
  })

  it('take hits back, and give the place of a key without hits to another', () => {
    const { windows } = started(1)
    windows.increment('one')
    windows.increment('one')
    windows.decrement('one')
    expect(windows.get('one')).toMatchObject({ totalHits: 1 })
    windows.decrement('one')
    windows.decrement('one')
    expect(windows.get('one')).toBeUndefined()
    expect(windows.increment('other')).toMatchObject({ totalHits: 1 })
  })

  it('forget a key on demand', () => {
    const { windows } = started(1)
    windows.increment('one')
    windows.resetKey('one')
    expect(windows.increment('other')).toMatchObject({ totalHits: 1 })
  })
})
