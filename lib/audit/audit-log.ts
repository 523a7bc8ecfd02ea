import { EventEmitter } from 'node:events'
import { inspect } from 'node:util'
import type { Request, Response } from 'express'
import type { Authorization } from '../authorization/authorization'
import { type CommittedTransition, revocationEvent, type TransitionEvent } from '../authorization/transition'
import { digest, secureRandom } from '../protocol/credential'
import { bareError, type Observed, type OAuthError, Throttled } from '../protocol/oauth-error'
import { rowOf } from '../protocol/refusals'
import { withoutPort } from '../protocol/sender'
import type { Diagnosis } from './diagnosis'
import { emitToTap } from '../protocol/test-door'
import { warnOnce } from './warning'
import type { AuditEvent, AuditEvents, AuthorizationServerEvents, EventOrigin, RefusalEvent } from './events'
import { credentialFingerprint, fingerprintOfDigest, hexOf, plainOrAbsent, plainText } from './redaction'

interface AuditedRequest extends AuditNotes {
  readonly request: Request
  readonly response: Response
  readonly endpoint: EventOrigin
  readonly clientId: string | undefined
}

interface Origin {
  readonly endpoint: EventOrigin
  readonly requestId: string | undefined
  readonly address: string | undefined
  readonly clientId: string | undefined
}

interface Refusal {
  readonly code: string
  readonly reason: string
  readonly description?: string | undefined
  /** A function takes a second look, for the explanation alone. */
  readonly observed?: Observed | (() => Promise<Observed>) | undefined
}

export class AuditLog {
  readonly events: AuthorizationServerEvents = new EventEmitter()

  constructor(
    private readonly clock: () => number,
    readonly diagnosis?: Diagnosis,
  ) {}

  hasListener(name: keyof AuditEvents): boolean {
    return this.events.listenerCount(name) > 0
  }

  /** Returns the request id for the response; undefined if no listener heard an event. */
  reportSuccess(asked: AuditedRequest): string | undefined {
    const event = asked.committed?.event
    if (event === undefined || !this.hasListener(event.name)) return undefined
    const origin = originOf(asked, requestIdOf(asked.request, asked.response))
    this.tellGrant(event, origin, asked)
    return origin.requestId
  }

  reportError(asked: AuditedRequest, error: OAuthError, look?: () => Promise<Observed>): string {
    const { code, reason, description } = error
    const refusal = { code, reason, description, observed: look ?? error.observed }
    return this.reportRefusal(asked, refusal, errorEventOf(error))
  }

  /** Sets the request id as a header of the response, and returns it. */
  reportRefusal(
    asked: AuditedRequest,
    refusal: Refusal,
    members: ErrorEventMembers = { event: 'refused' },
  ): string {
    const { code, reason } = refusal
    const origin = originOf(asked)
    emitToTap({ requestId: origin.requestId, code, reason })
    if (this.diagnosis !== undefined && members.event !== 'failure')
      this.diagnose(this.diagnosis, refusal, origin, asked)
    if (this.hasListener(members.event))
      this.tellRefusal(
        members,
        Object.assign(this.common(origin, asked), { reason: plainText(reason), code }),
      )
    else if (members.event === 'failure') warnOfFailure(reason, members.cause)
    // A transition can both refuse and revoke, as a replay does.
    const event = asked.committed?.event
    if (event?.name === 'revoked') this.tellGrant(event, origin, asked)
    return origin.requestId
  }

  private diagnose(
    diagnosis: Diagnosis,
    { code, reason, description, observed }: Refusal,
    { endpoint, clientId }: Origin,
    known: AuditNotes,
  ): void {
    const client = clientId ?? claimedClientOf(known) ?? authorizationOfNotes(known).clientId
    const refusal = { endpoint, code, reason, description, clientId: plainOrAbsent(client) }
    if (typeof observed === 'function') diagnosis.explainAfter(refusal, observed)
    else diagnosis.explain({ ...refusal, observed })
  }

