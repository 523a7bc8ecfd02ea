import type { ExtensionData } from '../protocol/extension-data'
import type { Json } from '../protocol/json'
import type { Login } from '../protocol/resource-owner'
import type { Scope } from '../protocol/scope'

/**
 * One authorization: everything that descends from one approval by a resource owner, or from one request of a client
 * that acts for itself. An authorization is one record with one key and one revision in the store. All times are
 * seconds since the epoch. Digests of credentials are SHA-256: 43 characters of base64url.
 */
export type Authorization = Unclaimed | Pending | Denied | Polled | Approved | Active

/** The members that every authorization has, in each of its states. */
export interface Grant {
  /** 22 characters of base64url: 16 bytes. Every credential of the authorization carries the id. */
  readonly id: string
  /** Names the issuer whose server wrote the record. A server of another issuer treats the record as unknown. */
  readonly issuerDigest: string
  readonly clientId: string
  /** The resource owner; undefined if the client acts for itself. */
  readonly subject: string | undefined
  readonly scope: Scope
  /** The `token_type` of the access tokens, unless a token has its own. It never changes. */
  readonly tokenType: string
  /** The data of extensions. Each extension keeps its data under its own name. */
  readonly extensionData: ExtensionData
  /** How the resource owner had logged in when the request came. Undefined if nobody says. No refresh renews it. */
  readonly login?: Login | undefined
}

/** A valid authorization request of a known resource owner, who can approve or deny the request. */
export interface RequestedAuthorization extends Grant {
  readonly subject: string
  readonly request: PendingRequest
}

/** An authorization request with a consent form. */
export interface Shown extends RequestedAuthorization {
  /** Digest of the consent token. */
  readonly consentToken: string
  readonly expiresAt: number
}

/**
 * A valid authorization request that waits for its resource owner: the client pushed the request (RFC 9126), or the
 * server has sent the owner to the login. The first owner who claims the request makes it pending or approved.
 */
export interface Unclaimed extends Grant, NamedRequest {
  readonly state: 'unclaimed'
  readonly subject: undefined
  readonly request: PendingRequest
  readonly expiresAt: number
  /**
   * The lifetime in seconds that the request has until a browser brings it. Undefined once a browser has, and if this
   * lifetime is that of every request.
   */
  readonly lifetimeUntilSeen?: number | undefined
}

/** What a request has that a handle or a login reference names, from its beginning to its decision. */
export interface NamedRequest {
  /** Digest of the handle that the client got, or of the login reference. */
  readonly handle: string
  /** The login that the server has demanded for the request; undefined if it has demanded none. */
  readonly demandedLogin: DemandedLogin | undefined
  /** The parameters that the client pushed, in form encoding; undefined for a request that a browser brought. */
  readonly pushed?: string | undefined
}

/** A login that an extension has demanded for a request, also of an owner who is logged in. */
export interface DemandedLogin {
  readonly at: number
  /**
   * Digest of the parameters of the request. The login reference is good for the same parameters alone. Undefined for
   * a request that its client pushed: the handle names it.
   */
  readonly parameters: string | undefined
}

/**
 * A request of a client without a redirection URI, such as a device (RFC 8628). The owner claims and decides it on a
 * page. The client polls with its handle until it hears the decision. A denial stays until `expiresAt`, so that a client
 * whose response was lost hears it again.
 */
export interface Polled extends Grant {
  readonly state: 'polled'
  /** Undefined until an owner claims the request. */
  readonly subject: string | undefined
  /** Digest of the handle that the client got. */
  readonly handle: string
  /** Digest of the consent token; undefined until an owner claims the request. */
  readonly consentToken: string | undefined
  /** Undefined while the request waits for its owner. */
  readonly decision: 'approved' | 'denied' | undefined
  readonly expiresAt: number
  /** When the owner approved; undefined without an approval, and in a record of an earlier form. */
  readonly grantedAt?: number | undefined
}

/** The server has made a consent form, and waits for the decision of the resource owner. */
export interface Pending extends Shown {
  readonly state: 'pending'
  /** Undefined for a request that nothing names: its owner gets the form once. */
  readonly named?: Claim | undefined
}

/** A named request that an owner has claimed: this owner gets the same form again, until the decision. */
export interface Claim extends NamedRequest {
  /** The server derives the consent token from this salt and the handle. */
  readonly salt: string
}

/** The part of an authorization request that the authorization response needs. */
export interface PendingRequest {
  readonly responseType: string
  readonly redirectUri: string
  /** Whether the request had the parameter `redirect_uri`. If so, the token request must repeat it (RFC 6749 4.1.3). */
  readonly redirectUriSent: boolean
  /** The parameter `state` as received. The response repeats the parameter byte for byte (RFC 6749 4.1.2). */
  readonly requestState: string | undefined
}

/**
 * The resource owner denied the request. The record stays until `expiresAt`, so a browser that sends the same decision
 * again gets the same response.
 */
