import { createHmac } from 'node:crypto'
import { bcryptBytes, bcryptHash, ConstantWorkComparer, fitsBcrypt } from './bcrypt'
import { BoundedMap } from '../primitives/maps'
import { type Client, isBcryptHash, isForeignDigest, liveSecrets } from '../protocol/client'
import { digest, isSameDigest, secureRandom } from '../protocol/credential'
import type { Throttle, Verification } from './method'
import { inTime } from '../primitives/clock'
import { SingleFlight } from '../primitives/concurrency'
import { isBoolean } from '../primitives/values'
import { refused } from '../protocol/refusals'

const generatedPrefix = 'sha256:'

/** A new secret, to show once, and its digest. */
export interface GeneratedClientSecret {
  /** 43 characters `A-Za-z0-9_-`: 258 random bits. */
  readonly client_secret: string
  /** For `client_secret_hashes` of the registration. */
  readonly client_secret_hash: string
}

/** Makes a client secret that is too random for a guess; its SHA-256 digest is quick to check. */
export function generateClientSecret(): GeneratedClientSecret {
  const client_secret = secureRandom(43)
  return { client_secret, client_secret_hash: generatedHash(client_secret) }
}

/**
 * Hashes a secret that a person may have chosen, for `client_secret_hashes`: bcrypt at cost 10, about 55 ms.
 *
 * @throws RangeError if the secret is empty, or longer than the 72 bytes that bcrypt reads.
 */
export async function hashClientSecret(secret: string): Promise<string> {
  if (!fitsBcrypt(secret))
    throw new RangeError(
      `A client secret must have 1 to ${bcryptBytes} bytes; generateClientSecret() makes a good one.`,
    )
  // Only the host hashes: it waits behind all comparisons.
  return bcryptHash(secret, 'after the line')
}

export const generatedHash = (secret: string): string => generatedPrefix + digest(secret)

// Undefined for a chosen secret that is too long for bcrypt.
async function ownHash(secret: string): Promise<string | undefined> {
  if (looksRandom(secret)) return generatedHash(secret)
  // Only the client itself can cause this, so it goes before guesses.
  return fitsBcrypt(secret) ? bcryptHash(secret, 'before the line') : undefined
}

// Guesses at a generated secret have no limit: in doubt, a person has chosen it.
function looksRandom(secret: string): boolean {
  const share = (letters: RegExp) => (secret.match(letters) ?? []).length / secret.length
  const different = new Set(secret).size
  if (/^[\da-f]{64,}$/.test(secret)) return different > 11
  const isMixed = share(/[A-Z]/g) > 0.25 && share(/[a-z]/g) > 0.25 && share(/\d/g) > 0.05
  return /^[\w+/=-]{43,}$/.test(secret) && isMixed && different > 20
}

export const rememberedAtMost = 1000
export const freshSeconds = 300
export const knownSeconds = 24 * 3600

// Remembers right secrets under a keyed digest: for five minutes in place of a comparison, for a day as no guess.
export class SecretVerifier {
  private readonly verifiedAt = new BoundedMap<number>(rememberedAtMost)
  private readonly foreign: ForeignDigests | undefined
  private readonly comparison = new ConstantWorkComparer()
  private readonly renewals = new SingleFlight<string | undefined>()
  private readonly key = secureRandom(43)
  private readonly decoys = Array.from(
    { length: liveSecrets },
    () => generateClientSecret().client_secret_hash,
  )

  // `clock` must not step: secrets would stay fresh for longer. `replace`: undefined if the host holds the
  // registrations.
  constructor(
    private readonly clock: () => number,
    verifyDigest?: VerifyDigest,
    private readonly replace?: (clientId: string, from: string, to: string) => Promise<unknown>,
  ) {
    this.foreign = verifyDigest && new ForeignDigests(verifyDigest)
  }

  // A right generated secret is no guess: no limit applies. Undefined: it may be a chosen one.
  verifyGenerated(client: Client | undefined, secret: string): Verification | undefined {
    const hashes = client?.client_secret_hashes ?? none
    const presented = digest(secret)
    let match: string | undefined
    // Each comparison runs: an unknown client costs the same.
    for (let at = 0; at < Math.max(hashes.length, liveSecrets); at++) {
      const hash = hashes[at] ?? this.decoys[at] ?? ''
      if (hash.startsWith(generatedPrefix) && isSameDigest(presented, hash.slice(generatedPrefix.length)))
        match = hashes[at]
    }
    return match === undefined ? undefined : verdict(match, hashes)
  }

