import { EventEmitter } from 'node:events'
import { inspect } from 'node:util'
import type { Request, Response } from 'express'
import { secureRandom } from '../protocol/credential'
import type { OAuthError } from '../protocol/oauth-error'
import { warnOnce } from '../warning'

/** A request that was refused or that broke, for logs and alarms. It holds no credential. */
export interface Failure {
  readonly endpoint: 'authorization' | 'token' | 'revocation' | 'introspection' | 'protected resource'
  /** The error code that the client or the resource owner saw. */
  readonly code: string
  /** A stable word, finer than the code. */
  readonly reason: string
  /** The value of the `X-Request-Id` header of the answer. */
  readonly requestId: string
  /** What the request claimed to come from, when it was known. */
  readonly clientId: string | undefined
  /** What broke on this side; undefined for a mere refusal. */
  readonly cause: unknown
}

/** A client authenticated by a secret that its rotation has left behind: who still has to learn the new one. */
export interface OldSecretUse {
  readonly clientId: string
  /** The value of the `X-Request-Id` header of the answer. */
  readonly requestId: string
}

/** The events of a server. */
export type AuthorizationServerEvents = EventEmitter<{
  failure: [Failure]
  oldSecretUsed: [OldSecretUse]
}>

/** Makes failures known: under one id to the client, in the event and, for want of a listener, as a warning. */
export class FailureReports {
  readonly events: AuthorizationServerEvents = new EventEmitter()

  /** Reports an error of the framework; see {@link report}. */
  reportError(
    request: Request,
    response: Response,
    endpoint: Failure['endpoint'],
    { code, reason, cause }: OAuthError,
    clientId?: string,
  ): string {
    return this.report(request, response, { endpoint, code, reason, clientId, cause })
  }

  /** Reports a failure and names it in the header of the answer. */
  report(request: Request, response: Response, failure: Omit<Failure, 'requestId'>): string {
    const requestId = nameRequest(request, response)
    if (this.events.listenerCount('failure') > 0) this.events.emit('failure', { ...failure, requestId })
    else if (failure.cause !== undefined)
      warnOnce(
        'EAS_FAILURE',
        `${failure.reason}: ${inspect(failure.cause)}. Listen to oauth.events for 'failure'.`,
        failure.reason,
      )
    return requestId
  }

  /** Reports that a client used an old secret, and names the request in the header of the answer. */
  reportOldSecret(request: Request, response: Response, clientId: string): void {
    this.events.emit('oldSecretUsed', { clientId, requestId: nameRequest(request, response) })
  }
}

function nameRequest(request: Request, response: Response): string {
  const requestId = requestIdOf(request, response)
  if (!response.headersSent) response.setHeader('X-Request-Id', requestId)
  return requestId
}

// An id that the host gave the request goes on; hosts do so on the request or on the response.
function requestIdOf(request: Request, response: Response): string {
  const header = response.getHeader('X-Request-Id')
  if (typeof header === 'string') return header
  if ('id' in request && typeof request.id === 'string' && /^[\w.:-]{1,128}$/.test(request.id))
    return request.id
  return secureRandom(8).toString('hex')
}
