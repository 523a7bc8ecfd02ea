import { costOf, decoyHash, firstBcryptMatch } from './bcrypt'
import type { Priority } from './turns'

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
