import { createHmac } from 'node:crypto'
import { attemptWithin, type AttemptLimit } from '../attempts/attempt'
import { networkOf } from '../attempts/network'
import { tooManyFailures } from '../attempts/too-many-failures'
import type { Client } from '../protocol/client'
import { secureRandom } from '../protocol/credential'
import type { Counters } from '../stores/counters'
import type { ResolvedLimits } from './limit-options'
import type { PresentedClient, Verification, WithinLimits } from './method'
import { UnderWay } from './under-way'

/** Holds verifications that may be of guesses to the limits on failed client authentication (RFC 6749 2.3.1). */
export class GuessLimits {
  private readonly key = secureRandom(32)
  private readonly underWay = new UnderWay<Verification>()

  constructor(
    private readonly limits: ResolvedLimits,
    private readonly counters: Counters,
  ) {}

  /**
   * The limits for one claim.
   *
   * @param client whom the method is asked about.
   * @param address as Express tells it.
   */
  of(
    { method, clientId, credential }: PresentedClient,
    client: Client | undefined,
    address: () => string | undefined,
  ): WithinLimits {
    const same = () => this.mark(method.name, clientId, credential, client)
    return async (attempt) => {
      const attemptOnce = async (): Promise<Verification | undefined> => {
        const proven = await attempt()
        return proven === true || proven === 'by an old secret' ? proven : undefined
      }
      // A client that comes with its right secret many times at once must not use up its own limit.
      const success = await this.underWay.share(same(), () =>
        attemptWithin(this.attemptLimits(clientId, networkOf(address())), this.counters, attemptOnce),
      )
      return success ?? false
    }
  }

  // The address stands first: names that nobody has fill the counters with no more keys than it has room for.
  private attemptLimits(clientId: string, network: string): readonly AttemptLimit[] {
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

  // With the registration: what is under way for a digest that was dropped meanwhile proves nothing.
  private mark(...parts: readonly unknown[]): string {
    return createHmac('sha256', this.key).update(JSON.stringify(parts)).digest('base64url')
  }
}
