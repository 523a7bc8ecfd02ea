import { type Field, type Fields, group } from '../primitives/schema'
import { countedFor } from '../limits/counted-for'
import { aLimit, type Limit, type LimitOption } from '../limits/limit'
import { TokenBuckets } from '../limits/token-buckets'
import { steadyClock } from '../primitives/steady-clock'
import type { Client } from '../protocol/client'
import { overLimit } from '../protocol/refusals'

/**
 * How many requests may be pushed in one process. A refused request does not count. A limit is a token
 * bucket: all `attempts` (at most 1 000 000) are available at once, and an empty bucket is full again after
 * `seconds` (at most 86 400). `false` switches a limit off. Over a limit, the endpoint answers 429 with
 * `Retry-After`.
 */
export interface PushLimitOptions {
  /** For one client that the host registered with credentials. Default: 30 000 in 60 seconds. */
  readonly client?: LimitOption
  /**
   * For all other clients of one network together, such as public clients, in whose name everybody may push:
   * an IPv4 address, or the first 64 bits of an IPv6 address. The first 56 bits may push 4 times as many, the
   * first 48 bits 16 times. Default: 300 in 60 seconds.
   */
  readonly network?: LimitOption
}

type PushLimits = Readonly<Record<keyof PushLimitOptions, Limit | undefined>>

export const pushLimits: Field<PushLimits> = group({
  client: aLimit(30_000, 60),
  network: aLimit(300, 60),
} satisfies Fields<PushLimitOptions>)

/** @throws OverShare over the limit. */
export type CountPush = (client: Client, address: string | undefined) => void

/** In this process. @param clock milliseconds since the epoch. */
export function pushShares(
  { client: ofClient, network: ofNetwork }: PushLimits,
  clock: () => number,
): CountPush {
  const steady = steadyClock(clock)
  const clients = ofClient && new TokenBuckets(ofClient, refusal, steady)
  const networks = ofNetwork && new TokenBuckets(ofNetwork, refusal, steady)
  return (client, address) => {
    const counted = countedFor(client, address)
    if (counted.client === undefined) networks?.takeFromAll(counted.networks)
    else clients?.take(counted.client)
  }
}

const refusal = (seconds: number) => overLimit('too_many_pushed_requests', seconds)
