import { EventEmitter } from 'node:events'
import { inspect } from 'node:util'
import type { Request, Response } from 'express'
import type { Authorization } from '../authorization/authorization'
import { type TransitionEvent, revocationEvent } from '../authorization/transition-event'
import type { CommittedTransition, OnCommitted } from '../authorization/transition'
import { nameRequest, requestIdOf } from './request-id'
import { digest } from '../protocol/credential'
import { bareError, type OAuthError, Throttled } from '../protocol/oauth-error'
import type { GuardedAccess } from '../resource-server/admit'
import { tellTap } from './testing-door'
import { warnOnce } from './warning'
import type { AuditEvent, AuditEvents, AuthorizationServerEvents, EventOrigin, RefusalEvent } from './events'
import { credentialFingerprint, fingerprintOfDigest, plainOrAbsent, plainText } from './redaction'

/** A request and what answers it. */
export interface AuditedRequest {
  readonly request: Request
  readonly response: Response
  readonly endpoint: EventOrigin
  /** The client that asks, as far as the endpoint knows it. */
  readonly clientId?: string | undefined
}

/** Where an event comes from. */
interface Origin {
  readonly endpoint: EventOrigin
  readonly requestId: string | undefined
  readonly address: string | undefined
  readonly clientId: string | undefined
}

/** A refusal as events tell it; errors of the framework are such, and those of a guard. */
interface Refusal {
  readonly code: string
  readonly reason: string
}

/** Makes known what became of requests: in events, under the id that the answer carries. */
export class AuditLog {
  readonly events: AuthorizationServerEvents = new EventEmitter()

  /** @param clock milliseconds since the epoch. @param notesOf what is known of a request; it must reach no answer. */
  constructor(
    private readonly clock: () => number,
    private readonly notesOf: (request: Request) => AuditNotes,
  ) {}

  /** Whether anybody listens to the event. */
  hears(name: keyof AuditEvents): boolean {
    return this.events.listenerCount(name) > 0
  }

  /** Keeps something of a request for its events. */
  note(request: Request, known: Partial<AuditNotes>): void {
    Object.assign(this.notesOf(request), known)
  }

  /** Keeps the transition that a request leads to. */
  onCommitted(request: Request): OnCommitted {
    return (committed) => this.note(request, { committed })
  }

  /**
   * Reports what became of a request that went well; of one that changed nothing there is nothing to tell. Returns the id of
   * the request, which the answer is to carry: one is made for listeners alone.
   */
  reportSuccess(asked: AuditedRequest): string | undefined {
    const known = this.notesOf(asked.request)
    const event = known.committed?.event
    if (event === undefined || !this.hears(event.name)) return undefined
    const origin = this.originOf(asked, requestIdOf(asked.request, asked.response))
    this.tellGrant(event, origin, known)
    return origin.requestId
  }

  /** Reports an error of the framework; see {@link reportRefusal}. */
  reportError(asked: AuditedRequest, error: OAuthError): string {
    return this.reportRefusal(asked, error, errorEventOf(error))
  }

  /** Reports a refusal or a failure, names the request in the header of the answer, and returns that name. */
  reportRefusal(
    asked: AuditedRequest,
    { code, reason }: Refusal,
    told: ErrorEventMembers = { event: 'refused' },
  ): string {
    const origin = this.originOf(asked)
    const known = this.notesOf(asked.request)
    tellTap({ requestId: origin.requestId, code, reason })
    if (this.hears(told.event))
      this.tellRefusal(told, Object.assign(this.common(origin, known), { reason: plainText(reason), code }))
    else if (told.event === 'failure') warnOfFailure(reason, told.cause)
    // One transition can both refuse and revoke.
    const event = known.committed?.event
    if (event?.name === 'revoked') this.tellGrant(event, origin, known)
    return origin.requestId
  }

  /** Reports that a client used an old secret. */
  reportOldSecret(asked: AuditedRequest): void {
    if (this.hears('oldSecretUsed'))
      this.tell('oldSecretUsed', this.common(this.originOf(asked), this.notesOf(asked.request)))
  }

  /** Reports that the host's own code revoked an authorization. @param found undefined when it could not be read. */
  reportHostRevocation(authorizationId: string, found: Authorization | undefined): void {
    const origin = {
      endpoint: 'host',
      requestId: undefined,
      address: undefined,
      clientId: undefined,
    } as const
    const event = revocationEvent(found, 'host')
    const committed = found && { authorization: found, event }
    this.tellGrant(event, origin, { ...noNotes(), committed, authorizationId })
  }

  private tellGrant(
    { name, digest: issued, scope, reason, responseType }: TransitionEvent,
    origin: Origin,
    known: AuditNotes,
  ): void {
    if (!this.hears(name)) return
    const credential = issued === undefined ? undefined : fingerprintOfDigest(issued)
    const granted = { reason, grantType: plainOrAbsent(known.grantType), responseType, scope }
    this.tell(name, Object.assign(this.common(origin, known, credential), granted))
  }

