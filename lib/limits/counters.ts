import { steadyClock } from '../primitives/clock'
import { digest } from '../protocol/credential'
import { NotAttempted } from '../protocol/oauth-error'
import { overLimit, type RefusalName } from '../protocol/refusals'
import type { Count } from '../store/store'
import { aLimit, type Limit, secondsToWait } from './limit'
import { networksOf } from './network'
import { TokenBuckets } from './shares'

/**
 * Temporary counts across all processes: failed attempts, and uses of values that are good once. Keys hold no
 * credential in clear. A rejection becomes `temporarily_unavailable`.
 */
export interface Counters {
  /** Adds atomically; resolves to the new count. It ends `seconds` after its first addition, and is never below 0. */
  add(key: string, amount: 1 | -1, seconds: number): Promise<Count>

  /**
   * Uses up a key for `seconds`, atomically: only the first call within that time resolves to true.
   *
   * @param share who uses the key: a client, or a network of unproven senders.
   */
  useOnce(key: string, seconds: number, share?: string): Promise<boolean>
}

export const singleUsesOption = aLimit(60_000, 60)

// A client with good credentials must not fill the store with nonces.
export function singleUses(limit: Limit | undefined, clock: () => number) {
  const uses =
    limit &&
    new TokenBuckets(limit, (seconds) => overLimit('single_use_limited', seconds), steadyClock(clock))
  return uses && ((share: string) => uses.take(share))
}

export function countersOf(counters: Counters, share: string): Counters {
  return {
    add: (key, amount, seconds) => counters.add(key, amount, seconds),
    useOnce: (key, seconds) => counters.useOnce(key, seconds, share),
  }
}

export interface FailureThrottle extends Limit {
  // The store sees it: no credential and no name in clear.
  readonly key: string
  readonly name: RefusalName
}

// An attempt counts as a failure before it runs: parallel ones cannot exceed a limit. One that throws stays counted: a
// host may throw for a wrong password. First in `limits`: what a single attacker reaches first, before what honest
// clients share.
export async function throttled<Success>(
  limits: readonly FailureThrottle[],
  counters: Counters,
  attempt: () => Promise<Success | undefined>,
): Promise<Success | undefined> {
  await countAll(limits, counters)
  try {
    const success = await attempt()
    if (success !== undefined) await takeBack(limits, counters)
    return success
  } catch (error) {
    if (error instanceof NotAttempted) await takeBack(limits, counters)
    throw error
  }
}

// A refusal takes back what it has counted.
export async function countAll(limits: readonly FailureThrottle[], counters: Counters): Promise<void> {
  const counted: FailureThrottle[] = []
  try {
    for (const limit of limits) {
      const { count: attempts, secondsLeft } = await counters.add(limit.key, 1, limit.seconds)
      counted.push(limit)
      if (attempts > limit.attempts) throw overLimit(limit.name, secondsToWait(secondsLeft))
    }
  } catch (error) {
    await takeBack(counted, counters)
    throw error
  }
}

// A window that began meanwhile loses at most one count per running attempt.
async function takeBack(limits: readonly FailureThrottle[], counters: Counters): Promise<void> {
  await Promise.allSettled(limits.map(({ key, seconds }) => counters.add(key, -1, seconds)))
}

// The key holds only a digest of `whose`.
export function tooManyFailures(
  name: RefusalName,
  limit: Limit | undefined,
  countedAs: string,
  whose: string,
): readonly FailureThrottle[] {
  return limit === undefined ? [] : [{ ...limit, name, key: `${countedAs}:${digest(whose)}` }]
}

// For strangers: by each network that one subscriber may have.
export const tooManyOfNetwork = (
  name: RefusalName,
  limit: Limit | undefined,
  countedAs: string,
  address: string | undefined,
): readonly FailureThrottle[] =>
  networksOf(address).flatMap(({ network, factor }) =>
    tooManyFailures(name, limit && { ...limit, attempts: limit.attempts * factor }, countedAs, network),
  )
