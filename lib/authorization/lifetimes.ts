import type { ClientLifetimes } from '../protocol/client-lifetimes'

// The one place that decides how long credentials live: the shortest of server, client, resource and grant counts.

/** How long credentials live, in whole seconds. */
export interface Lifetimes {
  /** How long the resource owner may take to decide. Default: 600. */
  readonly authorizationRequest: number
  /** At most 600 (RFC 6749 4.1.2). Default: 60. */
  readonly authorizationCode: number
  /** Default: 3600. */
  readonly accessToken: number
  /** Each rotation begins this time anew. Default: 2 592 000 (30 days). */
  readonly refreshToken: number
  /**
   * How long after a rotation the replaced refresh token still gets the same tokens again. At most 300; 0 switches the
   * grace off. Default: 30.
   */
  readonly refreshTokenGrace: number
  /** The absolute end of a grant, counted from its approval. Refreshes do not move it. Default: none. */
  readonly grant?: number | undefined
}

/** When, and with which lifetimes, the server issues or checks. */
export interface IssueTime {
  /** Seconds since the epoch. */
  readonly now: number
  readonly lifetimes: Lifetimes
}

/** The lifetimes of a server, shortened to those in the registration of a client. */
export function lifetimesFor(client: ClientLifetimes, server: Lifetimes): Lifetimes {
  const { access_token_lifetime, refresh_token_lifetime, grant_lifetime } = client
  if ((access_token_lifetime ?? refresh_token_lifetime ?? grant_lifetime) === undefined) return server
  return {
    ...server,
    accessToken: Math.min(server.accessToken, access_token_lifetime ?? Infinity),
    refreshToken: Math.min(server.refreshToken, refresh_token_lifetime ?? Infinity),
    grant: shortest(server.grant, grant_lifetime),
  }
}

function shortest(first: number | undefined, second: number | undefined): number | undefined {
  return first === undefined || second === undefined ? (first ?? second) : Math.min(first, second)
}

/**
 * The absolute end of a grant, in seconds since the epoch; Infinity for a grant without one.
 *
 * @param grantedAt when the grant began; undefined for a grant that begins now, or whose beginning no record has.
 */
export function endOfGrant(grantedAt: number | undefined, { now, lifetimes: { grant } }: IssueTime): number {
  if (grant === undefined) return Infinity
  // A beginning in the future comes from a clock that was set back. It must not lengthen the grant.
  return Math.min(grantedAt ?? now, now) + grant
}

/** Whether the absolute end of a grant has passed. */
export function hasGrantEnded(grantedAt: number | undefined, moment: IssueTime): boolean {
  return endOfGrant(grantedAt, moment) <= moment.now
}

/** The end of a new access token. @param lifetime the longest that resources and extensions allow, in seconds. */
export function accessTokenEnd(
  grantedAt: number | undefined,
  lifetime: number | undefined,
  moment: IssueTime,
): number {
  const { now, lifetimes } = moment
  const usual = now + Math.min(lifetimes.accessToken, lifetime ?? Infinity)
  return Math.min(usual, endOfGrant(grantedAt, moment))
}

/** The end of a new refresh token that is not used: the nearer of its own lifetime and the end of the grant. */
export function refreshTokenEnd(grantedAt: number | undefined, moment: IssueTime): number {
  return Math.min(moment.now + moment.lifetimes.refreshToken, endOfGrant(grantedAt, moment))
}
