import { aCall } from '../primitives/fields'
import { type Fields, group, optional, orOff } from '../primitives/schema'
import type { Store } from 'express-rate-limit'
import { aLimit, type Limit, type LimitOption } from './limit'

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
   * passes by a key, a generated secret, or a chosen secret that this process verified from this network within a day.
   * Default: 600 in 60 seconds.
   */
  readonly clients?: LimitOption
  /**
   * Registrations (`dynamicRegistration`), successful ones included. The first 56 bits of IPv6 may send 4 times as
   * many, the first 48 bits 16 times. Off if registration needs an initial access token. Default: 100 in 600 seconds.
   */
  readonly registration?: LimitOption
  /**
   * Makes a store of express-rate-limit, so several processes count together: a new one for each name, with its own key
   * prefix. While it fails, requests pass uncounted, with the warning `EAS_RATE_LIMIT_STORE`. Default: memory of this
   * process, for 100 000 networks. A network beyond them counts with its provider (32 bits of IPv6, 16 of IPv4), with
   * 256 times the limit.
   */
  readonly stores?: (name: 'authorization' | 'clients' | 'registration') => Store
}

const stores = optional(aCall<RateLimitOptions['stores']>())
const off = { authorization: undefined, clients: undefined, registration: undefined, stores: undefined }

export type RateLimits = Readonly<Record<'authorization' | 'clients' | 'registration', Limit | undefined>> &
  Readonly<Record<'stores', RateLimitOptions['stores']>>

export const networkLimits = orOff(
  off,
  group({
    authorization: aLimit(600, 60),
    clients: aLimit(600, 60),
    registration: aLimit(100, 600),
    stores,
  } satisfies Fields<RateLimitOptions>),
)
