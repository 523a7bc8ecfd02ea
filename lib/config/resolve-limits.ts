import type { Lifetimes } from '../authorization/lifetimes'
import { singleUsesOption } from '../limits/counters'
import { aLimit, networkLimits } from '../limits/limit'
import { issuingLimits } from '../limits/shares'
import { clientAuthenticationLimits } from '../client-authentication/credential-throttle'
import { type Fields, group, kind, optional, type Place } from '../primitives/schema'
import { isWhole } from '../primitives/values'
import type { ServerLimitOptions } from './options'

/** Undefined: the limit is off. */
export type ServerLimits = ReturnType<typeof resolveLimits>

export function resolveLimits(at: Place, lifetimes: Lifetimes, authorizations: boolean) {
  const { selfRegisteredClients: most, ...limits } = at.field('limits', limitsOf(lifetimes))
  if (typeof most === 'number' && !authorizations)
    at.wrong(
      'limits.selfRegisteredClients',
      'needs the option authorizations: true, because it counts what an owner has approved.',
    )
  return { ...limits, selfRegisteredClients: most === false || !authorizations ? undefined : (most ?? 50) }
}

const limitsOf = ({ authorizationRequest }: Lifetimes) =>
  group({
    networks: networkLimits,
    clientAuthentication: clientAuthenticationLimits,
    issuing: issuingLimits,
    openRequests: aLimit(100, authorizationRequest),
    singleUses: singleUsesOption,
    selfRegisteredClients: optional(
      kind(
        (value): value is number | false => value === false || isWhole(1, 1000)(value),
        'must be false or a whole number, 1 to 1000.',
      ),
    ),
  } satisfies Fields<ServerLimitOptions>)
