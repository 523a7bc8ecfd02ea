import { hash } from 'node:crypto'
import type { ExtensionData } from '../protocol/extension-data'
import type { Login } from '../protocol/resource-owner'
import type { Scope } from '../protocol/scope'
import { lastEndOf, type StoredToken } from './access-token'
import type { OAuthError } from '../protocol/oauth-error'

/**
 * All that descends from one approval by an owner, or from one request of a client that acts for itself: one record
 * with one revision. Times are seconds since the epoch, digests SHA-256 as 43 characters of base64url.
 */
export type Authorization = Requested | Approved | Active

export interface Grant {
  /** 22 characters of base64url, in every credential. */
  readonly id: string
  readonly issuerDigest: string
  readonly clientId: string
  /** The resource owner; undefined if the client acts for itself. */
  readonly subject: string | undefined
  readonly scope: Scope
  /** Of tokens without their own `token_type`. It never changes. */
  readonly tokenType: string
  /** By the name of the extension. */
  readonly extensionData: ExtensionData
  /** How the owner had logged in when the request came. No refresh renews it. */
  readonly login?: Login | undefined
}

/** A valid request of a known owner, who can approve or deny it. */
export interface RequestedAuthorization extends Grant {
  readonly subject: string
  readonly request: PendingRequest
}

/**
 * A valid request that waits for its owner, for the decision, or for the client that polls. A browser brought it, its
 * client pushed it (RFC 9126), the server demanded a login, or a device polls for it (RFC 8628). A decision without a
 * code stays until `expiresAt`, and gets the same answer again.
 */
export interface Requested extends Grant {
  readonly state: 'requested'
  /** Undefined until an owner claims the request: the first one wins. */
  readonly subject: string | undefined
  /** Undefined without a redirection URI: the client polls. */
  readonly request: PendingRequest | undefined
  /** Digest of the handle, or of the login reference. Undefined if nothing names the request. */
  readonly handle: string | undefined
  /** Digest; undefined until an owner claims the request. */
  readonly consentToken: string | undefined
  /** With the handle, it derives the consent token. */
  readonly salt?: string | undefined
  readonly decision: 'approved' | 'denied' | undefined
  /** Undefined without an approval. */
  readonly grantedAt: number | undefined
  readonly demandedLogin: DemandedLogin | undefined
  readonly expiresAt: number
  /** In form encoding; undefined for a request that a browser brought. */
  readonly parameters?: string | undefined
  /** Of the plug-in that opened the request. */
  readonly pluginData?: ExtensionData | undefined
  /** Seconds until a browser must bring the request. Undefined afterwards, and for the usual lifetime. */
  readonly lifetimeUntilSeen?: number | undefined
}

export interface DemandedLogin {
  readonly at: number
  /** Digest of the only parameters for which the login reference is good. Undefined if a handle names the request. */
  readonly parameters: string | undefined
}

export interface PendingRequest {
  readonly responseType: string
  readonly redirectUri: string
  /** The token request must then repeat `redirect_uri` (RFC 6749 4.1.3). */
  readonly redirectUriSent: boolean
  /** The response repeats it byte for byte (RFC 6749 4.1.2). */
  readonly requestState: string | undefined
}

/** The code is not redeemed yet. A response type such as `code token` also gave an access token. */
export interface Approved extends RequestedAuthorization {
  readonly state: 'approved'
  /** Digest; undefined without a consent form. */
  readonly consentToken: string | undefined
  readonly code: Code
  readonly grantedAt: number
  readonly accessTokens: readonly StoredToken[]
}

export interface Code {
  readonly digest: string
  /** Redemptions of the right code with, for example, a wrong redirection URI. After five, none succeeds. */
  readonly failures: number
  readonly expiresAt: number
  /** With the consent token, it derives the code again. Undefined without a consent form. */
  readonly salt: string | undefined
}

export interface Active extends Grant {
  readonly state: 'active'
  /** Digest. */
  readonly consentToken: string | undefined
  /** Digest of the redeemed code or handle, or of the refresh token of another server: it shows a replay. */
  readonly spentCode: string | undefined
  /** At most 32, the newest last. An expired one may stay until the next token. */
  readonly accessTokens: readonly StoredToken[]
  readonly refreshToken: RefreshToken | undefined
  /** Undefined after a code, and without a grace. */
  readonly lastResponse: LastResponse | undefined
  /** The end of a one-time use, such as of an assertion. The record stays until then, even if revoked. */
  readonly usedUntil: number | undefined
  /** When the owner approved; without a code, when the client asked for its first tokens. */
  readonly grantedAt: number
}

export interface RefreshToken {
  readonly digest: string
  readonly generation: number
  /** 22 characters of base64url. Its tags show an old refresh token of this authorization. */
  readonly tagKey: string
  readonly expiresAt: number
}

/** Gives the tokens of a rotation or poll again. */
export interface LastResponse {
  readonly at: number
  /** With the replaced refresh token or the handle, it derives the tokens. */
  readonly salt: string
  /** Members of the token type, encrypted with the replaced refresh token or the handle. */
  readonly sealedProperties: string | undefined
}

export type Granted = Authorization & { readonly grantedAt: number }

export const isGranted = (authorization: Authorization): authorization is Granted =>
  authorization.grantedAt !== undefined

/** Undefined if the client gets a code, by a redirect. */
export const handleForPolls = ({ request, handle }: Requested): string | undefined =>
  request === undefined ? handle : undefined

export const secondsToHear = 120

/**
 * When the last credential or the one-time use expires: a store may then drop the record.
 *
 * @returns seconds since the epoch.
 */
export function expiryOf(authorization: Authorization): number {
  switch (authorization.state) {
    case 'requested':
      // A slow client that polls still hears that the request has expired.
      return authorization.expiresAt + (authorization.request === undefined ? secondsToHear : 0)
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

/** Something that is good for one authorization only, such as an assertion. */
export interface OneTimeUse {
  /** Unique within the grant type; at most 65 536 characters. It may be secret: the store gets a digest. */
  readonly key: string
  /**
   * Until when the store remembers the use, in whole seconds since the epoch. Choose a time at which every process
   * refuses the assertion as expired, even if clocks differ.
   */
  readonly until: number
  readonly refusal: () => OAuthError
}

/** A second use gives the same id, so one write is both the use and the grant. */
export function idOfUse(names: readonly string[]): string {
  // Different lists never give the same JSON.
  return hash('sha256', JSON.stringify(['one-time use', ...names]), 'buffer')
    .subarray(0, 16)
    .toString('base64url')
}

type UsedOnce = Active & { readonly usedUntil: number }

export const isUsedOnce = (authorization: Authorization | undefined): authorization is UsedOnce =>
  authorization?.state === 'active' && authorization.usedUntil !== undefined

/** The assertion or voucher must not become good again. */
export function tombstoneOf({ usedUntil, ...authorization }: UsedOnce): UsedOnce {
  const none = { extensionData: {}, accessTokens: [], refreshToken: undefined, lastResponse: undefined }
  return { ...authorization, ...none, usedUntil }
}

/** Undefined if the record only remembers a one-time use. */
export function ignoreTombstone(authorization: Authorization | undefined): Authorization | undefined {
  if (!isUsedOnce(authorization)) return authorization
  return authorization.accessTokens.length === 0 && authorization.refreshToken === undefined
    ? undefined
    : authorization
}
