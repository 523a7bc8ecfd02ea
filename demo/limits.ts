import { createHash } from 'node:crypto'
import type { Request, RequestHandler } from 'express'
import { ipKeyGenerator, rateLimit, type Options, type Store } from 'express-rate-limit'

/** Where the counts of the limit with this name are kept; undefined for the memory of the process. */
export type LimitStores = (name: string) => Store | undefined

const perMinute: Partial<Options> = { windowMs: 60_000, standardHeaders: 'draft-8', legacyHeaders: false }

/**
 * Wrong passwords in a minute: 5 from one address for one name, 20 from one address for all names. No guess is free while
 * the counts cannot be reached: then nobody could be signed in anyway, because sessions live in the same place.
 */
export function signInLimits(stores: LimitStores, handler: RequestHandler): RequestHandler[] {
  const failures: Partial<Options> = {
    ...perMinute,
    skipSuccessfulRequests: true,
    requestWasSuccessful: (_request, response) => response.statusCode === 303,
    handler,
  }
  const limit = (name: string, options: Partial<Options>) =>
    rateLimit({ ...failures, ...options, ...at(stores, name) })
  return [
    limit('sign-in-name', {
      limit: 5,
      keyGenerator: (request) => `${addressOf(request)} ${nameIn(request)}`,
    }),
    limit('sign-in-address', { limit: 20 }),
  ]
}

/**
 * All requests in a minute from one address, so that nobody fills the store with consent pages that nobody reads. They pass
 * uncounted while the counts cannot be reached: the suite then answers in the words of OAuth, which clients understand.
 */
export function oauthLimit(stores: LimitStores): RequestHandler {
  return rateLimit({
    ...perMinute,
    limit: 300,
    passOnStoreError: true,
    logger: { error: () => {}, warn: console.warn },
    message: { error: 'temporarily_unavailable', error_description: 'Too many requests from this address.' },
    ...at(stores, 'oauth'),
  })
}

function at(stores: LimitStores, name: string): Partial<Options> {
  const store = stores(name)
  return store === undefined ? {} : { store }
}

// One connection has a whole network of IPv6 addresses.
function addressOf(request: Request): string {
  return ipKeyGenerator(request.ip ?? '')
}

// A digest, because people type passwords into the wrong field.
function nameIn({ body }: Request): string {
  return createHash('sha256').update(String(body?.username)).digest('base64url')
}
