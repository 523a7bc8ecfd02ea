import { type Priority, Semaphore } from '../primitives/concurrency'
import { notAttempted } from '../protocol/refusals'

// More would wait in libuv's queue, unbounded, before file system and DNS.
const threads = Number.parseInt(process.env['UV_THREADPOOL_SIZE'] ?? '', 10)
export const usualThreads = 4
export const longestLine = 32
const atOnce = threads >= 1 ? Math.min(threads, 1024) : usualThreads
const semaphore = new Semaphore(atOnce, longestLine, () => notAttempted('bcrypt_busy'))

interface Bcrypt {
  hash(secret: string, cost: number): Promise<string>
  compare(secret: string, digest: string): Promise<boolean>
}

let loaded: Bcrypt | undefined

// Native code fits no bundle, and most servers need none. Call at construction if a digest is known.
export function loadBcrypt(): Bcrypt {
  try {
    return (loaded ??= require('bcrypt'))
  } catch (cause) {
    throw new Error(
      'bcrypt cannot be loaded. A bundle must leave it out, and have it installed beside itself.',
      { cause },
    )
  }
}

export const bcryptBytes = 72

// About 55 ms per hash.
export const bcryptCost = 10

// bcrypt reads 72 bytes: a longer secret would match the digest of its beginning.
export const fitsBcrypt = (secret: string): boolean =>
  secret !== '' && Buffer.byteLength(secret) <= bcryptBytes

export const bcryptHash = async (secret: string, place: Priority): Promise<string> =>
  semaphore.take(place, () => loadBcrypt().hash(secret, bcryptCost))

// Compares even a secret that is too long: every refusal must take the same time.
async function matches(secret: string, secretHash: string): Promise<boolean> {
  // PHP writes $2y$ for $2b$, the same algorithm.
  const same = await loadBcrypt().compare(secret, secretHash.replace(/^\$2y\$/, '$2b$'))
  return same && fitsBcrypt(secret)
}

export const costOf = (secretHash: string): number => Number(secretHash.slice(4, 6))

const decoyHash = (cost: number): string =>
  `$2b$${String(cost).padStart(2, '0')}$m6yUorYonDnrmuCVykkTquf/g0Ha3IrwmefykpyaM8MVrRkawpX/K`

const costs = Array.from({ length: 28 }, (_, index) => 31 - index)
const roundsAt = (cost: number) => 2 ** cost
const roundsOf = (hashes: readonly string[]) =>
  hashes.reduce((rounds, secretHash) => rounds + roundsAt(costOf(secretHash)), 0)

// Every refusal makes the same number of bcrypt rounds: its time shows no client, owner or digest. Decoys add
// what the dearest one of this process has more. Cost c makes 2^c rounds, so the sum is exact.
export class ConstantWorkComparer {
  private mostRounds: number
  private dearest: number

  // `cost`: the least of a refusal before the first digest. Default: none.
  constructor(cost?: number) {
    this.mostRounds = cost === undefined ? 0 : roundsAt(cost)
    this.dearest = cost ?? 0
  }

  // One turn for all comparisons: an attempt runs whole or not at all.
  async match(
    secret: string,
    hashes: readonly string[],
    place: Priority = 'in line',
    further?: () => Promise<string | undefined>,
  ): Promise<string | undefined> {
    const own = roundsOf(hashes)
    this.mostRounds = Math.max(this.mostRounds, own)
    this.dearest = Math.max(this.dearest, ...hashes.map(costOf))
    if (this.mostRounds === 0 && further === undefined) return undefined
    const decoys = decoysOf(this.mostRounds - own, this.dearest)
    return semaphore.take(place, async () => {
      for (const each of hashes) if (await matches(secret, each)) return each
      for (const decoy of decoys) await matches(secret, decoy)
      return further?.()
    })
  }
}

// Costs are 4 to 31, and `rounds` is a multiple of 2^4: nothing is left over.
function decoysOf(rounds: number, dearest: number): readonly string[] {
  let left = rounds
  return costs.flatMap((cost) => {
    if (cost > dearest) return []
    const times = Math.floor(left / roundsAt(cost))
    left -= times * roundsAt(cost)
    return Array.from({ length: times }, () => decoyHash(cost))
  })
}
