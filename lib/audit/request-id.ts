import type { Request, Response } from 'express'
import { secureRandom } from '../protocol/credential'

const header = 'X-Request-Id'

/** Returns the id of a request, and sets the id as the header `X-Request-Id` of the response. */
export function nameRequest(request: Request, response: Response): string {
  const requestId = requestIdOf(request, response)
  carryRequestId(response, requestId)
  return requestId
}

/** Sets the request id as a header of the response. Does nothing without an id, or after the headers are sent. */
export function carryRequestId(response: Response, requestId: string | undefined): void {
  if (requestId !== undefined && !response.headersSent) response.setHeader(header, requestId)
}

/** Returns the request id as headers for a response; no headers without an id. */
export const requestIdHeader = (requestId: string | undefined): Readonly<Record<string, string>> =>
  requestId === undefined ? {} : { [header]: requestId }

/**
 * Returns the id that the host gave the request, as a header of the response or as `req.id`; or else a new random id.
 */
export function requestIdOf(request: Request, response: Response): string {
  const given = response.getHeader(header)
  // Takes printable ASCII only: a host may echo a client's header, and a header may hold C1 controls, which terminals
  // obey.
  if (typeof given === 'string' && /^[\x20-\x7E]{1,256}$/.test(given)) return given
  if ('id' in request && typeof request.id === 'string' && /^[\w.:-]{1,128}$/.test(request.id))
    return request.id
  return secureRandom(8).toString('hex')
}
