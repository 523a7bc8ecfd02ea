import type { Request, Response } from 'express'
import { secureRandom } from '../protocol/credential'

const header = 'X-Request-Id'

/** The id of a request, which its answer carries from now on in `X-Request-Id`. */
export function nameRequest(request: Request, response: Response): string {
  const requestId = requestIdOf(request, response)
  carryRequestId(response, requestId)
  return requestId
}

/** Has the answer carry the id, if there is one and it is not too late. */
export function carryRequestId(response: Response, requestId: string | undefined): void {
  if (requestId !== undefined && !response.headersSent) response.setHeader(header, requestId)
}

/** The id as a header of an answer that is about to be written. */
export const requestIdHeader = (requestId: string | undefined): Readonly<Record<string, string>> =>
  requestId === undefined ? {} : { [header]: requestId }

/** An id that the host gave the request goes on; hosts do so on the request or on the response. */
export function requestIdOf(request: Request, response: Response): string {
  const given = response.getHeader(header)
  // A header takes C1 control characters, which terminals obey; a host may echo what it was sent.
  if (typeof given === 'string' && /^[\x20-\x7E]{1,256}$/.test(given)) return given
  if ('id' in request && typeof request.id === 'string' && /^[\w.:-]{1,128}$/.test(request.id))
    return request.id
  return secureRandom(8).toString('hex')
}
