import { EqualWindows } from '../../lib/rate-limit/open-requests'
import { Clock } from '../support/flows/clock'

function windows(maximum?: number) {
  const clock = new Clock()
  return { clock, windows: new EqualWindows(clock.read, 60_000, maximum) }
}

describe('EqualWindows', () => {
  it('keeps a count until its time is over, and begins it anew then', () => {
    const { clock, windows: counts } = windows()
    expect(counts.get('one')).toBeUndefined()
    const begun = counts.begun('one')
    expect(begun).toEqual({ count: 0, endsAt: clock.read() + 60_000 })
    clock.advance(59)
    expect(counts.begun('one')).toBe(begun)
    clock.advance(1)
    expect(counts.get('one')).toBeUndefined()
    expect(counts.begun('one')).toEqual({ count: 0, endsAt: clock.read() + 60_000 })
  })

  it('has no room for one more, but for those it has, and again when they have ended', () => {
    const { clock, windows: counts } = windows(2)
    const first = counts.begun('first')
    clock.advance(30)
    counts.begun('second')
    expect(counts.begun('third')).toBeUndefined()
    expect(counts.begun('first')).toBe(first)
    clock.advance(30)
    expect(counts.begun('third')).toBeDefined()
    expect(counts.begun('first')).toBeUndefined()
  })

  it('forgets on demand', () => {
    const { windows: counts } = windows(1)
    counts.begun('one')
    counts.delete('one')
    expect(counts.begun('other')).toBeDefined()
  })
})
