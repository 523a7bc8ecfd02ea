import type { Request, Response } from 'express'
import { secureRandom } from '../protocol/credential'

/** The id of a request, which its answer carries from now on in `X-Request-Id`. */
export function nameRequest(request: Request, response: Response): string {
  const requestId = requestIdOf(request, response)
  if (!response.headersSent) response.setHeader('X-Request-Id', requestId)
  return requestId
}

// An id that the host gave the request goes on; hosts do so on the request or on the response.
function requestIdOf(request: Request, response: Response): string {
  const header = response.getHeader('X-Request-Id')
  // A header takes C1 control characters, which terminals obey; a host may echo what it was sent.
  if (typeof header === 'string' && /^[\x20-\x7E]{1,256}$/.test(header)) return header
  if ('id' in request && typeof request.id === 'string' && /^[\w.:-]{1,128}$/.test(request.id))
    return request.id
  return secureRandom(8).toString('hex')
}
