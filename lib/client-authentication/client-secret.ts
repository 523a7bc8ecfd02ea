import { createHmac } from 'node:crypto'
import { bcryptBytes, bcryptHash, ConstantWorkComparer, fitsBcrypt } from './bcrypt'
import { BoundedMap } from '../primitives/bounded-map'
import { type Client, isBcryptHash, liveSecrets } from '../protocol/client'
import { digest, isSameText, secureRandom } from '../protocol/credential'
import type { Throttle, Verification } from './method'
import { SingleFlight } from '../primitives/single-flight'

const generatedPrefix = 'sha256:'

/** A new client secret, which the host shows once, and its digest for the registration. */
export interface GeneratedClientSecret {
  /** 43 characters `A-Za-z0-9_-`: 256 random bits. */
  readonly client_secret: string
  /** The digest for the member `client_secret_hashes` of the registration. */
  readonly client_secret_hash: string
}

/** Makes a client secret that is too random for a guess. Its digest is SHA-256, which is quick to check. */
export function generateClientSecret(): GeneratedClientSecret {
  const client_secret = secureRandom(32).toString('base64url')
  return { client_secret, client_secret_hash: generatedHash(client_secret) }
}

/**
 * Hashes a secret that a person may have chosen, with bcrypt at cost 10, which takes about 55 ms. Resolves to the
 * digest for `client_secret_hashes`.
 *
 * @throws RangeError if the secret is empty, or longer than the 72 bytes that bcrypt reads.
 */
export async function hashClientSecret(secret: string): Promise<string> {
  if (!fitsBcrypt(secret))
    throw new RangeError(
      `A client secret must have 1 to ${bcryptBytes} bytes; generateClientSecret() makes a good one.`,
    )
  return bcryptHash(secret)
}

/** The digest of a generated secret, for a registration. */
export function generatedHash(secret: string): string {
  return generatedPrefix + digest(secret)
}

/**
 * Verifies client secrets. This process remembers a secret after a successful bcrypt comparison, under a keyed digest
 * of the stored hash and the secret. For five minutes, the memory replaces a comparison. For a day, the memory shows
 * that the secret is no guess. When the registration drops the hash, the memory has no effect any more. The verifier
 * never remembers a failure. Every refusal does the same work.
 */
export class SecretVerifier {
  private readonly remembered: RememberedSecrets
  private readonly comparison = new ConstantWorkComparer()
  private readonly renewals = new SingleFlight<string | undefined>()
  private readonly key = secureRandom(32)
  // Digests of secrets that no client has: they fill up the list of a client with fewer digests.
  private readonly decoys = Array.from(
    { length: liveSecrets },
    () => generateClientSecret().client_secret_hash,
  )

  /** @param clock milliseconds of a clock that does not step, such as `steadyClock`. */
  constructor(clock: () => number) {
    this.remembered = new RememberedSecrets(clock)
  }

  /**
   * Whether the secret is one of the secrets of the client. A right generated secret cannot be a guess, so no limit
   * applies to it. A secret that this process verified within a day goes through `withinLimits` as `known`, which
   * counts nothing.
   *
   * @throws OAuthError over a limit; `NotAttempted` if too many comparisons wait for bcrypt.
   */
  async verify(client: Client | undefined, secret: string, withinLimits: Throttle): Promise<Verification> {
    // Most requests come with the current secret. Its digest is the last one of the registration.
    const hashes = client?.client_secret_hashes.toReversed() ?? []
    const verdict = (match: string | undefined): Verification =>
      match !== undefined && (match === hashes[0] || 'by an old secret')
    const generated = generatedHash(secret)
    const equal = this.padded(hashes).map((hash) => isSameText(hash, generated))
    const proven = hashes.find((_, at) => equal[at])
    if (proven !== undefined) return verdict(proven)
    const memories = this.padded(hashes).map((hash) => this.remembered.getCached(this.mark(hash, secret)))
    const fresh = hashes.find((_, at) => memories[at] === 'fresh')
    const notGuessed = (verification: () => Promise<Verification>) => withinLimits(verification, 'known')
    if (fresh !== undefined) return notGuessed(async () => verdict(fresh))
    const known = hashes.find((_, at) => memories[at] === 'known')
    if (known !== undefined) return notGuessed(async () => verdict(await this.renewed(known, secret)))
    return withinLimits(async () => verdict(await this.compared(hashes.filter(isBcryptHash), secret)))
  }

  /**
   * At least `liveSecrets` digests. An unknown client, a client with one secret and a client with two then cost the
   * same.
   */
  private padded(hashes: readonly string[]): readonly string[] {
    return [...hashes, ...this.decoys.slice(hashes.length)]
  }

  // This comparison goes before comparisons that may be guesses: only the client itself can cause it.
  private async renewed(hash: string, secret: string): Promise<string | undefined> {
    return this.renewals.shareSuccess(this.mark(hash, secret), () =>
      this.compared([hash], secret, 'before the line'),
    )
  }

  private async compared(
    hashes: readonly string[],
    secret: string,
    place?: 'before the line',
  ): Promise<string | undefined> {
    const match = await this.comparison.match(secret, hashes, place)
    if (match !== undefined) this.remembered.remember(this.mark(match, secret))
    return match
  }

  private mark(hash: string, secret: string): string {
    return createHmac('sha256', this.key).update(hash).update(secret).digest('base64url')
  }
}

const rememberedAtMost = 1000
const freshSeconds = 300
const knownSeconds = 24 * 3600

/**
 * How this process remembers a secret. `fresh` needs no other proof. `known` is no guess, but needs another
 * comparison.
 */
type Memory = 'fresh' | 'known'

/** The secrets that this process verified by bcrypt, as keyed digests. Holds the 1000 that clients used last. */
class RememberedSecrets {
  // The least recently used secret first.
  private readonly verifiedAt = new BoundedMap<number>(rememberedAtMost)

  /**
   * @param clock milliseconds of a clock that does not step. A clock that steps back would keep secrets fresh for
   * longer.
   */
  constructor(private readonly clock: () => number) {}

  getCached(mark: string): Memory | undefined {
    const since = this.verifiedAt.get(mark)
    if (since === undefined) return undefined
    const age = this.clock() - since
    if (age >= knownSeconds * 1000) {
      this.verifiedAt.delete(mark)
      return undefined
    }
    this.verifiedAt.put(mark, since)
    return age < freshSeconds * 1000 ? 'fresh' : 'known'
  }

  remember(mark: string): void {
    this.verifiedAt.put(mark, this.clock())
  }
}
