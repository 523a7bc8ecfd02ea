import { inTime } from '../primitives/clock'
import { isBoolean } from '../primitives/values'
import { refused } from '../protocol/refusals'

/**
 * Verifies a client secret by a digest of another authorization server, as it stands in `client_secret_hashes`. Must
 * depend on nothing else: the server remembers what is right, and to hide which clients exist, it asks for each refused
 * secret as often as for the client with the most such digests, with digests of other clients whose answers count for
 * nothing. So the time of a response shows only what your function adds: whether one digest costs more than another, and
 * where a comparison ends that does not take constant time.
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

/** Every refusal makes the same number of calls, from the first answer for a digest on. */
export class ForeignDigests {
  private decoys: readonly string[] = []

  constructor(private readonly verify: VerifyDigest) {}

  /** Undefined if there is nothing to call, so that no attempt waits for a turn. */
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
