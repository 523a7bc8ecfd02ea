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

type Origin = Pick<AuditEvent, 'endpoint' | 'requestId' | 'address' | 'clientId'>
type Refusal = Pick<RefusalEvent, 'code' | 'reason'>

export class AuditLog {
  readonly events: AuthorizationServerEvents = new EventEmitter()

  constructor(
    private readonly clock: () => number,
    readonly diagnosis?: Diagnosis,
  ) {}

  private hasListener(name: keyof AuditEvents): boolean {
    return this.events.listenerCount(name) > 0
  }

  // Undefined if no listener heard an event.
  reportSuccess(asked: AuditedRequest): string | undefined {
    const event = asked.committed?.event
    if (event === undefined || !this.hasListener(event.name)) return undefined
    const origin = originOf(asked)
    this.tellGrant(event, origin, asked)
    return origin.requestId
  }

  // `look`: a second look, for the explanation.
  reportError(asked: AuditedRequest, error: OAuthError, look?: () => Promise<Observed>): string {
    const { code, reason } = error
    const origin = originOf(asked)
    const { requestId } = origin
    carryRequestId(asked.response, requestId)
    emitToTap({ requestId, code, reason })
    const cause = causeOfFailure(error)
    if (cause === undefined) this.tellRefusal(error, origin, asked, look)
    else this.tellFailure(error, cause, origin, asked)
    // A replay both refuses and revokes.
    const event = asked.committed?.event
    if (event?.name === 'revoked') this.tellGrant(event, origin, asked)
    return requestId
  }

  reportOldSecret(asked: AuditedRequest): void {
    if (!this.hasListener('oldSecretUsed')) return
    const origin = originOf(asked)
    carryRequestId(asked.response, origin.requestId)
    this.tell('oldSecretUsed', this.common(origin, asked))
  }

  reportHostRevocation(authorizationId: string, found: Authorization | undefined): void {
    const event = revocationEvent(found, 'host')
    const committed = found && { authorization: found, event }
    this.tellGrant(event, withoutRequest('host'), { ...noNotes, committed, authorizationId })
  }

