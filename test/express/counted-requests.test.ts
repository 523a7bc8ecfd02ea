import { CountedRequests } from '../../lib/express/counted-requests'
import { Clock } from '../support/flows/clock'

function counts(windowMs = 60_000) {
  const clock = new Clock()
  const counted = new CountedRequests(clock.read)
  counted.init(Object.assign({ windowMs }))
  return { clock, counted }
}

describe('CountedRequests', () => {
  it('counts each key for itself, until its time is over', async () => {
    const { clock, counted } = counts()
    expect((await counted.increment('one')).totalHits).toBe(1)
    clock.advance(30)
    expect(await counted.increment('one')).toEqual({
      totalHits: 2,
      resetTime: new Date(clock.read() + 30_000),
    })
    expect((await counted.increment('other')).totalHits).toBe(1)
    clock.advance(30)
    expect((await counted.increment('one')).totalHits).toBe(1)
    expect((await counted.increment('other')).totalHits).toBe(2)
  })

  it('takes back what was counted, never below nothing, and forgets on demand', async () => {
    const { counted } = counts()
    await counted.increment('one')
    await counted.decrement('one')
    await counted.decrement('one')
    await counted.decrement('nobody')
    expect((await counted.increment('one')).totalHits).toBe(1)
    await counted.resetKey('one')
    expect((await counted.increment('one')).totalHits).toBe(1)
  })

  it('has room for a hundred thousand, refuses one more, and has room again when they have ended', async () => {
    const { clock, counted } = counts()
    for (let key = 0; key < 100_000; key++) await counted.increment(`${key}`)
    await expect(counted.increment('one more')).rejects.toThrow('full')
    expect((await counted.increment('7')).totalHits).toBe(2)
    clock.advance(60)
    expect((await counted.increment('one more')).totalHits).toBe(1)
  })
})
