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
  endpoint = 'protected resource',
  ownOrigin?: string,
): Share {
  return (request, response) => {
    const isAnswered = share?.(request, response) === true
    const { origin } = request.headers
    if (origin === undefined || isOwn(request, origin, ownOrigin) || response.hasHeader(allowOrigin))
      return isAnswered
    const observed =
      ownOrigin === undefined ? { cause: 'guard', origin } : { origin, 'origin of the issuer': ownOrigin }
    diagnosis.explain({ endpoint, code: undefined, reason: 'origin_not_allowed', observed })
    return isAnswered
  }
}

// A guard does not know its API's origin. Browsers send `Origin` to the own origin, too (Fetch 3.1).
const isOwn = ({ headers }: Request, origin: string, ownOrigin: string | undefined): boolean =>
  ownOrigin === undefined
    ? headers['sec-fetch-site'] === 'same-origin' ||
      (URL.canParse(origin) && new URL(origin).host === headers.host)
    : origin === ownOrigin
