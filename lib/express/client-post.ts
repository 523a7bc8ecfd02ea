import type { NextFunction, Request, RequestHandler, Response } from 'express'
import { sendClientFailure } from './client-failure'
import type { FailureLimit } from './failure-limit'
import { formOf } from './form-body'
import { sendJsonError } from './json-response'
import type { AuditLog } from './reports'
import { closing, type RequestsInFlight } from './requests-in-flight'
import { shareShapes } from './shared-shape'
import { requireTls } from './transport'

/** The endpoints that clients call by themselves, each with the name of its part. */
export type ClientEndpointName = 'token' | 'revocation' | 'introspection'

/** What these endpoints share at the edge. */
export interface ClientEndpointHttp {
  readonly endpoint: ClientEndpointName
  readonly tlsRequired: boolean
  /** Warns of a request that was sent to another host than the issuer's. */
  readonly watchHost: (request: Request) => void
  /** Seconds in which a body must have come. */
  readonly bodyDeadline: number
  readonly failures: FailureLimit
  /** The HTTP authentication schemes by which clients may authenticate, Basic first. */
  readonly schemes: readonly string[]
  /** The page that explains error codes, if there is one. */
  readonly errorUri: string | undefined
  /** @throws OAuthError `temporarily_unavailable` during maintenance. */
  readonly requireService: () => void | Promise<void>
  readonly reports: AuditLog
  readonly requests: RequestsInFlight
}

/** What a middleware does with a sound request; what it throws is answered as an error. */
export type Act = (request: Request, response: Response) => Promise<'answered' | 'next'>

/** Lets `POST` over TLS through to `act` and answers everything else, and every failure, in the form for clients. */
export function clientPost(edge: ClientEndpointHttp, act: Act): RequestHandler {
  const attempt: Act = async (request, response) => {
    if (request.method !== 'POST') return refuseMethod(edge, response)
    requireTls(request, edge.tlsRequired)
    edge.watchHost(request)
    if (!edge.requests.enter(request, response)) return turnAway(request, edge)
    await edge.requireService()
    return act(request, response)
  }
  const serve = async (request: Request, response: Response, next: NextFunction): Promise<void> => {
    let outcome: 'answered' | 'next'
    try {
      outcome = await attempt(request, response)
    } catch (error) {
      return sendClientFailure(request, response, error, edge)
    }
    if (outcome === 'next') next()
  }
  return (request, response, next) => {
    shareShapes(request, response)
    void serve(request, response, next).catch(next)
  }
}

// The connection ends with the answer, and a body that came after it would be answered by a reset instead.
async function turnAway(request: Request, { bodyDeadline }: ClientEndpointHttp): Promise<never> {
  await formOf(request, bodyDeadline).catch(() => undefined)
  throw closing()
}

// Counted by no limit: any web page can have browsers send a GET here, and the answer costs nothing.
function refuseMethod(edge: ClientEndpointHttp, response: Response): 'answered' {
  sendJsonError(response, 405, methodNotAllowed(edge), edge.errorUri, { Allow: 'POST' })
  return 'answered'
}

const methodNotAllowed = ({ endpoint }: ClientEndpointHttp) => ({
  code: 'invalid_request',
  description: `The ${endpoint} endpoint takes POST requests only.`,
})
