import { createHmac } from 'node:crypto'
import { attemptWithin, type AttemptLimit } from '../attempts/attempt'
import { networkOf } from '../attempts/network'
import type { Client } from '../protocol/client'
import { digest, secureRandom } from '../protocol/credential'
import { tooManyAttempts } from '../protocol/oauth-error'
import type { Counters } from '../stores/counters'
import type { ResolvedLimits } from './limit-options'
import type { PresentedClient, Verification, WithinLimits } from './method'
import { UnderWay } from './under-way'

// One text for all: which limit it was is nothing for a guesser to know.
const description = 'There were too many failed attempts. Try again later.'

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
    address: string | undefined,
  ): WithinLimits {
    const same = () => this.mark(method.name, clientId, credential, client)
    return async (attempt) => {
      const attemptOnce = async (): Promise<Verification | undefined> => {
        const proven = await attempt()
        return proven === true || proven === 'by an old secret' ? proven : undefined
      }
      // A client that comes with its right secret many times at once must not use up its own limit.
      const success = await this.underWay.share(same(), () =>
        attemptWithin(this.attemptLimits(clientId, networkOf(address)), this.counters, attemptOnce),
      )
      return success ?? false
    }
  }

  // The address stands first: names that nobody has fill the counters with no more keys than it has room for.
  private attemptLimits(clientId: string, network: string): readonly AttemptLimit[] {
    const among = (
      kind: keyof ResolvedLimits,
      whose: string,
      refusal: AttemptLimit['refusal'],
    ): readonly AttemptLimit[] => {
      const limit = this.limits[kind]
      return limit === undefined ? [] : [{ ...limit, key: `client:${kind}:${digest(whose)}`, refusal }]
    }
    return [
      ...among('address', network, (seconds) =>
        tooManyAttempts('client_address_limited', description, seconds),
      ),
      ...among('clientAndAddress', `${network} ${clientId}`, (seconds) =>
        tooManyAttempts('client_and_address_limited', description, seconds),
      ),
      ...among('client', clientId, (seconds) => tooManyAttempts('client_limited', description, seconds)),
    ]
  }

  // With the registration: what is under way for a digest that was dropped meanwhile proves nothing.
  private mark(...parts: readonly unknown[]): string {
    return createHmac('sha256', this.key).update(JSON.stringify(parts)).digest('base64url')
  }
}
