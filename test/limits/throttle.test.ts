import { temporarilyUnavailable, tooManyAttempts } from '../../lib/protocol/host-errors'
import { Throttled, tooManyAtOnce } from '../../lib/protocol/oauth-error'
import { type FailureThrottle, throttled } from '../../lib/limits/throttle'
import type { Counters } from '../../lib/limits/counters'
import { memoryCounters } from '../../lib/stores/memory-counters'
import { refusalOf } from '../support/rooms/refused'

describe('attempt', () => {
  let now = 0
  let counters: Counters
  beforeEach(() => {
    now = 1_800_000_000_000
    counters = memoryCounters({ clock: () => now })
  })

  const limit = (key: string, attempts: number, seconds = 60): FailureThrottle => ({
    key,
    attempts,
    seconds,
    refusal: (left) => tooManyAttempts(`${key}_limited`, 'Later.', left),
  })
  const fails = async () => undefined
  const succeeds = async () => 'alice'
  const slow = async () => new Promise<string>((resolve) => setImmediate(resolve, 'alice'))
  const broken = async () => Promise.reject(new Error('broken'))
  /** How many failures are counted. */
  const counted = async (key: string) => {
    await counters.add(key, 1, 60)
    return (await counters.add(key, -1, 60)).count
  }
  const failTimes = async (times: number, limits: readonly FailureThrottle[]) => {
    for (let time = 0; time < times; time++) await throttled(limits, counters, fails)
  }

  describe('throttled', () => {
    it('hands on what the attempt came to', async () => {
      expect(await throttled([limit('a', 1)], counters, succeeds)).toBe('alice')
      expect(await throttled([limit('a', 1)], counters, fails)).toBeUndefined()
    })

    it('makes any attempt where no limit is', async () => {
      expect(await throttled([], counters, succeeds)).toBe('alice')
    })

    it('makes as many failing attempts as each limit has room for, and no more, not even a good one', async () => {
      const limits = [limit('a', 5), limit('b', 3)]
      await failTimes(3, limits)
      const attempt = jest.fn(succeeds)
      expect(await refusalOf(throttled(limits, counters, attempt))).toMatchObject({ reason: 'b_limited' })
      expect(attempt).not.toHaveBeenCalled()
    })

    it('returns the whole seconds until the count begins anew, at least one', async () => {
      const limits = [limit('a', 1, 60)]
      const secondsLeft = async () => {
        const error: unknown = await throttled(limits, counters, fails).catch((refusal: unknown) => refusal)
        return error instanceof Throttled ? error.retryAfter : undefined
      }
      expect(await secondsLeft()).toBeUndefined()
      expect(await secondsLeft()).toBe(60)
      now += 30_500
      expect(await secondsLeft()).toBe(30)
      now += 29_499
      expect(await secondsLeft()).toBe(1)
      now += 1
      expect(await secondsLeft()).toBeUndefined()
      const instant: Counters = { ...counters, add: async () => ({ count: 2, secondsLeft: 0 }) }
      await expect(throttled(limits, instant, fails)).rejects.toMatchObject({ retryAfter: 1 })
    })

    it('takes back what a success added, and no failure of before', async () => {
      const limits = [limit('a', 5), limit('b', 5)]
      await failTimes(4, limits)
      for (let time = 0; time < 20; time++) expect(await throttled(limits, counters, succeeds)).toBe('alice')
      expect([await counted('a'), await counted('b')]).toEqual([4, 4])
    })

    it('counts nothing for a refused attempt, neither where it was refused nor before', async () => {
      await failTimes(2, [limit('b', 2)])
      const limits = [limit('a', 9), limit('b', 2), limit('c', 9)]
      for (let time = 0; time < 20; time++)
        expect((await refusalOf(throttled(limits, counters, fails))).reason).toBe('b_limited')
      expect([await counted('a'), await counted('b'), await counted('c')]).toEqual([0, 2, 0])
    })

    it('asks no limit behind the one that refuses', async () => {
      await failTimes(1, [limit('a', 1)])
      const add = jest.fn(counters.add.bind(counters))
      await refusalOf(throttled([limit('a', 1), limit('b', 1)], { ...counters, add }, fails))
      expect(add.mock.calls.map(([key]) => key)).toEqual(['a', 'a'])
    })

    it('counts an attempt that throws', async () => {
      await expect(throttled([limit('a', 5)], counters, broken)).rejects.toThrow('broken')
      expect(await counted('a')).toBe(1)
    })

    it('takes back an attempt that was not made', async () => {
      const refusal = tooManyAtOnce('bcrypt_busy', 'Later.')
      const busy = async () => Promise.reject(refusal)
      await expect(throttled([limit('a', 5), limit('b', 5)], counters, busy)).rejects.toBe(refusal)
      expect([await counted('a'), await counted('b')]).toEqual([0, 0])
    })

    it('lets the limit bound attempts that are all under way at once, good ones too', async () => {
      const attempt = jest.fn(
        async () => new Promise<undefined>((resolve) => setImmediate(resolve, undefined)),
      )
      const outcomes = await Promise.allSettled(
        Array.from({ length: 200 }, () => throttled([limit('a', 10)], counters, attempt)),
      )
      expect(attempt).toHaveBeenCalledTimes(10)
      expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(190)
      expect(await counted('a')).toBe(10)
    })

    it('forgets a burst of good attempts altogether', async () => {
      await Promise.allSettled(Array.from({ length: 50 }, () => throttled([limit('a', 10)], counters, slow)))
      expect(await counted('a')).toBe(0)
    })
  })

  describe('throttled, with failing counters', () => {
    const trouble = temporarilyUnavailable('store_unavailable', 'Later.')
    const failing = (breaks: (key: string, amount: number) => boolean): Counters => ({
      ...counters,
      add: async (key, amount, seconds) => {
        if (breaks(key, amount)) throw trouble
        return counters.add(key, amount, seconds)
      },
    })

    it('makes no attempt, and takes back what was counted before the failure', async () => {
      const attempt = jest.fn(succeeds)
      const limits = [limit('a', 5), limit('b', 5)]
      const inTrouble = failing((key) => key === 'b')
      await expect(throttled(limits, inTrouble, attempt)).rejects.toBe(trouble)
      expect(attempt).not.toHaveBeenCalled()
      expect(await counted('a')).toBe(0)
    })

    it('lets a success stand that cannot be taken back', async () => {
      const inTrouble = failing((_key, amount) => amount < 0)
      expect(await throttled([limit('a', 5), limit('b', 5)], inTrouble, succeeds)).toBe('alice')
    })

    it('lets a refusal stand that cannot be taken back', async () => {
      await failTimes(1, [limit('a', 1)])
      const inTrouble = failing((_key, amount) => amount < 0)
      const refused = throttled([limit('a', 1)], inTrouble, succeeds)
      expect(await refusalOf(refused)).toMatchObject({ reason: 'a_limited' })
    })
  })
})
