import { BoundedMap } from '../protocol/latest'

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
