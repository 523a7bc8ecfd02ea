import type { Store } from 'express-rate-limit'
import { aCall, aNumber } from '../primitives/fields'
import { type Field, type Fields, group, optional, orOff } from '../primitives/schema'

export interface Limit {
  /** A whole number from 1 to 1 000 000. */
  readonly attempts: number
  /** Whole seconds from 1 to 86 400. */
  readonly seconds: number
}

/** A missing member has its default. `false` switches the limit off. */
export type LimitOption = Partial<Limit> | false

// `Retry-After: 0` would invite the client to retry at once.
export const secondsToWait = (secondsLeft: number): number => Math.max(1, Math.ceil(secondsLeft))

const quarterOfAnHour = 900
const mostAttempts = 1_000_000
const longest = 24 * 3600

export function aLimit(attempts: number, seconds = quarterOfAnHour): Field<Limit | undefined> {
  const members = { attempts: aNumber(attempts, 1, mostAttempts), seconds: aNumber(seconds, 1, longest) }
  const cure = `must be false, or an object such as { attempts: ${attempts}, seconds: ${seconds} }.`
  return orOff<Limit | undefined>(undefined, group(members satisfies Fields<Limit>), cure)
}

/**
 * Limits for one network: an IPv4 address, or the first 64 bits of IPv6. A count begins with the first request and ends
 * after `seconds` (at most 86 400); `attempts` are at most 1 000 000. `false` switches a limit off. Over a limit: 429
 * with `Retry-After`. Behind a proxy, set Express's `trust proxy`, or every request counts for the proxy.
 */
export interface RateLimitOptions {
  /** All requests at the authorization endpoint, decisions included. Default: 600 in 60 seconds. */
  readonly authorization?: LimitOption
  /**
   * Failed requests at the token, revocation and introspection endpoints and at endpoints of the host, together. `GET`,
   * `HEAD` and `OPTIONS` count only with `Authorization`. What the protocol tells an honest client to cause, such as
   * `authorization_pending`, counts apart, with 10 times the limit. Over the limit, a client that the host registered
   * passes by a key, a generated secret, or a chosen one that this process verified from this network within a day.
   * Default: 600 in 60 seconds.
   */
  readonly clients?: LimitOption
  /**
   * Registrations (`dynamicRegistration`), successful ones included. The first 48 bits of IPv6 may send 16 times as
   * many. Off if registration needs an initial access token. Default: 100 in 600 seconds.
   */
  readonly registration?: LimitOption
  /**
   * Makes a store of express-rate-limit, so several processes count together: a new one for each name, with its own
   * prefix. While it fails, requests pass uncounted, with the warning `EAS_RATE_LIMIT_STORE`. Default: memory of this
   * process, for 100 000 networks; further ones pass uncounted.
   */
  readonly stores?: (name: 'authorization' | 'clients' | 'registration') => Store
}

export type RateLimits = ReturnType<typeof networkLimits>

export const networkLimits = orOff(
  { authorization: undefined, clients: undefined, registration: undefined, stores: undefined },
  group({
    authorization: aLimit(600, 60),
    clients: aLimit(600, 60),
    registration: aLimit(100, 600),
    stores: optional(aCall<RateLimitOptions['stores']>()),
  } satisfies Fields<RateLimitOptions>),
)
