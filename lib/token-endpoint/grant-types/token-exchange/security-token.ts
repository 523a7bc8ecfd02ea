import type { Scope } from '../../../protocol/scope'
import type { TokenRequest } from '../../grant-type'

/** A subject token or an actor token that is good right now: of a resource owner, or of a client that acts for itself. */
export type SecurityToken = SecurityTokenContent &
  (
    | {
        /** The resource owner. */
        readonly subject: string
        /** To which client it was issued, where that is known: always for an access token of this server. */
        readonly clientId: string | undefined
      }
    | { readonly subject: undefined; readonly clientId: string }
  )

interface SecurityTokenContent {
  /** The token type identifier (RFC 8693 3). */
  readonly tokenType: string
  /** Empty when the token names none. */
  readonly scope: Scope
  /** What an earlier exchange bound it to; empty when nothing. */
  readonly audience: readonly string[]
  /** Who acts for the subject by earlier exchanges, the last one first. */
  readonly actors: readonly string[]
  /** Seconds since the epoch: no token that it is exchanged for lives longer. */
  readonly expiresAt: number
  /** What the host's function read from a token of another type; empty for an access token of this server. */
  readonly claims: Readonly<Record<string, unknown>>
}

/** What a token of another type says, in the words of this server: its subject is a subject of yours. */
export interface SecurityTokenClaims extends Readonly<Record<string, unknown>> {
  readonly sub: string
  /** Seconds since the epoch. */
  readonly exp: number
  /** Space separated. Left out: a scope comes from the policy only. */
  readonly scope?: string
  readonly client_id?: string
  /** Who acts for the subject (RFC 8693 4.1), eight deep at most. */
  readonly act?: unknown
}

/**
 * Verifies a token of another type: signature, issuer, audience. Returns what it says, or undefined for a token that
 * is not good.
 */
export type VerifySecurityToken = (
  token: string,
  request: TokenRequest,
) => SecurityTokenClaims | undefined | Promise<SecurityTokenClaims | undefined>

/** The token types that the host verifies. */
export type SecurityTokenTypes = ReadonlyMap<string, VerifySecurityToken>

/** A token as it was presented, of a type that can be read. */
export interface PresentedSecurityToken {
  readonly token: string
  readonly tokenType: string
}