  reportOldSecret(asked: AuditedRequest): void {
    if (this.hasListener('oldSecretUsed')) this.tell('oldSecretUsed', this.common(originOf(asked), asked))
  }

  reportHostRevocation(authorizationId: string, found: Authorization | undefined): void {
    const origin = {
      endpoint: 'host',
      requestId: undefined,
      address: undefined,
      clientId: undefined,
    } as const
    const event = revocationEvent(found, 'host')
    const committed = found && { authorization: found, event }
    this.tellGrant(event, origin, { ...noNotes, committed, authorizationId })
  }

  reportLateFailure(
    { endpoint, clientId, subject }: Pick<AuditEvent, 'endpoint' | 'clientId' | 'subject'>,
    reason: string,
    cause: unknown,
  ): void {
    const event = 'failure'
    if (!this.hasListener(event)) return warnOfFailure(reason, cause)
    const origin = { endpoint, requestId: undefined, address: undefined, clientId }
    const members = {
      subject: plainOrAbsent(subject),
      reason: plainText(reason),
      code: 'temporarily_unavailable',
    }
    this.tellRefusal({ event, cause }, Object.assign(this.common(origin, noNotes), members))
  }

  private tellGrant(
    { name, digest: issued, scope, reason, responseType }: TransitionEvent,
    origin: Origin,
    known: AuditNotes,
  ): void {
    if (!this.hasListener(name)) return
    const credential = issued === undefined ? undefined : fingerprintOfDigest(issued)
    const granted = { reason, grantType: plainOrAbsent(known.grantType), responseType, scope }
    this.tell(name, Object.assign(this.common(origin, known, credential), granted))
  }

  private common(
    { endpoint, requestId, address, clientId }: Origin,
    known: AuditNotes,
    credential = credentialFingerprint(known.shown),
  ): AuditEvent {
    const authorization = authorizationOfNotes(known)
    return {
      time: this.clock(),
      endpoint,
      requestId,
      clientId: plainOrAbsent(clientId ?? claimedClientOf(known) ?? authorization.clientId),
      subject: plainOrAbsent(authorization.subject),
      address: plainOrAbsent(address && withoutPort(address)),
      reason: undefined,
      authorizationId: plainOrAbsent(authorization.authorizationId),
      credential,
    }
  }

  private tellRefusal(members: ErrorEventMembers, refusal: RefusalEvent): void {
    if (members.event === 'throttled')
      this.tell('throttled', Object.assign(refusal, { retryAfter: members.retryAfter }))
    else if (members.event === 'failure')
      this.tell('failure', Object.assign(refusal, { cause: members.cause }))
    else this.tell(members.event, refusal)
  }

  private tell<Name extends keyof AuditEvents>(name: Name, event: AuditEvents[Name][0]): void {
    emitToListeners(this.events, name, event)
  }
}

function originOf(
  { request, response, endpoint, clientId }: AuditedRequest,
  requestId = nameRequest(request, response),
) {
  return { endpoint, requestId, address: request.ip, clientId }
}

/** Once for each reason, name and message, so the first fault does not hide the next. */
function warnOfFailure(reason: string, cause: unknown): void {
  const bare = bareError(cause)
  const { cure = 'Read the cause.' } = rowOf(reason) ?? {}
  warnOnce(
    'EAS_FAILURE',
    `${reason}: ${inspect(bare)}. ${cure} Listen for 'failure' at oauth.events, or at events of the guard.`,
    `${reason} ${bare.name} ${bare.message}`,
  )
}

/** For events alone, never for the response. */
export interface AuditNotes {
  readonly committed: CommittedTransition | undefined
  readonly access?: Partial<AuditedAuthorization> | undefined
  readonly authorizationId?: string
  readonly shown: string | undefined
  readonly grantType: string | undefined
  /** Proven or not. */
  readonly claimedClientId: string | undefined
  /** An unregistered identifier may be a misplaced secret, which no event may hold. */
  readonly isRegistered: boolean
}

