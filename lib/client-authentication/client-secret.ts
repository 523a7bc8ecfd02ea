import { createHmac } from 'node:crypto'
import { bcryptBytes, bcryptHash, ConstantWorkComparer, fitsBcrypt } from '../password-hashing/bcrypt'
import { BoundedMap } from '../protocol/bounded-map'
import { type Client, isBcryptHash, liveSecrets } from '../protocol/client'
import { digest, isSameText, secureRandom } from '../protocol/credential'
import type { Throttle, Verification } from './method'
import { SingleFlight } from './single-flight'

const generatedPrefix = 'sha256:'

/** A secret for a client, shown once, and the digest that its registration keeps. */
export interface GeneratedClientSecret {
  /** 43 characters `A-Za-z0-9_-`: 256 random bits. */
  readonly client_secret: string
  readonly client_secret_hash: string
}

/** Makes a client secret that no one can guess; its digest is quick to check. */
export function generateClientSecret(): GeneratedClientSecret {
  const client_secret = secureRandom(32).toString('base64url')
  return { client_secret, client_secret_hash: generatedHash(client_secret) }
}

/**
 * Digests a secret that a person may have chosen, with bcrypt at cost 10: about 55 ms.
 *
 * @throws RangeError when the secret is empty or longer than the 72 bytes that bcrypt reads.
 */
export async function hashClientSecret(secret: string): Promise<string> {
  if (!fitsBcrypt(secret))
    throw new RangeError(
      `A client secret must have 1 to ${bcryptBytes} bytes; generateClientSecret() makes a good one.`,
    )
  return bcryptHash(secret)
}

/** What a registration keeps of a generated secret. */
export function generatedHash(secret: string): string {
  return generatedPrefix + digest(secret)
}

/**
 * Verifies client secrets. A bcrypt verification that succeeded is remembered in this process under a keyed digest of
 * stored hash and secret, so that dropping the hash drops the memory: for five minutes it stands for a verification, for
 * a day it shows that the secret is no guess. A failure is never remembered. Whoever is refused has cost the same.
 */
export class SecretVerifier {
  private readonly remembered: RememberedSecrets
  private readonly comparison = new ConstantWorkComparer()
  private readonly renewals = new SingleFlight<string>()
  private readonly key = secureRandom(32)
  // Digests of secrets that nobody has.
  private readonly nobodys = Array.from(
    { length: liveSecrets },
    () => generateClientSecret().client_secret_hash,
  )

  /** @param clock milliseconds of a clock that does not step. */
  constructor(clock: () => number) {
    this.remembered = new RememberedSecrets(clock)
  }

  /**
   * Whether the secret is one of the client's. A generated one cannot be guessed, and one that was verified before was
   * not: neither is held to the limits.
   *
   * @throws OAuthError of a limit; NotAttempted when bcrypt has too much to do.
   */
  async verify(client: Client | undefined, secret: string, withinLimits: Throttle): Promise<Verification> {
    // The current secret, whose digest is the last, is what most requests come with.
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

  /** As many digests as any client has, so that none costs less than another. */
  private padded(hashes: readonly string[]): readonly string[] {
    return [...hashes, ...this.nobodys.slice(hashes.length)]
  }

  // Before all that may be guesses: nobody but the client itself can bring this about.
  private async renewed(hash: string, secret: string): Promise<string | undefined> {
    return this.renewals.share(this.mark(hash, secret), () =>
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

/** How a secret is remembered: `fresh` needs no other proof; `known` is no guess, but is verified again. */
export type Memory = 'fresh' | 'known'

/** The marks of the last thousand secrets that were verified by bcrypt in this process and used since. */
export class RememberedSecrets {
  // In the order of their last use.
  private readonly verifiedAt = new BoundedMap<number>(rememberedAtMost)

  /** @param clock milliseconds of a clock that does not step: set back, it would keep secrets fresh for longer. */
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
