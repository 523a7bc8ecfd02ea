import type { EventEmitter } from 'node:events'
import type { Scope } from '../protocol/scope'

/** @see AuditEvent.endpoint */
export type EventOrigin = string

/**
 * An unknown member is undefined. No member holds a credential. Texts have at most 256 characters, and no control
 * characters.
 */
export interface AuditEvent {
  /** Milliseconds since the epoch, by the option `clock`. */
  readonly time: number
  /**
   * `authorization`, `token`, `revocation`, `introspection` or another endpoint; `protected resource` for a guard;
   * `host` for `oauth.revoke()`; `back_channel_logout`.
   */
  readonly endpoint: EventOrigin
  /** `X-Request-Id` of the response. An id that the host sets before, there or as `req.id`, stays. */
  readonly requestId: string | undefined
  /**
   * As the request names it, proven or not; or else of the authorization. For an unknown name that is no URL of a
   * document, and may be a misplaced secret: the first 8 hexadecimal digits of its SHA-256 digest.
   */
  readonly clientId: string | undefined
  /** The resource owner of the authorization. */
  readonly subject: string | undefined
  /** `req.ip`, without a port. Behind a proxy, set Express's `trust proxy`. */
  readonly address: string | undefined
  /**
   * A stable word, finer than an error code.
   *
   * @see docs/errors.md
   */
  readonly reason: string | undefined
  /** The authorization that the request found or began, for `oauth.revoke()`. */
  readonly authorizationId: string | undefined
  /**
   * Joins the events of one credential, issued or else presented: the first 8 hexadecimal digits of its SHA-256 digest.
   */
  readonly credential: string | undefined
}

export interface GrantEvent extends AuditEvent {
  /** Of the token request: never of `approved`. */
  readonly grantType: string | undefined
  /** Of the authorization request: only of `approved` and `issued`. */
  readonly responseType: string | undefined
  /** Of the access token, or else of the authorization. */
  readonly scope: Scope | undefined
}

export interface RefusalEvent extends AuditEvent {
  /** The error code of the response. */
  readonly code: string
  readonly reason: string
}

export interface ThrottleEvent extends RefusalEvent {
  /** Seconds, as in `Retry-After`. */
  readonly retryAfter: number
}

/** The server's own side failed, such as a store. */
export interface FailureEvent extends RefusalEvent {
  /**
   * The error thrown; for an error of a store, a copy with name, message, stack and codes alone.
   */
  readonly cause: unknown
}

/** Every event, with the arguments of its listeners; see `docs/events.md`. */
export interface AuditEvents {
  /**
   * The resource owner approved, and the server issued a code. Reason: none, or `repeated`: the same form came again
   * and got the same code.
   */
  readonly approved: [GrantEvent]
  /** The token endpoint issued tokens, or the authorization endpoint a token. */
  readonly issued: [GrantEvent]
  /**
   * The server issued tokens for a refresh token. Reason: none, or `repeated`: the same response again, within the
   * grace.
   */
  readonly refreshed: [GrantEvent]
  /**
   * An authorization ended, with every code and token of it. Reason: `client`, `host`, `code_replayed`,
   * `refresh_token_reused`, `grant_expired` or `no_longer_allowed`.
   */
  readonly revoked: [GrantEvent]
  /** The server refused a request, or the resource owner denied it (`owner_denied`). */
  readonly refused: [RefusalEvent]
  /** A code came a second time. A thief may have it. `revoked` follows. Reason: `code_replayed`. */
  readonly replayed: [RefusalEvent]
  /**
   * A rotated refresh token came after the grace. A thief may have it. `revoked` follows. Reason:
   * `refresh_token_reused`.
   */
  readonly reused: [RefusalEvent]
  /** Status 429: a request exceeded a limit. */
  readonly throttled: [ThrottleEvent]
  /** A store or a function of the host failed. */
  readonly failure: [FailureEvent]
  /** A client used a secret that a rotation has replaced; comes besides another event. */
  readonly oldSecretUsed: [AuditEvent]
}

/** Node's `EventEmitter`, with types. */
export type AuthorizationServerEvents = EventEmitter<{ [Name in keyof AuditEvents]: AuditEvents[Name] }>
