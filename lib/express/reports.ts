import { EventEmitter } from 'node:events'
import { inspect } from 'node:util'
import type { Request, Response } from 'express'
import type { Authorization } from '../authorization/authorization'
import type { OnCommitted } from '../authorization/witness'
import { bareError } from '../protocol/bare-error'
import { privateState } from '../protocol/beside'
import type { OAuthError } from '../protocol/oauth-error'
import { tellTap } from '../testing-door'
import { warnOnce } from '../warning'
import { credentialFingerprint } from './credential-mark'
import type { AuditEvent, AuditEvents, AuthorizationServerEvents, EventOrigin, RefusalEvent } from './events'
import {
  claimedClientOf,
  authorizationOfNotes,
  noNotes,
  responseTypeOf,
  type AuditNotes,
} from './known-of-request'
import { plainOrAbsent, plainText } from './plain-text'
import { errorEventOf, type ErrorEventMembers } from './refusal-event'
import { nameRequest, requestIdOf } from './request-id'
import { tellListeners } from './tell-listeners'
import { revocationOf, grantEventOf, type GrantEventMembers } from './told-by-move'

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

const successes = ['approved', 'issued', 'refreshed', 'revoked'] as const

/** Makes known what became of requests: in events, under the id that the answer carries. */
export class AuditLog {
  readonly events: AuthorizationServerEvents = new EventEmitter()
  // PrivateState the request, not on it: what it holds must reach no answer.
  private readonly known = privateState<Request, AuditNotes>()

  /** @param clock milliseconds since the epoch. */
  constructor(private readonly clock: () => number) {}

  /** Whether anybody listens to the event. */
  hears(name: keyof AuditEvents): boolean {
    return this.events.listenerCount(name) > 0
  }

  /** Keeps something of a request for its events. */
  note(request: Request, known: AuditNotes): void {
    Object.assign(this.knownOf(request), known)
  }

  /** Keeps the move that a request comes to. */
  witness(request: Request): OnCommitted {
    return (move) => this.note(request, { move })
  }

  /**
   * AuditLog what became of a request that went well; of one that changed nothing there is nothing to tell. Returns the id of
   * the request, which the answer is to carry: one is made for listeners alone.
   */
  reportSuccess(asked: AuditedRequest): string | undefined {
    const known = this.knownOf(asked.request)
    if (known.move === undefined || !successes.some((name) => this.hears(name))) return undefined
    const told = grantEventOf(known.move)
    if (told === undefined || !this.hears(told.event)) return undefined
    const origin = this.originOf(asked, requestIdOf(asked.request, asked.response))
    this.tellGrant(told, origin, known)
    return origin.requestId
  }

  /** AuditLog an error of the framework; see {@link reportRefusal}. */
  reportError(asked: AuditedRequest, error: OAuthError): string {
    return this.reportRefusal(asked, error, errorEventOf(error))
  }

  /** AuditLog a refusal or a failure, names the request in the header of the answer, and returns that name. */
  reportRefusal(
    asked: AuditedRequest,
    { code, reason }: Refusal,
    told: ErrorEventMembers = { event: 'refused' },
  ): string {
    const origin = this.originOf(asked)
    const known = this.knownOf(asked.request)
    tellTap({ requestId: origin.requestId, code, reason })
    if (this.hears(told.event))
      this.tellRefusal(told, Object.assign(this.common(origin, known), { reason: plainText(reason), code }))
    else if (told.event === 'failure') warnOfFailure(reason, told.cause)
    // One step can both refuse and revoke.
    if (known.move?.write === 'removal' && known.move.found !== undefined)
      this.tellGrant(revocationOf(known.move.found, reason), origin, known)
    return origin.requestId
  }

  /** AuditLog that a client used an old secret. */
  reportOldSecret(asked: AuditedRequest): void {
    if (this.hears('oldSecretUsed'))
      this.tell('oldSecretUsed', this.common(this.originOf(asked), this.knownOf(asked.request)))
  }

  /** AuditLog that the host's own code revoked an authorization. @param found undefined when it could not be read. */
  reportHostRevocation(authorizationId: string, found: Authorization | undefined): void {
    const origin = {
      endpoint: 'host',
      requestId: undefined,
      address: undefined,
      clientId: undefined,
    } as const
    const known = found ? { move: { found, write: 'removal' } as const } : { authorizationId }
    this.tellGrant(revocationOf(found, 'host'), origin, known)
  }

  private tellGrant(
    { event, credential, scope, reason }: GrantEventMembers,
    origin: Origin,
    known: AuditNotes,
  ): void {
    if (!this.hears(event)) return
    const grantType = plainOrAbsent(known.grantType)
    const granted = { reason, grantType, responseType: plainOrAbsent(responseTypeOf(known)), scope }
    this.tell(event, Object.assign(this.common(origin, known, credential), granted))
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

  private knownOf(request: Request): AuditNotes {
    const known = this.known.get(request)
    if (known !== undefined) return known
    const nothing = noNotes()
    this.known.set(request, nothing)
    return nothing
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
