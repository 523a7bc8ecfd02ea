import { BoundedWindows } from '../../lib/limits/bounded-windows'
import { Clock } from '../support/flows/clock'

function started(maximum?: number) {
  const clock = new Clock()
  return { clock, windows: new BoundedWindows(clock.read, 60_000, maximum) }
}

describe('BoundedWindows', () => {
  it('count the hits of each key from its first hit until the window ends, and then anew', () => {
    const { clock, windows } = started()
    const endsAt = clock.read() + 60_000
    expect(windows.get('one')).toBeUndefined()
    expect(windows.count('one')).toEqual({ hits: 1, endsAt })
    clock.advance(59)
    expect(windows.count('one')).toEqual({ hits: 2, endsAt })
    expect(windows.get('one')).toEqual({ hits: 2, endsAt })
    expect(windows.count('other')).toMatchObject({ hits: 1 })
    clock.advance(1)
    expect(windows.get('one')).toBeUndefined()
    expect(windows.count('one')).toEqual({ hits: 1, endsAt: clock.read() + 60_000 })
  })

  it('return to each caller the count as it was then', () => {
    const { windows } = started()
    const counts = [windows.count('one'), windows.count('one'), windows.count('one')]
    expect(counts).toMatchObject([{ hits: 1 }, { hits: 2 }, { hits: 3 }])
  })

  it('have no room for a new key beyond the maximum, and have room again when a window ends', () => {
    const { clock, windows } = started(2)
    windows.count('first')
    clock.advance(30)
    windows.count('second')
    for (let again = 0; again < 3; again++) expect(windows.count('third')).toBeUndefined()
    expect(windows.count('first')).toMatchObject({ hits: 2 })
    clock.advance(30)
    expect(windows.count('third')).toMatchObject({ hits: 1 })
    expect(windows.count('first')).toBeUndefined()
    expect(windows.count('second')).toMatchObject({ hits: 2 })
  })

  it('have room for a hundred thousand keys', () => {
    const { windows } = started()
    for (let key = 0; key < 100_000; key++) windows.count(String(key))
    expect(windows.count('one more')).toBeUndefined()
    expect(windows.count('0')).toMatchObject({ hits: 2 })
  })

  it('take hits back, and give the place of a key without hits to another', () => {
    const { windows } = started(1)
    windows.count('one')
    windows.count('one')
    windows.decrement('one')
    expect(windows.get('one')).toMatchObject({ hits: 1 })
    windows.decrement('one')
    windows.decrement('one')
    expect(windows.get('one')).toBeUndefined()
    expect(windows.count('other')).toMatchObject({ hits: 1 })
  })

  it('forget a key on demand', () => {
    const { windows } = started(1)
    windows.count('one')
    windows.resetKey('one')
    expect(windows.count('other')).toMatchObject({ hits: 1 })
  })
})
