import type { EventEmitter } from 'node:events'
import type { Scope } from '../protocol/scope'

/**
 * The part of the server that handled the request: `authorization`, `token`, `revocation`, `introspection` or the name
 * of another endpoint; `protected resource` for a guard; `host` for a call from the host's own code.
 */
export type EventOrigin = string

/**
 * The members of every event. An unknown member is undefined. No member holds a credential. Texts have at most 256
 * characters each, and no control characters.
 */
export interface AuditEvent {
  /** Milliseconds since the epoch, by the option `clock`. */
  readonly time: number
  readonly endpoint: EventOrigin
  /** The value of the header `X-Request-Id` of the response; undefined without a request. */
  readonly requestId: string | undefined
  /**
   * The client that the request names, proven or not; or else the client of the authorization. If no client is
   * registered under the name, the member holds the first 8 hexadecimal digits of the SHA-256 digest of the name,
   * because the name may be a misplaced secret.
   */
  readonly clientId: string | undefined
  /** The resource owner of the authorization that the request found or began. */
  readonly subject: string | undefined
  /** The IP address of the sender: `req.ip`, which depends on Express's setting `trust proxy`. */
  readonly address: string | undefined
  /** A stable word that says more than an error code; see `docs/errors.md`. */
  readonly reason: string | undefined
  /** The id of the authorization that the request found or began. */
  readonly authorizationId: string | undefined
  /**
   * A fingerprint that joins the events of one credential: the first 8 hexadecimal digits of its SHA-256 digest. The
   * credential is the code or access token that the server issued; or else the one that the request presented.
   */
  readonly credential: string | undefined
}

/** An authorization or credential began, or an authorization ended. */
export interface GrantEvent extends AuditEvent {
  /** The grant type of the token request. */
  readonly grantType: string | undefined
  /** The response type of the authorization request. */
  readonly responseType: string | undefined
  /** The scope of the access token; or else of the authorization. Undefined if the server found no record. */
  readonly scope: Scope | undefined
}

/** The server refused a request. */
export interface RefusalEvent extends AuditEvent {
  /** The error code that the client or the resource owner saw. */
  readonly code: string
  readonly reason: string
}

/** The server refused a request because too many similar requests came before. */
export interface ThrottleEvent extends RefusalEvent {
  /** Whole seconds until a new attempt is worth while, as in the header `Retry-After`. */
  readonly retryAfter: number
}

/** The server could not handle a request because its own side failed, such as a store or a function of the host. */
export interface FailureEvent extends RefusalEvent {
  /**
   * The error that caused the failure. For an error of a store: a copy with name, message, stack and codes
   * only, because database clients put whole commands into other properties. Every other error is unchanged, and may
   * hold anything that the host's code put there.
   */
  readonly cause: unknown
}

/** Every event, with the arguments of its listeners. `docs/events.md` explains the events. */
export interface AuditEvents {
  /** The resource owner approved, and the server issued a code. */
  readonly approved: [GrantEvent]
  /** The server issued tokens. */
  readonly issued: [GrantEvent]
  /** The server issued tokens for a refresh token. With the reason `repeated`: again the same response. */
  readonly refreshed: [GrantEvent]
  /** An authorization ended, and with it every credential that descends from it. */
  readonly revoked: [GrantEvent]
  /** The server or the resource owner refused a request. */
  readonly refused: [RefusalEvent]
  /** A client presented a code a second time. The event `revoked` follows. */
  readonly replayed: [RefusalEvent]
  /** A client presented a refresh token that an earlier rotation replaced. The event `revoked` follows. */
  readonly reused: [RefusalEvent]
  /** A request exceeded a limit. */
  readonly throttled: [ThrottleEvent]
  /** The server's own side failed, such as a store or a function of the host. */
  readonly failure: [FailureEvent]
  /** A client authenticated by a secret that a rotation has replaced. Comes in addition to the event of the outcome. */
  readonly oldSecretUsed: [AuditEvent]
}

/** The event emitter of a server or a guard: Node's `EventEmitter` with the types of {@link AuditEvents}. */
export type AuthorizationServerEvents = EventEmitter<{ [Name in keyof AuditEvents]: AuditEvents[Name] }>
