import type { EventEmitter } from 'node:events'
import type { Scope } from '../protocol/scope'

/**
 * The part that handled the request: `authorization`, `token`, `revocation`, `introspection` or another
 * endpoint; `protected resource` for a guard; `host` for a call of the host's own code.
 */
export type EventOrigin = string

/**
 * The members of every event. An unknown member is undefined. No member holds a credential. Texts have at
 * most 256 characters, none of them a control character.
 */
export interface AuditEvent {
  /** Milliseconds since the epoch, by the option `clock`. */
  readonly time: number
  readonly endpoint: EventOrigin
  /** The response header `X-Request-Id`; undefined without a request. */
  readonly requestId: string | undefined
  /**
   * The client that the request names, proven or not; or else that of the authorization. For an unregistered
   * name, the first 8 hexadecimal digits of its SHA-256 digest: the name may be a misplaced secret.
   */
  readonly clientId: string | undefined
  /** The owner of the authorization that the request found or began. */
  readonly subject: string | undefined
  /** `req.ip` of the sender, which depends on Express's `trust proxy`. */
  readonly address: string | undefined
  /** A stable word, finer than an error code; see `docs/errors.md`. */
  readonly reason: string | undefined
  /** The authorization that the request found or began. */
  readonly authorizationId: string | undefined
  /**
   * Joins the events of one credential: the first 8 hexadecimal digits of its SHA-256 digest. The credential
   * is the issued code or access token; or else the presented one.
   */
  readonly credential: string | undefined
}

/** An authorization or credential began, or an authorization ended. */
export interface GrantEvent extends AuditEvent {
  readonly grantType: string | undefined
  readonly responseType: string | undefined
  /** Of the access token; or else of the authorization. Undefined if the server found no record. */
  readonly scope: Scope | undefined
}

export interface RefusalEvent extends AuditEvent {
  /** The code that the client or the resource owner saw. */
  readonly code: string
  readonly reason: string
}

/** Too many similar requests came before. */
export interface ThrottleEvent extends RefusalEvent {
  /** Whole seconds until a new attempt is worth while, as in `Retry-After`. */
  readonly retryAfter: number
}

/** The server's own side failed, such as a store or a function of the host. */
export interface FailureEvent extends RefusalEvent {
  /**
   * For an error of a store: a copy with name, message, stack and codes only, because database clients put
   * whole commands into other properties. Every other error is unchanged, and may hold anything that the
   * host's code put there.
   */
  readonly cause: unknown
}

/** Every event, with the arguments of its listeners; see `docs/events.md`. */
export interface AuditEvents {
  /** The resource owner approved, and the server issued a code. */
  readonly approved: [GrantEvent]
  readonly issued: [GrantEvent]
  /** The server issued tokens for a refresh token. With the reason `repeated`: the same response again. */
  readonly refreshed: [GrantEvent]
  /** An authorization ended, with every credential that descends from it. */
  readonly revoked: [GrantEvent]
  /** The server or the resource owner refused a request. */
  readonly refused: [RefusalEvent]
  /** A code came a second time. The event `revoked` follows. */
  readonly replayed: [RefusalEvent]
  /** A refresh token that an earlier rotation replaced came again. The event `revoked` follows. */
  readonly reused: [RefusalEvent]
  readonly throttled: [ThrottleEvent]
  /** The server's own side failed. */
  readonly failure: [FailureEvent]
  /**
   * A client authenticated by a secret that a rotation has replaced. Comes besides the event of the outcome.
   */
  readonly oldSecretUsed: [AuditEvent]
}

/** Node's `EventEmitter` of a server or a guard, with the types of {@link AuditEvents}. */
export type AuthorizationServerEvents = EventEmitter<{ [Name in keyof AuditEvents]: AuditEvents[Name] }>
