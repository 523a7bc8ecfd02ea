import { createHmac } from 'node:crypto'
import { BoundedMap } from '../protocol/bounded-map'
import type { Client } from '../protocol/client'
import type { OptionsReader } from '../protocol/configuration'
import { secureRandom } from '../protocol/credential'
import type { Throttled } from '../protocol/oauth-error'
import { privateState } from '../protocol/private-state'
import { type Limit, type LimitOption, readLimits } from '../rate-limit/limit'
import { networkOf } from '../rate-limit/network'
import { type FailureThrottle, throttled, tooManyFailures } from '../rate-limit/throttle'
import type { Counters } from '../stores/counters'
import type { PresentedClient, Throttle, Verification } from './method'
import { SingleFlight } from './single-flight'

/** Holds verifications that may be of guesses to the limits on failed client authentication (RFC 6749 2.3.1). */
export class CredentialThrottle {
  private readonly key = secureRandom(32)
  private readonly nobody = this.mark('nobody')
  private readonly registrations = privateState<Client, string>()
  private readonly underWay = new SingleFlight<Verification>()
  // From which networks which clients have proven themselves by a chosen secret.
  private readonly provenFrom = new BoundedMap<true>(1000)

  constructor(
    private readonly limits: ResolvedClientAuthenticationLimits,
    private readonly counters: Counters,
  ) {}

  /**
   * The limits for one claim.
   *
   * @param client whom the method is asked about.
   * @param address as Express tells it.
   * @param refusal what is said when the network has used up its failures. A chosen secret that this process knows could be
   * guessed without end from a network to which no limit applied, and so passes where its client comes from, and only there.
   */
  of(
    { method, clientId, credential }: PresentedClient,
    client: Client | undefined,
    address: () => string | undefined,
    refusal?: Throttled,
  ): Throttle {
    const same = () => this.mark(method.name, clientId, credential, this.registrationOf(client))
    return async (attempt, status) => {
      const network = networkOf(address())
      const place = `${network} ${clientId}`
      if (refusal !== undefined && !(status === 'known' && this.provenFrom.has(place))) throw refusal
      const attemptOnce = async (): Promise<Verification | undefined> => {
        const proven = await attempt()
        return proven === true || proven === 'by an old secret' ? proven : undefined
      }
      // A client that comes with its right secret many times at once must not use up its own limit.
      const attemptCounted = () =>
        this.underWay.share(same(), () =>
          throttled(this.attemptLimits(clientId, network), this.counters, attemptOnce),
        )
      const success = await (status === 'known' ? attemptOnce() : attemptCounted())
      if (success === undefined) return false
      this.provenFrom.put(place, true)
      return success
    }
  }

  // The address stands first: names that nobody has fill the counters with no more keys than it has room for.
  private attemptLimits(clientId: string, network: string): readonly FailureThrottle[] {
    const { address, clientAndAddress, client } = this.limits
    return [
      ...tooManyFailures('client_address_limited', address, 'client:address', network),
      ...tooManyFailures(
        'client_and_address_limited',
        clientAndAddress,
        'client:clientAndAddress',
        `${network} ${clientId}`,
      ),
      ...tooManyFailures('client_limited', client, 'client:client', clientId),
    ]
  }

  // What is under way for a digest that was dropped meanwhile proves nothing. Worked out once: it takes microseconds, by
  // which whoever counts them could tell a client from nobody.
  private registrationOf(client: Client | undefined): string {
    if (client === undefined) return this.nobody
    const known = this.registrations.get(client)
    if (known !== undefined) return known
    const registration = this.mark(JSON.stringify(client))
    this.registrations.set(client, registration)
    return registration
  }

  private mark(...parts: readonly string[]): string {
    return createHmac('sha256', this.key).update(JSON.stringify(parts)).digest('base64url')
  }
}

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
