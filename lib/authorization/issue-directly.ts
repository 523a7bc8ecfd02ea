import type { ExtensionData } from '../protocol/bindings'
import { createId } from '../protocol/credential'
import type { Scope } from '../protocol/scope'
import type { IssueContext } from './circumstances'
import { issue, withoutTokens, type Issuance } from './issue'
import type { OneTimeUse } from './one-time-use'

/** What a grant has proven when it needs no code: a client for itself, or an assertion about an owner. */
export interface DirectAuthorization {
  readonly clientId: string
  readonly subject: string | undefined
  readonly scope: Scope
  /** The one that the client gets. */
  readonly tokenType: string
  readonly refreshToken: boolean
  readonly extensionData: ExtensionData
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
  grant: DirectAuthorization,
  context: IssueContext,
  id: string = createId(context.random),
): Issuance {
  const { issuerDigest } = context
  const authorization = {
    ...withoutTokens({ ...grant, issuerDigest }, id),
    usedUntil: grant.oneTimeUse?.until,
  }
  if (grant.expiresAt === undefined) return issue(authorization, grant, context)
  const { scope, expiresAt } = grant
  return issue(authorization, { scope, refreshToken: false }, endingAt(expiresAt, context))
}

function endingAt(end: number, context: IssueContext): IssueContext {
  const { now, lifetimes } = context
  if (!Number.isSafeInteger(end) || end <= now)
    throw new RangeError('A grant type has proven a grant whose expiresAt is no whole second to come.')
  return {
    ...context,
    lifetimes: { ...lifetimes, accessToken: Math.min(lifetimes.accessToken, end - now) },
  }
}
