import type { Store } from 'express-rate-limit'
import { OptionsReader } from '../primitives/options-reader'
import { isRecord } from '../primitives/values'
import { type Limit, type LimitOption, readLimit } from './limit'

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

export interface RateLimits {
  readonly authorization: Limit | undefined
  readonly clients: Limit | undefined
  readonly registration: Limit | undefined
  readonly stores: RateLimitOptions['stores']
}

const usual: Limit = { attempts: 600, seconds: 60 }
const usualRegistrations: Limit = { attempts: 100, seconds: 600 }
const key = 'networks'

export function resolveRateLimit(reading: OptionsReader): RateLimits {
  const given = reading.take(key)
  if (given === false)
    return { authorization: undefined, clients: undefined, registration: undefined, stores: undefined }
  if (given !== undefined && !isRecord(given))
    reading.wrong(key, 'must be false, or an object with authorization, clients, registration or stores.')
  const fields = new OptionsReader(isRecord(given) ? given : {}, reading.at(key), reading.issues)
  const limits = {
    authorization: readLimit(fields, 'authorization', usual),
    clients: readLimit(fields, 'clients', usual),
    registration: readLimit(fields, 'registration', usualRegistrations),
    stores: fields.optional<RateLimitOptions['stores']>('stores', undefined, isStores, 'must be a function.'),
  }
  fields.refuseUnknown()
  return limits
}

const isStores = (value: unknown): value is RateLimitOptions['stores'] => typeof value === 'function'
