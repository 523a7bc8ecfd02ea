import type { Client } from '../protocol/client'

// The one place that decides lifetimes: the shortest of server, client, resource and grant.

/** In seconds. */
export interface LifetimeOptions {
  /** For the decision on the consent page. Default 600. */
  readonly authorizationRequest?: number
  /** Default 60, at most 600 (RFC 6749 4.1.2). */
  readonly authorizationCode?: number
  /** Default 3600. */
  readonly accessToken?: number
  /** Since the last refresh. Default 2592000 (30 days). */
  readonly refreshToken?: number
  /**
   * How long the old refresh token gets the same tokens again, so that parallel refreshes and lost responses
   * end no session. Default 30, at most 300. With 0, every repetition revokes, as theft.
   */
  readonly refreshTokenGrace?: number
  /**
   * The end of a grant, since its approval; without one, and for a client that polls, since its first tokens. No token
   * outlives it. A change applies at the next refresh.
   */
  readonly grant?: number
}

/** In whole seconds. */
export interface Lifetimes extends Required<Omit<LifetimeOptions, 'grant'>> {
  readonly grant?: number | undefined
}

export interface IssueTime {
  readonly now: number
  readonly lifetimes: Lifetimes
}

type ClientLifetimes = Pick<Client, 'access_token_lifetime' | 'refresh_token_lifetime' | 'grant_lifetime'>

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

const shortest = (first: number | undefined, second: number | undefined): number | undefined =>
  first === undefined || second === undefined ? (first ?? second) : Math.min(first, second)

/** Infinity without an absolute end. */
export function endOfGrant(grantedAt: number, { now, lifetimes: { grant } }: IssueTime): number {
  if (grant === undefined) return Infinity
  // A beginning in the future comes from a clock that was set back, and must not lengthen the grant.
  return Math.min(grantedAt, now) + grant
}

export const hasGrantEnded = (grantedAt: number, moment: IssueTime): boolean =>
  endOfGrant(grantedAt, moment) <= moment.now

/** @param lifetime the longest that resources and extensions allow, in seconds. */
export function accessTokenEnd(grantedAt: number, lifetime: number | undefined, moment: IssueTime): number {
  const { now, lifetimes } = moment
  const usual = now + Math.min(lifetimes.accessToken, lifetime ?? Infinity)
  return Math.min(usual, endOfGrant(grantedAt, moment))
}

export const refreshTokenEnd = (grantedAt: number, moment: IssueTime): number =>
  Math.min(moment.now + moment.lifetimes.refreshToken, endOfGrant(grantedAt, moment))
