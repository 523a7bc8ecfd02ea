import { type Priority, Semaphore } from '../primitives/semaphore'
import { tooManyAtOnce } from '../protocol/oauth-error'

// Runs as many hashes at once as libuv has threads. More would wait in the queue of libuv, in front of file system and
// DNS, where this package could not bound them.
const threads = Number.parseInt(process.env['UV_THREADPOOL_SIZE'] ?? '', 10)
const semaphore = new Semaphore(threads >= 1 ? Math.min(threads, 1024) : 4, 32, () =>
  tooManyAtOnce('bcrypt_busy', 'Too many secrets are being verified. Try again later.'),
)

/** What the suite uses of bcrypt. */
interface Bcrypt {
  hash(secret: string, cost: number): Promise<string>
  compare(secret: string, digest: string): Promise<boolean>
}

let loaded: Bcrypt | undefined

/**
 * Loads bcrypt at the first call: its native code does not fit into a bundle, and most servers have no digest of it. Call
 * at construction if a digest is known.
 *
 * @throws Error if its native code is not there.
 */
export function loadBcrypt(): Bcrypt {
  try {
    return (loaded ??= require('bcrypt'))
  } catch (cause) {
    throw new Error(
      'bcrypt cannot be loaded. A bundle must leave it out, and have it installed beside itself.',
      {
        cause,
      },
    )
  }
}

/** The largest number of bytes that bcrypt reads of a secret. */
export const bcryptBytes = 72

/** The cost of new digests: about 55 ms for each hash. */
export const bcryptCost = 10

/** Whether bcrypt reads the whole secret: 1 to 72 bytes. A longer one would match the digest of its beginning. */
export function fitsBcrypt(secret: string): boolean {
  return secret !== '' && Buffer.byteLength(secret) <= bcryptBytes
}

/** Hashes a secret, which must fit ({@link fitsBcrypt}). Waits behind all comparisons: only the host hashes. */
export async function bcryptHash(secret: string): Promise<string> {
  return semaphore.take('after the line', () => loadBcrypt().hash(secret, bcryptCost))
}

/**
 * Compares a secret with digests and resolves to the first match; to undefined if none matches. Without a match, also
 * compares the secret with each decoy. Takes one turn of the semaphore for all comparisons, so an attempt runs whole or
 * not at all.
 *
 * @throws NotAttempted if too many attempts wait already.
 */
async function firstBcryptMatch(
  secret: string,
  hashes: readonly string[],
  decoys: readonly string[] = [],
  place: Priority = 'in line',
): Promise<string | undefined> {
  return semaphore.take(place, async () => {
    for (const each of hashes) if (await matches(secret, each)) return each
    for (const decoy of decoys) await matches(secret, decoy)
    return undefined
  })
}

// Compares a secret that is too long as well, and then refuses it: every refusal must take the same time.
async function matches(secret: string, secretHash: string): Promise<boolean> {
  // PHP writes the prefix $2y$ in place of $2b$; both mean the same algorithm.
  const same = await loadBcrypt().compare(secret, secretHash.replace(/^\$2y\$/, '$2b$'))
  return same && fitsBcrypt(secret)
}

/** Reads the cost from a bcrypt digest. */
export function costOf(secretHash: string): number {
  return Number(secretHash.slice(4, 6))
}

/** Returns a digest of this cost without a known secret. A comparison with the decoy takes time and never matches. */
function decoyHash(cost: number): string {
  return `$2b$${String(cost).padStart(2, '0')}$m6yUorYonDnrmuCVykkTquf/g0Ha3IrwmefykpyaM8MVrRkawpX/K`
}

const costs = Array.from({ length: 28 }, (_, index) => 31 - index)
const roundsAt = (cost: number) => 2 ** cost
const roundsOf = (hashes: readonly string[]) =>
  hashes.reduce((rounds, secretHash) => rounds + roundsAt(costOf(secretHash)), 0)

/**
 * Compares secrets with bcrypt digests. Every refusal makes the same number of bcrypt rounds, so its time does not show
 * whether a client or owner exists, or how many digests of what cost it has.
 *
 * Decoys add the rounds that are missing to the most that any client or owner has cost in this process. bcrypt at cost
 * c makes 2^c rounds, so decoys can make up any difference exactly. No decoy costs more than the dearest digest. So if
 * all digests have the same cost, refusals also make the same number of comparisons, each of which takes some time of
 * its own.
 */
export class ConstantWorkComparer {
  private mostRounds: number
  private dearest: number

  /**
   * @param cost the least cost of a refusal, before the first digest. Default none: such a refusal then costs nothing.
   */
  constructor(cost?: number) {
    this.mostRounds = cost === undefined ? 0 : roundsAt(cost)
    this.dearest = cost ?? 0
  }

  /**
   * Resolves to the first of these digests that matches the secret; to undefined if none matches.
   *
   * @throws NotAttempted if too many attempts wait already.
   */
  async match(
    secret: string,
    hashes: readonly string[],
    place: Priority = 'in line',
  ): Promise<string | undefined> {
    const own = roundsOf(hashes)
    this.mostRounds = Math.max(this.mostRounds, own)
    this.dearest = Math.max(this.dearest, ...hashes.map(costOf))
    if (this.mostRounds === 0) return undefined
    return firstBcryptMatch(secret, hashes, decoysOf(this.mostRounds - own, this.dearest), place)
  }
}

// Finds decoys for a number of rounds, the dearest first. bcrypt has the costs 4 to 31, and the number is a multiple of
// 2^4, so nothing is left over.
function decoysOf(rounds: number, dearest: number): readonly string[] {
  let left = rounds
  return costs.flatMap((cost) => {
    if (cost > dearest) return []
    const times = Math.floor(left / roundsAt(cost))
    left -= times * roundsAt(cost)
    return Array.from({ length: times }, () => decoyHash(cost))
  })
}
