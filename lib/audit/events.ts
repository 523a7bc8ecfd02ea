import type { EventEmitter } from 'node:events'
import type { Scope } from '../protocol/scope'

/**
 * `authorization`, `token`, `revocation`, `introspection` or another endpoint; `protected resource` for a guard; `host`
 * for a call of the host's own code.
 */
export type EventOrigin = string

/**
 * An unknown member is undefined. No member holds a credential. Texts have at most 256 characters, and no control
 * characters.
 */
export interface AuditEvent {
  /** Milliseconds since the epoch, by the option `clock`. */
  readonly time: number
  readonly endpoint: EventOrigin
  /** `X-Request-Id` of the response; undefined without a request. */
  readonly requestId: string | undefined
  /**
   * As the request names it, proven or not; or else of the authorization. For an unregistered name, which may be a
   * misplaced secret, the first 8 hexadecimal digits of its SHA-256 digest.
   */
  readonly clientId: string | undefined
  /** Of the authorization that the request found or began. */
  readonly subject: string | undefined
  /** `req.ip`, which depends on Express's `trust proxy`. */
  readonly address: string | undefined
  /** A stable word, finer than an error code; see `docs/errors.md`. */
  readonly reason: string | undefined
  /** Found or begun by the request. */
  readonly authorizationId: string | undefined
  /**
   * Joins the events of one credential, issued or else presented: the first 8 hexadecimal digits of its SHA-256 digest.
   */
  readonly credential: string | undefined
}

export interface GrantEvent extends AuditEvent {
  readonly grantType: string | undefined
  readonly responseType: string | undefined
  /** Of the access token, or else of the authorization. Undefined without a record. */
  readonly scope: Scope | undefined
}

export interface RefusalEvent extends AuditEvent {
  /** As the client or the resource owner saw it. */
  readonly code: string
  readonly reason: string
}

export interface ThrottleEvent extends RefusalEvent {
  /** Whole seconds until a new attempt is worth while, as in `Retry-After`. */
  readonly retryAfter: number
}

/** The server's own side failed, such as a store. */
export interface FailureEvent extends RefusalEvent {
  /**
   * An error of a store has name, message, stack and codes only: database clients put whole commands into other
   * properties. Every other error may hold anything that the host's code put there.
   */
  readonly cause: unknown
}

/** Every event, with the arguments of its listeners; see `docs/events.md`. */
export interface AuditEvents {
  /** The resource owner approved, and the server issued a code. */
  readonly approved: [GrantEvent]
  readonly issued: [GrantEvent]
  /** For a refresh token. With the reason `repeated`: the same response again. */
  readonly refreshed: [GrantEvent]
  /** An authorization ended, with every credential of it. */
  readonly revoked: [GrantEvent]
  /** The server or the resource owner refused a request. */
  readonly refused: [RefusalEvent]
  /** A code came a second time. `revoked` follows. */
  readonly replayed: [RefusalEvent]
  /** A rotated refresh token came again. `revoked` follows. */
  readonly reused: [RefusalEvent]
  readonly throttled: [ThrottleEvent]
  readonly failure: [FailureEvent]
  /** A secret that a rotation has replaced. Comes besides the event of the outcome. */
  readonly oldSecretUsed: [AuditEvent]
}

/** Node's `EventEmitter`, with types. */
export type AuthorizationServerEvents = EventEmitter<{ [Name in keyof AuditEvents]: AuditEvents[Name] }>