  reportLateFailure(
    { endpoint, clientId, subject }: Pick<AuditEvent, 'endpoint' | 'clientId' | 'subject'>,
    reason: string,
    cause: unknown,
  ): void {
    const refusal = { code: 'temporarily_unavailable', reason }
    this.tellFailure(refusal, cause, withoutRequest(endpoint, clientId), { ...noNotes, access: { subject } })
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

  private tellRefusal(
    error: OAuthError,
    origin: Origin,
    known: AuditNotes,
    look: (() => Promise<Observed>) | undefined,
  ): void {
    const { code, reason, description, observed } = error
    if (this.diagnosis !== undefined) {
      const clientId = clientOf(origin, known)
      const refusal = { endpoint: origin.endpoint, code, reason, description, clientId, observed }
      if (look === undefined) this.diagnosis.explain(refusal)
      else this.diagnosis.explainAfter(refusal, look)
    }
    const name = error instanceof Throttled ? 'throttled' : (signsOfTheft.get(reason) ?? 'refused')
    if (!this.hasListener(name)) return
    const event = this.refusal(error, origin, known)
    if (error instanceof Throttled)
      this.tell('throttled', Object.assign(event, { retryAfter: error.retryAfter }))
    else this.tell(name, event)
  }

  private tellFailure(refusal: Refusal, cause: unknown, origin: Origin, known: AuditNotes): void {
    if (!this.hasListener('failure')) warnOfFailure(refusal.reason, cause)
    else this.tell('failure', Object.assign(this.refusal(refusal, origin, known), { cause }))
  }

  private refusal({ reason, code }: Refusal, origin: Origin, known: AuditNotes): RefusalEvent {
    return Object.assign(this.common(origin, known), { reason: plainText(reason), code })
  }

  private common(
    origin: Origin,
    known: AuditNotes,
    credential = credentialFingerprint(known.shown),
  ): AuditEvent {
    const { endpoint, requestId, address } = origin
    const { authorizationId, subject } = authorizationOfNotes(known)
    return {
      time: this.clock(),
      endpoint,
      requestId,
      clientId: clientOf(origin, known),
      subject: plainOrAbsent(subject),
      address: plainOrAbsent(address && withoutPort(address)),
      reason: undefined,
      authorizationId: plainOrAbsent(authorizationId),
      credential,
    }
  }

  // A listener that fails changes neither the response nor other listeners.
  private tell<Name extends keyof AuditEvents>(name: Name, event: AuditEvents[Name][0]): void {
    const events: EventEmitter = this.events
    // `emit` would stop at the first listener that throws. Raw listeners of `once` remove themselves.
    const listeners = events.rawListeners(name)
    // What one listener writes must not reach the next.
    if (listeners.length > 1) Object.freeze(event)
    for (const listener of listeners)
      try {
        const outcome: unknown = listener.call(events, event)
        if (outcome instanceof Promise) outcome.catch((thrown: unknown) => warnOfListener(name, thrown))
      } catch (thrown) {
        warnOfListener(name, thrown)
      }
  }
}

const originOf = ({ request, response, endpoint, clientId }: AuditedRequest) => ({
  endpoint,
  requestId: requestIdOf(request, response),
  address: request.ip,
  clientId,
})

const withoutRequest = (endpoint: EventOrigin, clientId?: string): Origin => ({
  endpoint,
  requestId: undefined,
  address: undefined,
  clientId,
})

// The first fault must not hide the next.
function warnOfFailure(reason: string, cause: unknown): void {
  const bare = bareError(cause)
  const { cure = 'Read the cause.' } = rowOf(reason) ?? {}
  warnOnce(
    'EAS_FAILURE',
    `${reason}: ${inspect(bare)}. ${cure} Listen for 'failure' at oauth.events, or at events of the guard.`,
    `${reason} ${bare.name} ${bare.message}`,
  )
}

// For events, never for the response.
export interface AuditNotes {
  readonly committed: CommittedTransition | undefined
  readonly access?: Partial<AuditedAuthorization> | undefined
  readonly authorizationId?: string
  readonly shown: string | undefined
  readonly grantType: string | undefined
  // Proven or not.
  readonly claimedClientId: string | undefined
  // An unregistered identifier may be a misplaced secret.
  readonly isRegistered: boolean
}

export const noNotes: AuditNotes = {
  committed: undefined,
  shown: undefined,
  grantType: undefined,
  claimedClientId: undefined,
  isRegistered: false,
}

type AuditedAuthorization = Pick<AuditEvent, 'authorizationId' | 'clientId' | 'subject'>

function authorizationOfNotes({ committed, access, authorizationId }: AuditNotes): AuditedAuthorization {
  const record = committed?.authorization
  const { clientId, subject } = record ?? access ?? noNames
  return { authorizationId: record?.id ?? access?.authorizationId ?? authorizationId, clientId, subject }
}

const noNames = { clientId: undefined, subject: undefined }

function clientOf({ clientId }: Origin, known: AuditNotes): string | undefined {
  const { claimedClientId, isRegistered } = known
  const claimed =
    claimedClientId === undefined || isRegistered
      ? claimedClientId
      : fingerprintOfDigest(digest(claimedClientId))
  return plainOrAbsent(clientId ?? claimed ?? authorizationOfNotes(known).clientId)
}

// RFC 6749 4.1.2, RFC 9700 4.14.2
const signsOfTheft: ReadonlyMap<string, 'replayed' | 'reused'> = new Map([
  ['code_replayed', 'replayed'],
  ['refresh_token_reused', 'reused'],
])

// A refusal may have a cause, such as a parser error. Maintenance has none.
function causeOfFailure(error: OAuthError): unknown {
  const { code, cause } = error
  const isFailure = code === 'server_error' || (code === 'temporarily_unavailable' && cause !== undefined)
  return isFailure && !(error instanceof Throttled) ? (cause ?? error) : undefined
}

function warnOfListener(name: string, thrown: unknown): void {
  warnOnce(
    'EAS_EVENT_LISTENER',
    `A listener of the event '${name}' failed: ${inspect(bareError(thrown))}. The response does not depend on listeners.`,
    `EAS_EVENT_LISTENER ${name}`,
  )
}

export const requestIdName = 'X-Request-Id'

export function carryRequestId(response: Response, requestId: string | undefined): void {
  if (requestId !== undefined && !response.headersSent) response.setHeader(requestIdName, requestId)
}

function requestIdOf(request: Request, response: Response): string {
  const given = response.getHeader(requestIdName)
  // Printable ASCII: a host may echo a client's header, whose C1 controls terminals obey.
  if (typeof given === 'string' && /^[\x20-\x7E]{1,256}$/.test(given)) return given
  if ('id' in request && typeof request.id === 'string' && /^[\w.:-]{1,128}$/.test(request.id))
    return request.id
  return hexOf(secureRandom(11))
}
