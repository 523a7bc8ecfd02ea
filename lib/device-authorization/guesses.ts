import { countedFor } from '../limits/counted-for'
import type { Counters } from '../limits/counters'
import { type Limit, secondsToWait } from '../limits/limit'
import { networksOf } from '../limits/network'
import { type FailureThrottle, tooManyFailures } from '../limits/throttle'
import { digest } from '../protocol/credential'
import type { EndpointRequest } from '../protocol/endpoint'
import { overLimit } from '../protocol/refusals'

export type GuessLimits = Readonly<Record<'owner' | 'network', Limit | undefined>>

/** RFC 8628 5.1. No count for all owners together: a stranger could lock out everybody. */
export function guessThrottles(
  { owner, network }: GuessLimits,
  subject: string,
  address: string | undefined,
): readonly FailureThrottle[] {
  return [
    ...tooManyFailures('user_code_owner_limited', owner, 'device:owner', subject),
    ...networksOf(address).flatMap((counted) =>
      tooManyFailures(
        'user_code_network_limited',
        network && { ...network, attempts: network.attempts * counted.factor },
        'device:network',
        counted.network,
      ),
    ),
  ]
}

export async function countRequest(
  counters: Counters,
  limit: Limit | undefined,
  { client, address }: Pick<EndpointRequest, 'client' | 'address'>,
): Promise<void> {
  const counted = countedFor(client, address)
  if (limit === undefined || counted.client !== undefined) return
  for (const { network, factor } of counted.networks) {
    const { count, secondsLeft } = await counters.add(`device:request:${digest(network)}`, 1, limit.seconds)
    if (count > limit.attempts * factor)
      throw overLimit('device_requests_limited', secondsToWait(secondsLeft))
  }
}
