import type { Request, Response } from 'express'
import type { Diagnosis } from '../audit/diagnosis'
import { allowOrigin } from './cors'

type Share = (request: Request, response: Response) => boolean

/**
 * Explains what otherwise only the browser's console says: it withholds a response from another origin's
 * script (Fetch 4.10). Not in production.
 */
export function explainingCors(
  share: Share | undefined,
  diagnosis: Diagnosis,
  endpoint: string,
  ownOrigin: string,
): Share {
  return (request, response) => {
    const isAnswered = share?.(request, response) === true
    const { origin } = request.headers
    if (origin !== undefined && origin !== ownOrigin && !response.hasHeader(allowOrigin))
      diagnosis.explain({
        endpoint,
        code: undefined,
        reason: 'origin_not_allowed',
        observed: { origin, 'origin of the issuer': ownOrigin },
      })
    return isAnswered
  }
}

export function explainingGuardCors(share: Share | undefined, diagnosis: Diagnosis): Share {
  return (request, response) => {
    const isAnswered = share?.(request, response) === true
    const { origin } = request.headers
    if (origin !== undefined && !isOfOwnOrigin(request, origin) && !response.hasHeader(allowOrigin))
      diagnosis.explain({
        endpoint: 'protected resource',
        code: undefined,
        reason: 'origin_not_allowed',
        observed: { cause: 'guard', origin },
      })
    return isAnswered
  }
}

// A guard does not know its API's origin. Browsers send `Origin` to the own origin, too (Fetch 3.1).
const isOfOwnOrigin = ({ headers }: Request, origin: string): boolean =>
  headers['sec-fetch-site'] === 'same-origin' ||
  (URL.canParse(origin) && new URL(origin).host === headers.host)
