import type { Bindings } from '../protocol/bindings'
import { createId } from '../protocol/credential'
import type { Scope } from '../protocol/scope'
import type { Circumstances } from './circumstances'
import { issue, withoutTokens, type Issuance } from './issue'
import type { OneTimeUse } from './one-time-use'

/** What a grant has proven when it needs no code: a client for itself, or an assertion about an owner. */
export interface ProvenGrant {
  readonly clientId: string
  readonly subject: string | undefined
  readonly scope: Scope
  /** The one that the client gets. */
  readonly tokenType: string
  readonly refreshToken: boolean
  readonly bindings: Bindings
  /**
   * When what was proven ends, in seconds since the epoch: the access token ends then at the latest, and no refresh
   * token comes, which would outlive it. Left out: the server's lifetimes say it all.
   */
  readonly expiresAt?: number | undefined
  /** What the grant uses up. Left out: nothing. */
  readonly oneTimeUse?: OneTimeUse | undefined
}

/** Begins an authorization with tokens at once. @param id of the authorization; default: a random one. */
export function issueDirectly(
  grant: ProvenGrant,
  circumstances: Circumstances,
  id: string = createId(circumstances.random),
): Issuance {
  const { issuerDigest } = circumstances
  const authorization = {
    ...withoutTokens({ ...grant, issuerDigest }, id),
    usedUntil: grant.oneTimeUse?.until,
  }
  if (grant.expiresAt === undefined) return issue(authorization, grant, circumstances)
  const { scope, expiresAt } = grant
  return issue(authorization, { scope, refreshToken: false }, endingAt(expiresAt, circumstances))
}

function endingAt(end: number, circumstances: Circumstances): Circumstances {
  const { now, lifetimes } = circumstances
  if (!Number.isSafeInteger(end) || end <= now)
    throw new RangeError('A grant type has proven a grant whose expiresAt is no whole second to come.')
  return {
    ...circumstances,
    lifetimes: { ...lifetimes, accessToken: Math.min(lifetimes.accessToken, end - now) },
  }
}
