import type { EventEmitter } from 'node:events'
import type { Scope } from '../protocol/scope'

/**
 * The part that was asked: `authorization`, `token`, `revocation`, `introspection` or another endpoint by its name,
 * `protected resource` for a guard, and `host` for a call of the host's own code.
 */
export type EventOrigin = string

/**
 * What every event tells; a member that is not known is undefined. It holds no credential, and its texts have no control
 * characters and at most 256 characters each.
 */
export interface AuditEvent {
  /** Milliseconds since the epoch, by the option `clock`. */
  readonly time: number
  readonly endpoint: EventOrigin
  /** The value of the `X-Request-Id` header of the answer; undefined without a request. */
  readonly requestId: string | undefined
  /**
   * The client that asked, or claimed to; proven or not. Of the authorization, where no client asked. Instead of a name
   * that no client is registered under: the first 8 hexadecimal digits of its SHA-256 digest.
   */
  readonly clientId: string | undefined
  /** The resource owner of the authorization that was found. */
  readonly subject: string | undefined
  /** Where the request came from, by the host's `trust proxy`. */
  readonly address: string | undefined
  /** A stable word, finer than an error code. */
  readonly reason: string | undefined
  /** The authorization that was found, or began. */
  readonly authorizationId: string | undefined
  /**
   * The first 8 hexadecimal digits of the SHA-256 digest of the code or access token that was issued or, where none was,
   * of the credential that the request showed: it joins what concerns one credential.
   */
  readonly credential: string | undefined
}

/** Something came into being or ended. */
export interface GrantEvent extends AuditEvent {
  /** Of the token request. */
  readonly grantType: string | undefined
  /** Of the authorization request. */
  readonly responseType: string | undefined
  /** Of the access token, or of the whole authorization; undefined where its record was not found. */
  readonly scope: Scope | undefined
}

/** A request was refused. */
export interface RefusalEvent extends AuditEvent {
  /** The error code that the client or the resource owner saw. */
  readonly code: string
  readonly reason: string
}

/** A request was refused because there were too many like it. */
export interface ThrottleEvent extends RefusalEvent {
  /** Whole seconds, as in `Retry-After`. */
  readonly retryAfter: number
}

/** A request could not be answered because something broke on this side. */
export interface FailureEvent extends RefusalEvent {
  /**
   * What was thrown. Trouble of a store: a copy that has name, message, stack and codes, and no other properties. Everything
   * else as it is: it may hold whatever the host's own code put into it.
   */
  readonly cause: unknown
}

/** Every event and what its listeners get; `docs/events.md` explains them. */
export interface AuditEvents {
  /** The resource owner approved, and a code was issued. */
  readonly approved: [GrantEvent]
  /** Tokens were issued. */
  readonly issued: [GrantEvent]
  /** Tokens were issued for a refresh token; again, with the reason `repeated`. */
  readonly refreshed: [GrantEvent]
  /** An authorization ended, and every credential that descends from it. */
  readonly revoked: [GrantEvent]
  /** A request was refused, by rule or by the resource owner. */
  readonly refused: [RefusalEvent]
  /** A code came a second time; `revoked` follows. */
  readonly replayed: [RefusalEvent]
  /** A refresh token came that was rotated out before; `revoked` follows. */
  readonly reused: [RefusalEvent]
  /** A request was over a limit. */
  readonly throttled: [ThrottleEvent]
  /** Something broke on this side. */
  readonly failure: [FailureEvent]
  /** A client authenticated by a secret that its rotation has left behind; beside the event of the outcome. */
  readonly oldSecretUsed: [AuditEvent]
}

/** The events of a server or a guard. */
export type AuthorizationServerEvents = EventEmitter<{ [Name in keyof AuditEvents]: AuditEvents[Name] }>
