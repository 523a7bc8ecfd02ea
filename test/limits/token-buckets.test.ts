import { OverShare, tooManyForShare } from '../../lib/protocol/oauth-error'
import type { Limit } from '../../lib/limits/limit'
import { TokenBuckets } from '../../lib/limits/token-buckets'
import { Clock } from '../support/flows/clock'

const refusal = (seconds: number) => tooManyForShare('client_issue_limited', 'Too many.', seconds)
const bucketsOf = (limit: Limit, { read }: Clock, maximum?: number) =>
  new TokenBuckets(limit, refusal, read, maximum)

/** Whole seconds that the key is to wait; undefined when there is room. */
function waitOf(attempt: () => void): number | undefined {
  try {
    attempt()
  } catch (error) {
    if (error instanceof OverShare) return error.retryAfter
    throw error
  }
  return undefined
}

/** Takes as often as the key may, so many times at most. */
function taken(buckets: TokenBuckets, key: string, most = 1000): number {
  let count = 0
  while (count < most && waitOf(() => buckets.take(key)) === undefined) count += 1
  return count
}

describe('TokenBuckets', () => {
  it('give the whole limit at once, and then as much as has refilled', () => {
    const clock = new Clock()
    const buckets = bucketsOf({ attempts: 6, seconds: 60 }, clock)
    expect(taken(buckets, 'a')).toBe(6)
    expect(waitOf(() => buckets.requireRoom('a'))).toBe(10)
    clock.advance(9)
    expect(waitOf(() => buckets.requireRoom('a'))).toBe(1)
    clock.advance(1)
    expect(taken(buckets, 'a')).toBe(1)
    clock.advance(600)
    expect(taken(buckets, 'a')).toBe(6)
    expect(taken(buckets, 'b')).toBe(6)
  })

  it('take nothing for a question, nor for a refusal', () => {
    const clock = new Clock()
    const buckets = bucketsOf({ attempts: 1, seconds: 60 }, clock)
    for (let question = 0; question < 3; question++) buckets.requireRoom('a')
    buckets.take('a')
    for (let again = 0; again < 3; again++) expect(waitOf(() => buckets.take('a'))).toBe(60)
    clock.advance(60)
    expect(taken(buckets, 'a')).toBe(1)
  })

  it('let at most the limit and its refill through, whenever the attempts come', () => {
    const clock = new Clock()
    const buckets = bucketsOf({ attempts: 7, seconds: 60 }, clock)
    let count = 0
    for (let step = 0; step < 600; step++) {
      count += taken(buckets, 'a')
      clock.advance(0.1)
    }
    expect(count).toBeGreaterThanOrEqual(13)
    expect(count).toBeLessThanOrEqual(14)
  })

  it('forget no count for many other keys, which share one bucket once there is no room [store-30]', () => {
    const clock = new Clock()
    const buckets = bucketsOf({ attempts: 3, seconds: 60 }, clock, 2)
    expect(taken(buckets, 'a')).toBe(3)
    expect(taken(buckets, 'b', 1)).toBe(1)
    let others = 0
    for (let name = 0; name < 100; name++) others += taken(buckets, `other ${name}`)
    expect(others).toBe(3)
    expect(taken(buckets, 'a')).toBe(0)
    expect(taken(buckets, 'b')).toBe(2)
    clock.advance(60)
    for (const name of ['c', 'd']) expect(taken(buckets, name)).toBe(3)
  })

  it('have room again for new keys when old ones are full', () => {
    const clock = new Clock()
    const buckets = bucketsOf({ attempts: 1, seconds: 1 }, clock, 10)
    for (let second = 0; second < 100; second++) {
      for (let name = 0; name < 3; name++) expect(taken(buckets, `${second} ${name}`)).toBe(1)
      clock.advance(1)
    }
  })
})