export const noNotes: AuditNotes = {
  committed: undefined,
  shown: undefined,
  grantType: undefined,
  claimedClientId: undefined,
  isRegistered: false,
}

interface AuditedAuthorization {
  readonly authorizationId: string | undefined
  readonly clientId: string | undefined
  readonly subject: string | undefined
}

function authorizationOfNotes({ committed, access, authorizationId }: AuditNotes): AuditedAuthorization {
  const record = committed?.authorization
  const { clientId, subject } = record ?? access ?? noNames
  return { authorizationId: record?.id ?? access?.authorizationId ?? authorizationId, clientId, subject }
}

const noNames = { clientId: undefined, subject: undefined }

/** Of an unregistered client, 8 hexadecimal digits of the digest. */
function claimedClientOf({ claimedClientId, isRegistered }: AuditNotes): string | undefined {
  if (claimedClientId === undefined || isRegistered) return claimedClientId
  return fingerprintOfDigest(digest(claimedClientId))
}

type ErrorEventMembers =
  | { readonly event: 'refused' | 'replayed' | 'reused' }
  | { readonly event: 'throttled'; readonly retryAfter: number }
  | { readonly event: 'failure'; readonly cause: unknown }

// RFC 6749 4.1.2, RFC 9700 4.14.2: signs of theft have their own events, for alarms.
const signsOfTheft: ReadonlyMap<string, 'replayed' | 'reused'> = new Map([
  ['code_replayed', 'replayed'],
  ['refresh_token_reused', 'reused'],
])

function errorEventOf(error: OAuthError): ErrorEventMembers {
  const { code, reason, cause } = error
  if (error instanceof Throttled) return { event: 'throttled', retryAfter: error.retryAfter }
  // A refusal may have a cause, such as a parser error. Maintenance has none.
  if (code === 'server_error' || (code === 'temporarily_unavailable' && cause !== undefined))
    return { event: 'failure', cause: cause ?? error }
  return { event: signsOfTheft.get(reason) ?? 'refused' }
}

/** A listener that throws or rejects causes a warning, and changes neither the response nor other listeners. */
function emitToListeners(events: EventEmitter, name: string, event: object): void {
  Object.freeze(event)
  // `emit` would stop at the first listener that throws. Raw listeners of `once` remove themselves.
  for (const listener of events.rawListeners(name))
    try {
      const outcome: unknown = listener.call(events, event)
      if (outcome instanceof Promise) outcome.catch((thrown: unknown) => warn(name, thrown))
    } catch (thrown) {
      warn(name, thrown)
    }
}

function warn(name: string, thrown: unknown): void {
  warnOnce(
    'EAS_EVENT_LISTENER',
    `A listener of the event '${name}' failed: ${inspect(bareError(thrown))}. The response does not depend on listeners.`,
    `EAS_EVENT_LISTENER ${name}`,
  )
}

export const requestIdName = 'X-Request-Id'

function nameRequest(request: Request, response: Response): string {
  const requestId = requestIdOf(request, response)
  carryRequestId(response, requestId)
  return requestId
}

export function carryRequestId(response: Response, requestId: string | undefined): void {
  if (requestId !== undefined && !response.headersSent) response.setHeader(requestIdName, requestId)
}

/** The host's id, or a random one. */
function requestIdOf(request: Request, response: Response): string {
  const given = response.getHeader(requestIdName)
  // Printable ASCII only: a host may echo a client's header, whose C1 controls terminals obey.
  if (typeof given === 'string' && /^[\x20-\x7E]{1,256}$/.test(given)) return given
  if ('id' in request && typeof request.id === 'string' && /^[\w.:-]{1,128}$/.test(request.id))
    return request.id
  return hexOf(secureRandom(11))
}
