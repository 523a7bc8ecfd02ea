import type { Store } from 'express-rate-limit'
import { readLimit, type Limit, type LimitOption } from './attempts/limit'
import { isRecord, OptionsReader } from './protocol/configuration'

/** How much may come from one network: an IPv4 address, or 64 bits of an IPv6 address. */
export interface RateLimitOptions {
  /** Requests at the authorization endpoint, decisions too. Default: 600 `attempts` in 60 `seconds`. */
  readonly authorization?: LimitOption
  /**
   * Failed `POST` requests at the token, revocation and introspection endpoints together. A client that proves itself by a
   * secret or key which is no guess passes beyond the limit, too. Default: 600 in 60 seconds.
   */
  readonly clients?: LimitOption
  /**
   * Stores of express-rate-limit, by which several processes count together: a new one for each name, under which it
   * counts. While one cannot be reached, requests pass uncounted. Default: the memory of this process.
   */
  readonly stores?: (name: 'authorization' | 'clients') => Store
}

/** The limits, complete; one that is undefined is switched off. */
export interface RateLimits {
  readonly authorization: Limit | undefined
  readonly clients: Limit | undefined
  readonly stores: RateLimitOptions['stores']
}

const usual: Limit = { attempts: 600, seconds: 60 }
const key = 'rateLimit'

export function resolveRateLimit(reading: OptionsReader): RateLimits {
  const given = reading.take(key)
  if (given === false) return { authorization: undefined, clients: undefined, stores: undefined }
  if (given !== undefined && !isRecord(given))
    reading.wrong(key, 'must be false, or an object of authorization, clients and stores.')
  const fields = new OptionsReader(isRecord(given) ? given : {}, reading.at(key), reading.issues)
  const limits = {
    authorization: readLimit(fields, 'authorization', usual),
    clients: readLimit(fields, 'clients', usual),
    stores: fields.optional<RateLimitOptions['stores']>('stores', undefined, isStores, 'must be a function.'),
  }
  fields.refuseUnknown()
  return limits
}

const isStores = (value: unknown): value is RateLimitOptions['stores'] => typeof value === 'function'
