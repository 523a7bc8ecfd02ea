import { compare, hash } from 'bcrypt'
import { Semaphore, type Priority } from './turns'

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
