import { readLimits, type Limit, type LimitOption } from '../attempts/limit'
import type { OptionsReader } from '../protocol/configuration'

/**
 * How many attempts at client secrets may fail, each limit for itself; `false` switches one off. Beyond it the answer is
 * 429 with `Retry-After`, unverified. `seconds` (at most 86 400) run from the first failure. What is under way counts until
 * it succeeds. A generated secret that is right, and a chosen one that this process has verified within a day, pass at all
 * times and are not counted.
 */
export interface ClientAuthenticationLimits {
  /**
   * For one address, and for 64 bits of IPv6, at all clients together. Default 500 in 900 seconds. Behind a proxy, set
   * Express's `trust proxy`; without it the proxy is the address of everybody.
   */
  readonly address?: LimitOption
  /** For one client and one address. Default 20 in 900 seconds. */
  readonly clientAndAddress?: LimitOption
  /** For one client, from whichever address. Default 1000 in 900 seconds. */
  readonly client?: LimitOption
}

/** The limits, complete; undefined where one is switched off. */
export type ResolvedClientAuthenticationLimits = Readonly<
  Record<keyof ClientAuthenticationLimits, Limit | undefined>
>

/** Reads the option of this name; false switches every limit off. */
export function readClientAuthenticationLimits(
  reading: OptionsReader,
  option: string,
): ResolvedClientAuthenticationLimits {
  if (reading.take(option) === false)
    return { address: undefined, clientAndAddress: undefined, client: undefined }
  return readLimits(reading, option, (limit) => ({
    address: limit('address', 500),
    clientAndAddress: limit('clientAndAddress', 20),
    client: limit('client', 1000),
  }))
}
