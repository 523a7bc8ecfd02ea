import { createHmac } from 'node:crypto'
import { throttled, type FailureThrottle } from '../attempts/attempt'
import { networkOf } from '../attempts/network'
import { tooManyFailures } from '../attempts/too-many-failures'
import { privateState } from '../protocol/beside'
import type { Client } from '../protocol/client'
import { secureRandom } from '../protocol/credential'
import { BoundedMap } from '../protocol/latest'
import type { Throttled } from '../protocol/oauth-error'
import type { Counters } from '../stores/counters'
import type { ResolvedClientAuthenticationLimits } from './limit-options'
import type { PresentedClient, Verification, Throttle } from './method'
import { SingleFlight } from './under-way'

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