  async verifyChosen(
    client: Client | undefined,
    secret: string,
    withinLimits: Throttle,
  ): Promise<Verification> {
    const { client_secret_hashes: registered = none, client_id: clientId = '' } = client ?? {}
    const hashes = registered.toReversed()
    const memories = this.padded(hashes).map((hash) => this.memoryOf(this.mark(hash, secret)))
    const fresh = hashes.find((_, at) => memories[at] === 'fresh')
    const notGuessed = (verification: () => Promise<Verification>) => withinLimits(verification, 'known')
    if (fresh !== undefined) return notGuessed(async () => verdict(fresh, registered))
    const known = hashes.find((_, at) => memories[at] === 'known')
    if (known !== undefined)
      return notGuessed(async () => verdict(await this.renewed(known, secret, clientId), registered))
    return withinLimits(async () => verdict(await this.compared(hashes, secret, clientId), registered))
  }

  // Unknown clients, and those with one or two secrets, cost the same.
  private padded(hashes: readonly string[]): readonly string[] {
    return [...hashes, ...this.decoys.slice(hashes.length)]
  }

  // Only the client itself can cause this, so it goes before guesses.
  private async renewed(hash: string, secret: string, clientId: string): Promise<string | undefined> {
    return this.renewals.shareSuccess(this.mark(hash, secret), () =>
      this.compared([hash], secret, clientId, 'before the line'),
    )
  }

  private async compared(
    hashes: readonly string[],
    secret: string,
    clientId: string,
    place?: 'before the line',
  ): Promise<string | undefined> {
    const further = this.foreign?.attempt(secret, hashes.filter(isForeignDigest))
    const match = await this.comparison.match(secret, hashes.filter(isBcryptHash), place, further)
    if (match === undefined) return undefined
    this.verifiedAt.set(this.mark(match, secret), this.clock())
    // The secret is right, whatever becomes of its digest.
    if (isForeignDigest(match)) await this.replaced(match, secret, clientId).catch(() => undefined)
    return match
  }

  private async replaced(match: string, secret: string, clientId: string): Promise<void> {
    const hash = this.replace && (await ownHash(secret))
    if (hash === undefined) return
    await this.replace?.(clientId, match, hash)
    this.verifiedAt.set(this.mark(hash, secret), this.clock())
  }

  private memoryOf(mark: string): 'fresh' | 'known' | undefined {
    const since = this.verifiedAt.get(mark)
    if (since === undefined) return undefined
    const age = this.clock() - since
    if (age >= knownSeconds * 1000) return undefined
    this.verifiedAt.set(mark, since)
    return age < freshSeconds * 1000 ? 'fresh' : 'known'
  }

  private mark(hash: string, secret: string): string {
    // No digest has a space.
    return createHmac('sha256', this.key).update(`${hash} ${secret}`).digest('base64url')
  }
}

const none: readonly string[] = []

const verdict = (match: string | undefined, hashes: readonly string[]): Verification =>
  match !== undefined && (match === hashes.at(-1) || 'by an old secret')

/**
 * Verifies a client secret by a digest of another authorization server, as it stands in `client_secret_hashes`. Must
 * depend on nothing else: the server remembers what is right. To hide which clients exist, it calls for each refused
 * secret as often as for the client with the most such digests, also with digests of other clients, whose answers count
 * for nothing. Digests of different cost, and comparisons that do not take constant time, still show in the response
 * time.
 */
export type VerifyDigest = (digest: string, secret: string) => boolean | Promise<boolean>

// Whoever never answers must not hold a turn of the queue for ever.
const deadline = {
  seconds: 10,
  late: () => failure('did not answer within 10 s'),
  failed: (thrown: unknown) => failure(`threw ${thrown instanceof Error ? thrown.name : 'no error'}`),
}

// Only the name: the message may quote the secret.
const failure = (what: string) =>
  refused('secret_check_failed', {}, { cause: new Error(`The function verifyDigest ${what}.`) })

// Every refusal makes the same number of calls, from the first answer for a digest on.
class ForeignDigests {
  private decoys: readonly string[] = []

  constructor(private readonly verify: VerifyDigest) {}

  // Undefined without calls: no attempt waits for a turn.
  attempt(secret: string, digests: readonly string[]): (() => Promise<string | undefined>) | undefined {
    return digests.length + this.decoys.length === 0 ? undefined : () => this.match(secret, digests)
  }

  private async match(secret: string, digests: readonly string[]): Promise<string | undefined> {
    for (const [at, each] of [...digests, ...this.decoys.slice(digests.length)].entries()) {
      const isSame = await this.isSame(each, secret)
      if (at >= digests.length) continue
      // Once it has an answer: a digest for which the function throws would fail every refusal.
      if (at >= this.decoys.length) this.decoys = digests.slice(0, at + 1)
      if (isSame) return each
    }
    return undefined
  }

  private async isSame(foreign: string, secret: string): Promise<boolean> {
    const answer: unknown = await inTime(async () => this.verify(foreign, secret), deadline)
    if (isBoolean(answer)) return answer
    throw failure('returned neither true nor false')
  }
}
