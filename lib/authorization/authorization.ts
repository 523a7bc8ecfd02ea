import type { ExtensionData } from '../protocol/extension-data'
import type { Login } from '../protocol/resource-owner'
import type { Scope } from '../protocol/scope'
import { lastEndOf, type StoredToken } from './access-token'

/**
 * Everything that descends from one approval by an owner, or from one request of a client that acts for itself: one
 * record with one key and one revision. Times are seconds since the epoch. Digests are SHA-256: 43 characters of
 * base64url.
 */
export type Authorization = Unclaimed | Pending | Denied | Polled | Approved | Active

export interface Grant {
  /** 22 letters of base64url. Every credential carries the id. */
  readonly id: string
  /** A server of another issuer does not know the record. */
  readonly issuerDigest: string
  readonly clientId: string
  /** The resource owner; undefined if the client acts for itself. */
  readonly subject: string | undefined
  readonly scope: Scope
  /** The `token_type` of tokens without their own. It never changes. */
  readonly tokenType: string
  /** The data of each extension under its name. */
  readonly extensionData: ExtensionData
  /** How the owner had logged in when the request came, if known. No refresh renews it. */
  readonly login?: Login | undefined
}

/** A valid request of a known owner, who can approve or deny it. */
export interface RequestedAuthorization extends Grant {
  readonly subject: string
  readonly request: PendingRequest
}

interface Shown extends RequestedAuthorization {
  /** Digest. */
  readonly consentToken: string
  readonly expiresAt: number
}

/**
 * A valid request that waits for its owner: the client pushed it (RFC 9126), or the server has sent the owner to the
 * login. The first owner who claims it makes it pending or approved.
 */
export interface Unclaimed extends Grant, NamedRequest {
  readonly state: 'unclaimed'
  readonly subject: undefined
  readonly request: PendingRequest
  readonly expiresAt: number
  /** Seconds until a browser must bring the request. Undefined afterwards, and if every request lives as long. */
  readonly lifetimeUntilSeen?: number | undefined
}

/** What names a request until its decision. */
export interface NamedRequest {
  /** Digest of the handle, or of the login reference. */
  readonly handle: string
  readonly demandedLogin: DemandedLogin | undefined
  /** In form encoding; undefined for a request that a browser brought. */
  readonly pushed?: string | undefined
}

/** An extension has demanded it, also of an owner who is logged in. */
export interface DemandedLogin {
  readonly at: number
  /**
   * Digest of the only parameters for which the login reference is good. Undefined for a pushed request, which the
   * handle names.
   */
  readonly parameters: string | undefined
}

/**
 * A request without a redirection URI, such as of a device (RFC 8628). The owner decides it on a page, and the client
 * polls. A denial stays until `expiresAt`, for a client whose response was lost.
 */
export interface Polled extends Grant {
  readonly state: 'polled'
  /** Undefined until an owner claims the request. */
  readonly subject: string | undefined
  /** Digest. */
  readonly handle: string
  /** Digest; undefined until an owner claims the request. */
  readonly consentToken: string | undefined
  /** Undefined while the request waits. */
  readonly decision: 'approved' | 'denied' | undefined
  readonly expiresAt: number
  /** When the owner approved; undefined without an approval. */
  readonly grantedAt: number | undefined
}

/** A consent form waits for the decision. */
export interface Pending extends Shown {
  readonly state: 'pending'
  /** Undefined if nothing names the request: its owner gets the form once. */
  readonly named?: Claim | undefined
}

/** An owner has claimed a named request, and gets the same form again until the decision. */
export interface Claim extends NamedRequest {
  /** With the handle, it derives the consent token. */
  readonly salt: string
}

export interface PendingRequest {
  readonly responseType: string
  readonly redirectUri: string
  /** Whether the request had `redirect_uri`: the token request must then repeat it (RFC 6749 4.1.3). */
  readonly redirectUriSent: boolean
  /** As received. The response repeats it byte for byte (RFC 6749 4.1.2). */
  readonly requestState: string | undefined
}

/** The record stays until `expiresAt`: the same decision gets the same response again. */
export interface Denied extends Shown {
  readonly state: 'denied'
}

/** The code is not redeemed yet. With a response type such as `code token`, the record also has an access token. */
export interface Approved extends Grant {
  readonly state: 'approved'
  readonly subject: string
  /** Digest; undefined without a consent form. */
  readonly consentToken: string | undefined
  readonly code: Code
  /** When the owner approved. */
  readonly grantedAt: number
  readonly accessTokens: readonly StoredToken[]
}

/** RFC 6749 4.1.2. */
export interface Code {
  readonly digest: string
  readonly redirectUri: string
  readonly redirectUriSent: boolean
  /**
   * Redemptions by the client with the right code but a wrong redirection URI, or a failed check of an extension, such
   * as PKCE. After five, none succeeds.
   */
  readonly failures: number
  readonly expiresAt: number
  /** Undefined without a consent form. */
  readonly repetition: Repetition | undefined
}

/** Gives the same code again, if a browser sends its decision again. */
export interface Repetition {
  /** With the consent token, it derives the code. */
  readonly salt: string
  readonly responseType: string
  readonly requestState: string | undefined
}

export interface Active extends Grant {
  readonly state: 'active'
  /** Digest. */
  readonly consentToken: string | undefined
  /** Digest of the redeemed code or handle, to recognize a replay; undefined without either. */
  readonly spentCode: string | undefined
  /** At most 32, the newest last. An expired one may stay until the next token. */
  readonly accessTokens: readonly StoredToken[]
  readonly refreshToken: RefreshToken | undefined
  /** Undefined after a code, and without a grace. */
  readonly lastResponse: LastResponse | undefined
  /**
   * The end of the one-time use of an assertion or similar. The record stays until then; revocation leaves it without
   * credentials. Undefined if the grant uses nothing up.
   */
  readonly usedUntil: number | undefined
  /** When the owner approved; without a code, when the client asked for its first tokens. */
  readonly grantedAt: number
}

export interface RefreshToken {
  readonly digest: string
  /** Counts the rotations, from 0. */
  readonly generation: number
  /** 22 characters of base64url. Tags distinguish an old refresh token of this authorization from garbage. */
  readonly tagKey: string
  readonly expiresAt: number
}

/** Gives the tokens of a rotation or poll again. */
export interface LastResponse {
  readonly at: number
  /** With the replaced refresh token, or the handle, it derives the tokens. */
  readonly salt: string
  /** Members that the token type added to the response, encrypted with the replaced refresh token or the handle. */
  readonly sealedProperties: string | undefined
}

/** What its owner has approved, or what a client that acts for itself has got. */
export type Granted = (Polled | Approved | Active) & { readonly grantedAt: number }

export const isGranted = (authorization: Authorization): authorization is Granted =>
  'grantedAt' in authorization && authorization.grantedAt !== undefined

/**
 * When the last credential expires, or the one-time use if later. A store may drop the record then.
 *
 * @returns seconds since the epoch.
 */
export function expiryOf(authorization: Authorization): number {
  switch (authorization.state) {
    case 'unclaimed':
    case 'pending':
    case 'denied':
    case 'polled':
      return authorization.expiresAt
    case 'approved':
      return Math.max(authorization.code.expiresAt, lastEndOf(authorization.accessTokens))
    case 'active':
      return Math.max(
        authorization.refreshToken?.expiresAt ?? 0,
        authorization.usedUntil ?? 0,
        lastEndOf(authorization.accessTokens),
      )
  }
}
