import { type Fields, group, orOff } from '../primitives/schema'
import { createHmac } from 'node:crypto'
import { BoundedMap } from '../primitives/maps'
import type { Client } from '../protocol/client'
import { secureRandom } from '../protocol/credential'
import type { Sender } from '../protocol/sender'
import { privateState } from '../primitives/private-state'
import { aLimit, type LimitOption } from '../limits/limit'
import { networkOf } from '../limits/network'
import { type Counters, type FailureThrottle, throttled, tooManyFailures } from '../limits/counters'
import type { Throttle, Verification } from './method'
import type { ClientCredential } from './read-credential'
import { SingleFlight } from '../primitives/concurrency'

// RFC 6749 2.3.1
export class CredentialThrottle {
  private readonly key = secureRandom(43)
  private readonly unknownClient = this.mark('nobody')
  private readonly registrations = privateState<Client, string>()
  private readonly attempts = new SingleFlight<Verification | undefined>()
  private readonly provenFrom = new BoundedMap<true>(1000)

  constructor(
    private readonly limits: ReturnType<typeof clientAuthenticationLimits>,
    private readonly counters: Counters,
  ) {}

  // Guesses at a remembered secret from a network over its limit would have no end: it passes only if its
  // client has authenticated from there.
  of(
    { method, clientId, credential }: ClientCredential,
    client: Client | undefined,
    sender: Sender,
  ): Throttle {
    const refusal = sender.networkRefusal
    const attemptKey = () => this.mark(method.name, clientId, credential, this.registrationOf(client))
    return async (attempt, status) => {
      const network = networkOf(sender.address)
      const clientInNetwork = `${network} ${clientId}`
      if (refusal !== undefined && !(status === 'known' && this.provenFrom.has(clientInNetwork)))
        throw refusal
      const attemptOnce = async (): Promise<Verification | undefined> => {
        const proven = await attempt()
        return proven === true || proven === 'by an old secret' ? proven : undefined
      }
      // Simultaneous requests with a right secret share one attempt, and one count.
      const attemptCounted = () =>
        this.attempts.shareSuccess(attemptKey(), () =>
          throttled(this.attemptLimits(clientId, network), this.counters, attemptOnce),
        )
      const success = await (status === 'known' ? attemptOnce() : attemptCounted())
      if (success === undefined) return false
      this.provenFrom.set(clientInNetwork, true)
      return success
    }
  }

  // The address first: its limit bounds how many keys unknown client names add.
  private attemptLimits(clientId: string, network: string): readonly FailureThrottle[] {
    const { address, clientAndAddress: both, client } = this.limits
    const pair = `${network} ${clientId}`
    return [
      ...tooManyFailures('client_address_limited', address, 'client:address', network),
      ...tooManyFailures('client_and_address_limited', both, 'client:clientAndAddress', pair),
      ...tooManyFailures('client_limited', client, 'client:client', clientId),
    ]
  }

  // The whole registration: an attempt with a dropped digest proves nothing for the new one. Cached: the
  // microseconds would leak which clients exist.
  private registrationOf(client: Client | undefined): string {
    if (client === undefined) return this.unknownClient
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
 * Limits failed attempts at client secrets. Each limit counts by itself; `false` switches it off. Over a
 * limit, the server verifies nothing and answers 429 with `Retry-After`. `attempts` are at most 1 000 000;
 * `seconds` are at most 86 400 and run from the first failure. A running attempt counts as a failure until it
 * succeeds. Right generated secrets, and right chosen ones that this process verified within a day, are never
 * refused or counted.
 */
export interface ClientAuthenticationLimits {
  /**
   * Per IPv4 address, or 64 bits of IPv6, at all clients together. Default 500 in 900 seconds. Behind a
   * proxy, set Express's `trust proxy`; otherwise every request counts for the proxy.
   */
  readonly address?: LimitOption
  /** Per client and address. Default 20 in 900 seconds. */
  readonly clientAndAddress?: LimitOption
  /** Per client, from any address. Default 1000 in 900 seconds. */
  readonly client?: LimitOption
}

export const clientAuthenticationLimits = orOff(
  { address: undefined, clientAndAddress: undefined, client: undefined },
  group({
    address: aLimit(500),
    clientAndAddress: aLimit(20),
    client: aLimit(1000),
  } satisfies Fields<ClientAuthenticationLimits>),
)