export interface Denied extends Shown {
  readonly state: 'denied'
}

/**
 * The resource owner approved, and the client has not redeemed the code yet. With a response type such as
 * `code token`, the record also holds an access token.
 */
export interface Approved extends Grant {
  readonly state: 'approved'
  readonly subject: string
  /** Digest of the consent token; undefined without a consent form. */
  readonly consentToken: string | undefined
  readonly code: Code
  /** When the owner approved; undefined in a record of an earlier form. */
  readonly grantedAt?: number | undefined
  readonly accessTokens: readonly AccessToken[]
}

/** An authorization code (RFC 6749 4.1.2). */
export interface Code {
  readonly digest: string
  readonly redirectUri: string
  /** Whether the authorization request had the parameter `redirect_uri`. */
  readonly redirectUriSent: boolean
  /**
   * How many redemptions by the client had the right code but a wrong redirection URI, or failed a check of an
   * extension, such as PKCE. After five failures, no redemption succeeds any more.
   */
  readonly failures: number
  readonly expiresAt: number
  /** The data for a second response to the same consent form; undefined without a form. */
  readonly repetition: Repetition | undefined
}

/** The data with which the server gives the same code again, if a browser sends the same decision again. */
export interface Repetition {
  /** The server derives the code from this salt and the consent token. */
  readonly salt: string
  readonly responseType: string
  /** The parameter `state` as received. The response repeats the parameter byte for byte (RFC 6749 4.1.2). */
  readonly requestState: string | undefined
}

/** The server has issued tokens. */
export interface Active extends Grant {
  readonly state: 'active'
  /** Digest of the consent token; undefined without a consent form. */
  readonly consentToken: string | undefined
  /** Digest of the redeemed code or handle, to recognize a replay. Undefined for a grant without either. */
  readonly spentCode: string | undefined
  /** At most 32 access tokens, the newest last. A token that has expired may stay until the next token comes. */
  readonly accessTokens: readonly AccessToken[]
  readonly refreshToken: RefreshToken | undefined
  /**
   * The end of the one-time use with which the authorization began, such as the use of an assertion. The record stays
   * until then. Revocation leaves the record without credentials. Undefined for a grant that uses nothing up.
   */
  readonly usedUntil: number | undefined
  /**
   * When the owner approved. Without a code, when the client asked for its first tokens. Undefined for a grant whose
   * client can get no more tokens, unless the server has an index, and in a record of an earlier form until its next
   * refresh.
   */
  readonly grantedAt?: number | undefined
}

/** An access token in the record. */
export interface AccessToken {
  /** Digest of the opaque text. It names the token, also if its client has another text. */
  readonly digest: string
  readonly scope: Scope
  readonly expiresAt: number
  /** The data that the token type needs to check a use of the token. The data is no credential. */
  readonly tokenData: Json | undefined
  /** The data of extensions for this token. Each extension keeps its data under its own name. */
  readonly extensionData: ExtensionData
  /** The `token_type` of the token; undefined if it is that of the authorization. */
  readonly tokenType?: string | undefined
  /** How the text of the token is made; undefined for an opaque text. */
  readonly formatted?: Formatted | undefined
}

/** An access token whose text a format of the server has written. */
export interface Formatted {
  /** The name of the format. No other format can read the token. */
  readonly format: string
  /** When the server issued the token. A repeated refresh writes the same time again. */
  readonly issuedAt: number
}

/** The current refresh token of the authorization. */
export interface RefreshToken {
  readonly digest: string
  /** Counts the rotations. The first refresh token has generation 0. */
  readonly generation: number
  /**
   * Key of the tags inside refresh tokens: 22 characters of base64url. A tag distinguishes an old refresh token of this
   * authorization from garbage.
   */
  readonly tagKey: string
  readonly expiresAt: number
  /**
   * The rotation that issued this refresh token, or the poll; undefined for the first one after a code, and without a
   * grace.
   */
  readonly rotation: Rotation | undefined
}

/** The data with which the server gives the tokens of the last rotation again. */
export interface Rotation {
  readonly at: number
  /** The server derives both tokens from this salt and the replaced refresh token, or the handle. */
  readonly salt: string
  /**
   * The members that the token type added to the response, encrypted with the replaced refresh token; undefined without
   * such members.
   */
  readonly sealedProperties: string | undefined
}

/**
 * The time at which the last credential of the authorization expires, or its one-time use if later. A store may drop
 * the record then.
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
      return Math.max(authorization.code.expiresAt, ...expiries(authorization.accessTokens))
    case 'active':
      return Math.max(
        authorization.refreshToken?.expiresAt ?? 0,
        authorization.usedUntil ?? 0,
        ...expiries(authorization.accessTokens),
      )
  }
}

function expiries(accessTokens: readonly AccessToken[]): readonly number[] {
  return accessTokens.map(({ expiresAt }) => expiresAt)
}
