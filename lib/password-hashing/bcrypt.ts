import { compare, hash } from 'bcrypt'
import { type Priority, Semaphore } from './semaphore'

// As many as libuv has threads: more would only wait in its queue, before file system and DNS, where nobody counts them.
const threads = Number.parseInt(process.env['UV_THREADPOOL_SIZE'] ?? '', 10)
const turns = new Semaphore(threads >= 1 ? Math.min(threads, 1024) : 4, 32)

/** bcrypt reads no more than this of a secret. */
export const bcryptBytes = 72

/** What the digests of this suite cost: about 55 ms. */
export const bcryptCost = 10

/** Whether bcrypt reads the whole secret, so that a longer one never stands for its beginning. */
export function fitsBcrypt(secret: string): boolean {
  return secret !== '' && Buffer.byteLength(secret) <= bcryptBytes
}

/** Digests a secret, which must fit. It waits for its turn, however long that takes: only the host asks for it. */
export async function bcryptHash(secret: string): Promise<string> {
  return turns.take('after the line', () => hash(secret, bcryptCost))
}

/**
 * The first of these digests that the secret has. When it has none, it is compared with each decoy, too. All in one turn:
 * an attempt is made whole or not at all.
 *
 * @throws NotAttempted when too many wait already.
 */
export async function firstBcryptMatch(
  secret: string,
  hashes: readonly string[],
  decoys: readonly string[] = [],
  place: Priority = 'in line',
): Promise<string | undefined> {
  return turns.take(place, async () => {
    for (const each of hashes) if (await matches(secret, each)) return each
    for (const decoy of decoys) await matches(secret, decoy)
    return undefined
  })
}

// One that is too long costs the same and has none.
async function matches(secret: string, secretHash: string): Promise<boolean> {
  // PHP writes $2y$ for what bcrypt calls $2b$.
  const same = await compare(secret, secretHash.replace(/^\$2y\$/, '$2b$'))
  return same && fitsBcrypt(secret)
}

/** The cost inside a bcrypt digest. */
export function costOf(secretHash: string): number {
  return Number(secretHash.slice(4, 6))
}

/** A digest that no secret is known to have: to compare with it only costs what a comparison at this cost costs. */
export function decoyHash(cost: number): string {
  return `$2b$${String(cost).padStart(2, '0')}$m6yUorYonDnrmuCVykkTquf/g0Ha3IrwmefykpyaM8MVrRkawpX/K`
}

const costs = Array.from({ length: 28 }, (_, index) => 31 - index)
const roundsAt = (cost: number) => 2 ** cost
const roundsOf = (hashes: readonly string[]) =>
  hashes.reduce((rounds, secretHash) => rounds + roundsAt(costOf(secretHash)), 0)

/**
 * Compares secrets with bcrypt digests so that everyone who is refused has cost the same, whoever it was said to be:
 * nobody, somebody with one digest or with two, old ones that cost less or new ones that cost more. What is missing to
 * the most that anybody has cost in this process is filled up with decoys. bcrypt at cost c makes 2 to the c rounds, so
 * any difference is a sum of costs, and every failure makes the same number of rounds. No decoy is dearer than the dearest
 * digest, so that they are also made in as many comparisons where all digests cost the same: each takes some time of its own.
 */
export class ConstantWorkComparer {
  private mostRounds: number
  private dearest: number

  /** @param cost that a failure has at least, before any digest was seen; left out, none. */
  constructor(cost?: number) {
    this.mostRounds = cost === undefined ? 0 : roundsAt(cost)
    this.dearest = cost ?? 0
  }

  /**
   * The first of these digests that the secret has; undefined when it has none.
   *
   * @throws NotAttempted when too many are compared already.
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

// Costs from 4 to 31 are all that bcrypt has, so a difference of sums is a sum.
function decoysOf(rounds: number, dearest: number): readonly string[] {
  let left = rounds
  return costs.flatMap((cost) => {
    if (cost > dearest) return []
    const times = Math.floor(left / roundsAt(cost))
    left -= times * roundsAt(cost)
    return Array.from({ length: times }, () => decoyHash(cost))
  })
}
