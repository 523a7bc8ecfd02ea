import type { Access } from '../authorization/present-access-token'
import type { Scope } from '../protocol/scope'

/**
 * What a JWT access token stands for (RFC 9068 2.2). It is frozen with everything in it, because all requests that show the
 * token share it.
 */
export interface JwtAccess {
  /** Undefined: a JWT is no credential of an authorization in a store. */
  readonly authorizationId?: undefined
  readonly clientId: string
  /** `sub`: the resource owner; undefined when that is the client, which acts for itself (RFC 9068 2.2). */
  readonly subject: string | undefined
  /** Empty when the issuer wrote none. */
  readonly scope: Scope
  readonly tokenType: 'bearer'
  /** Seconds since the epoch; a fraction where the issuer writes one. */
  readonly expiresAt: number
  /** Every claim of the token, registered ones too, as its issuer signed them. */
  readonly claims: Readonly<Record<string, unknown>>
}

/** What the access token of a request stands for; one of a JWT has `claims`. */
export type GuardedAccess = Access | JwtAccess