  private common(
    { endpoint, requestId, address, clientId }: Origin,
    known: AuditNotes,
    credential = credentialFingerprint(known.shown),
  ): AuditEvent {
    const concern = authorizationOfNotes(known)
    return {
      time: this.clock(),
      endpoint,
      requestId,
      clientId: plainOrAbsent(clientId ?? claimedClientOf(known) ?? concern.clientId),
      subject: plainOrAbsent(concern.subject),
      address: plainOrAbsent(address),
      reason: undefined,
      authorizationId: plainOrAbsent(concern.authorizationId),
      credential,
    }
  }

  private tellRefusal(told: ErrorEventMembers, refusal: RefusalEvent): void {
    if (told.event === 'throttled')
      this.tell('throttled', Object.assign(refusal, { retryAfter: told.retryAfter }))
    else if (told.event === 'failure') this.tell('failure', Object.assign(refusal, { cause: told.cause }))
    else this.tell(told.event, refusal)
  }

  private tell<Name extends keyof AuditEvents>(name: Name, event: AuditEvents[Name][0]): void {
    tellListeners(this.events, name, event)
  }

  private originOf(
    { request, response, endpoint, clientId }: AuditedRequest,
    requestId = nameRequest(request, response),
  ) {
    return { endpoint, requestId, address: request.ip, clientId }
  }
}

/** Warns of each fault once: what broke first says nothing of what breaks next. */
function warnOfFailure(reason: string, cause: unknown): void {
  const bare = bareError(cause)
  warnOnce(
    'EAS_FAILURE',
    `${reason}: ${inspect(bare)}. Listen to oauth.events for 'failure'.`,
    `${reason} ${bare.name} ${bare.message}`,
  )
}

/** What is known of a request beside its answer, for its events alone. */
export interface AuditNotes {
  committed: CommittedTransition | undefined
  /** What its access token stands for. */
  access: GuardedAccess | undefined
  authorizationId: string | undefined
  /** The credential that it showed. */
  shown: string | undefined
  grantType: string | undefined
  /** The client that it names. */
  claimedClientId: string | undefined
  /** Whether that client is registered: only then the name may be told, which else may be a secret in the wrong place. */
  isRegistered: boolean
}

/** Nothing yet, with a place for all: objects of one shape are quicker to fill. */
export const noNotes = (): AuditNotes => ({
  committed: undefined,
  access: undefined,
  authorizationId: undefined,
  shown: undefined,
  grantType: undefined,
  claimedClientId: undefined,
  isRegistered: false,
})

/** Whose authorization a request came upon; undefined what is not known of it. */
export interface AuditedAuthorization {
  readonly authorizationId: string | undefined
  readonly clientId: string | undefined
  readonly subject: string | undefined
}

export function authorizationOfNotes({
  committed,
  access,
  authorizationId,
}: AuditNotes): AuditedAuthorization {
  const record = committed?.authorization
  const { clientId, subject } = record !== undefined && 'clientId' in record ? record : (access ?? nobody)
  return { authorizationId: record?.id ?? access?.authorizationId ?? authorizationId, clientId, subject }
}

const nobody = { clientId: undefined, subject: undefined }

/** The client that a request names, as an event tells it: 8 digits of its digest unless it is registered. */
export function claimedClientOf({ claimedClientId, isRegistered }: AuditNotes): string | undefined {
  if (claimedClientId === undefined || isRegistered) return claimedClientId
  return fingerprintOfDigest(digest(claimedClientId))
}

/** Which event tells of an error, and the members that it has beside those of a refusal. */
export type ErrorEventMembers =
  | { readonly event: 'refused' | 'replayed' | 'reused' }
  | { readonly event: 'throttled'; readonly retryAfter: number }
  | { readonly event: 'failure'; readonly cause: unknown }

// RFC 6749 4.1.2 and RFC 9700 4.14.2: each is a sign of theft, and worth an alarm of its own.
const signsOfTheft: ReadonlyMap<string, 'replayed' | 'reused'> = new Map([
  ['code_replayed', 'replayed'],
  ['refresh_token_reused', 'reused'],
])

export function errorEventOf(error: OAuthError): ErrorEventMembers {
  const { code, reason, cause } = error
  if (error instanceof Throttled) return { event: 'throttled', retryAfter: error.retryAfter }
  // A refusal may have a cause, too, such as what a parser said of the request; maintenance has none.
  if (code === 'server_error' || (code === 'temporarily_unavailable' && cause !== undefined))
    return { event: 'failure', cause: cause ?? error }
  return { event: signsOfTheft.get(reason) ?? 'refused' }
}

/**
 * Tells every listener, each by itself: one that throws, or whose promise rejects, harms neither the answer nor the other
 * listeners, and is told of by a warning.
 */
export function tellListeners(events: EventEmitter, name: string, event: object): void {
  Object.freeze(event)
  // `emit` would end at the first one that throws. The raw ones, so that those of `once` take themselves away.
  for (const listener of events.rawListeners(name))
    try {
      const outcome: unknown = Reflect.apply(listener, events, [event])
      if (outcome instanceof Promise) outcome.catch((thrown: unknown) => warn(name, thrown))
    } catch (thrown) {
      warn(name, thrown)
    }
}

function warn(name: string, thrown: unknown): void {
  warnOnce(
    'EAS_EVENT_LISTENER',
    `A listener of the event '${name}' failed: ${inspect(bareError(thrown))}. The answer does not wait for listeners.`,
    `EAS_EVENT_LISTENER ${name}`,
  )
}
