import { createHmac } from 'node:crypto'
import { bcryptBytes, bcryptHash, ConstantWorkComparer, fitsBcrypt } from './bcrypt'
import { BoundedMap } from '../primitives/maps'
import { type Client, isBcryptHash, liveSecrets } from '../protocol/client'
import { digest, isSameDigest, secureRandom } from '../protocol/credential'
import type { Throttle, Verification } from './method'
import { SingleFlight } from '../primitives/concurrency'

const generatedPrefix = 'sha256:'

/** A new secret, to show once, and its digest. */
export interface GeneratedClientSecret {
  /** 43 characters `A-Za-z0-9_-`: 258 random bits. */
  readonly client_secret: string
  /** For `client_secret_hashes` of the registration. */
  readonly client_secret_hash: string
}

/** Makes a client secret that is too random for a guess. Its digest is SHA-256, which is quick to check. */
export function generateClientSecret(): GeneratedClientSecret {
  const client_secret = secureRandom(43)
  return { client_secret, client_secret_hash: generatedHash(client_secret) }
}

/**
 * Hashes a secret that a person may have chosen: bcrypt at cost 10, about 55 ms. Resolves to the digest for
 * `client_secret_hashes`.
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

export const generatedHash = (secret: string): string => generatedPrefix + digest(secret)

/**
 * Remembers a secret after a successful bcrypt comparison, under a keyed digest of stored hash and secret;
 * never a failure. For five minutes, this replaces a comparison; for a day, it shows that the secret is no
 * guess.
 */
export class SecretVerifier {
  private readonly remembered: RememberedSecrets
  private readonly comparison = new ConstantWorkComparer()
  private readonly renewals = new SingleFlight<string | undefined>()
  private readonly key = secureRandom(43)
  private readonly decoys = Array.from(
    { length: liveSecrets },
    () => generateClientSecret().client_secret_hash,
  )

  /** @param clock milliseconds of a clock that does not step, such as `steadyClock`. */
  constructor(clock: () => number) {
    this.remembered = new RememberedSecrets(clock)
  }

  /** A right generated secret cannot be a guess, so no limit applies. Undefined: it may be a chosen one. */
  verifyGenerated(client: Client | undefined, secret: string): Verification | undefined {
    const hashes = client?.client_secret_hashes ?? none
    const presented = digest(secret)
    let match: string | undefined
    // Each comparison runs, so an unknown client costs the same.
    for (let at = 0; at < Math.max(hashes.length, liveSecrets); at++) {
      const hash = hashes[at] ?? this.decoys[at] ?? ''
      if (hash.startsWith(generatedPrefix) && isSameDigest(presented, hash.slice(generatedPrefix.length)))
        match = hashes[at]
    }
    return match === undefined ? undefined : verdict(match, hashes)
  }

  /** A secret verified within a day passes as `known`, which counts nothing. */
  async verifyChosen(
    client: Client | undefined,
    secret: string,
    withinLimits: Throttle,
  ): Promise<Verification> {
    const registered = client?.client_secret_hashes ?? none
    // Most requests use the current secret.
    const hashes = registered.toReversed()
    const memories = this.padded(hashes).map((hash) => this.remembered.getCached(this.mark(hash, secret)))
    const fresh = hashes.find((_, at) => memories[at] === 'fresh')
    const notGuessed = (verification: () => Promise<Verification>) => withinLimits(verification, 'known')
    if (fresh !== undefined) return notGuessed(async () => verdict(fresh, registered))
    const known = hashes.find((_, at) => memories[at] === 'known')
    if (known !== undefined)
      return notGuessed(async () => verdict(await this.renewed(known, secret), registered))
    return withinLimits(async () =>
      verdict(await this.compared(hashes.filter(isBcryptHash), secret), registered),
    )
  }

  /** An unknown client, and clients with one or two secrets, cost the same. */
  private padded(hashes: readonly string[]): readonly string[] {
    return [...hashes, ...this.decoys.slice(hashes.length)]
  }

  // Only the client itself can cause this, so it goes before possible guesses.
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

const none: readonly string[] = []

const verdict = (match: string | undefined, hashes: readonly string[]): Verification =>
  match !== undefined && (match === hashes.at(-1) || 'by an old secret')

const rememberedAtMost = 1000
const freshSeconds = 300
const knownSeconds = 24 * 3600

/** `fresh` needs no other proof. `known` is no guess, but needs another comparison. */
type Memory = 'fresh' | 'known'

/** Keyed digests; evicts the least recently used. */
class RememberedSecrets {
  private readonly verifiedAt = new BoundedMap<number>(rememberedAtMost)

  /** @param clock milliseconds. A clock that steps back would keep secrets fresh for longer. */
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
