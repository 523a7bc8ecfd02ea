import type { ExtensionData, Json } from '../protocol/extension'
import type { Scope } from '../protocol/scope'

/**
 * One authorization: everything that descends from one approval by a resource owner, or from one request of a
 * client for itself. One record, one key in the store, one revision. All times are seconds since the epoch.
 */
export type Authorization = Unclaimed | Pending | Denied | Approved | Active

/** What every authorization has that was not denied. */
export interface Grant {
  /** 16 random bytes; every credential of the authorization carries it. */
  readonly id: string
  /** Names the issuer whose server wrote the record. To the server of another issuer the record is unknown. */
  readonly issuerDigest: string
  readonly clientId: string
  /** The resource owner; undefined when the client acts for itself. */
  readonly subject: string | undefined
  readonly scope: Scope
  /** Of its access tokens; settled when the authorization begins. */
  readonly tokenType: string
  /** What extensions keep, each under its own name. */
  readonly extensionData: ExtensionData
}

/** A valid authorization request of a known resource owner, to be approved or denied. */
export interface RequestedAuthorization extends Grant {
  readonly subject: string
  readonly request: PendingRequest
}

/** A request for which a consent form was shown. */
export interface Shown extends RequestedAuthorization {
  /** Digest of the handle inside the consent form. */
  readonly handle: string
  readonly expiresAt: number
}

/**
 * A valid authorization request that waits for its resource owner: its client has stored it before (RFC 9126), or it began on
 * a device (RFC 8628). The first owner who claims it makes it pending.
 */
export interface Unclaimed extends Grant {
  readonly state: 'unclaimed'
  readonly subject: undefined
  readonly request: PendingRequest
  /** Digest of the handle that the client got. */
  readonly handle: string
  readonly expiresAt: number
}

/** A resource owner is looking at the consent page. */
export interface Pending extends Shown {
  readonly state: 'pending'
}

/** The part of an authorization request that its answer needs. */
export interface PendingRequest {
  readonly responseType: string
  readonly redirectUri: string
  /** Whether the request named it: then the token request must, too (RFC 6749 4.1.3). */
  readonly redirectUriSent: boolean
  /** As received; echoed byte for byte. */
  readonly requestState: string | undefined
}

/** The resource owner said no. All is kept for as long as the consent form could be sent again, to answer it again. */
export interface Denied extends Shown {
  readonly state: 'denied'
}

/** A code is issued and waits to be redeemed; an extension response type may have brought an access token with it. */
export interface Approved extends Grant {
  readonly state: 'approved'
  readonly subject: string
  /** Digest of the handle inside the consent form; undefined when no form was shown. */
  readonly handle: string | undefined
  readonly code: Code
  readonly accessTokens: readonly AccessToken[]
}

export interface Code {
  readonly digest: string
  readonly redirectUri: string
  readonly redirectUriSent: boolean
  /** Redemptions that showed the code but failed in what belongs to it; five burn it. */
  readonly failures: number
  readonly expiresAt: number
  /** What it takes to answer the same form with the same code again; undefined when no form was shown. */
  readonly repetition: Repetition | undefined
}

export interface Repetition {
  /** From it and the handle of the form the same code can be derived again. */
  readonly salt: string
  readonly responseType: string
  /** As received; echoed byte for byte. */
  readonly requestState: string | undefined
}

/** Tokens are issued. */
export interface Active extends Grant {
  readonly state: 'active'
  /** Digest of the handle inside the consent form; undefined when no form was shown. */
  readonly handle: string | undefined
  /** Digest of the code that was redeemed, to know it again when it is replayed. */
  readonly spentCode: string | undefined
  /** The live ones, the newest last. */
  readonly accessTokens: readonly AccessToken[]
  readonly refreshToken: RefreshToken | undefined
  /**
   * Until when what was granted for counts as used (`one-time-use.ts`): the record stays so long, without credentials if
   * need be. Undefined for a grant that uses nothing up.
   */
  readonly usedUntil: number | undefined
}

export interface AccessToken {
  readonly digest: string
  readonly scope: Scope
  readonly expiresAt: number
  /** What the token type keeps for its check; nothing that could be presented. */
  readonly tokenData: Json | undefined
  /** What extensions keep with the token, each under its own name. */
  readonly extensionData: ExtensionData
}

export interface RefreshToken {
  readonly digest: string
  readonly generation: number
  /** Key of the tags that tell this authorization's own refresh tokens from garbage. */
  readonly tagKey: string
  readonly expiresAt: number
  /** The rotation that made this generation; undefined for the first one. */
  readonly rotation: Rotation | undefined
}

export interface Rotation {
  readonly at: number
  /** From it and the refresh token that was rotated out the same pair can be derived again. */
  readonly salt: string
  /** What the token type added to the answer, readable only with that refresh token; undefined for nothing. */
  readonly sealedProperties: string | undefined
}

/** When the last credential of the authorization dies, and the record with it, unless a one-time use outlives both. */
export function expiryOf(authorization: Authorization): number {
  switch (authorization.state) {
    case 'unclaimed':
    case 'pending':
    case 'denied':
      return authorization.expiresAt
    case 'approved':
      return Math.max(authorization.code.expiresAt, ...ends(authorization.accessTokens))
    case 'active':
      return Math.max(
        authorization.refreshToken?.expiresAt ?? 0,
        authorization.usedUntil ?? 0,
        ...ends(authorization.accessTokens),
      )
  }
}

function ends(accessTokens: readonly AccessToken[]): readonly number[] {
  return accessTokens.map(({ expiresAt }) => expiresAt)
}
