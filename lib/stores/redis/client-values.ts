import { BoundedMap } from '../../primitives/bounded-map'
import { createId, secureRandom } from '../../protocol/credential'
import { isDone } from './redis-commands'

// A value is the writer's revision, 22 characters, and the client as JSON. A write sent again, because the
// reply was lost, finds its own revision and counts as done.
const revisionLength = 22

// One parallel change wins each round: enough for 100 at once.
const maximumRounds = 100
const maximumDecoded = 1000

interface ClientForm<T> {
  encode(client: T): string
  decode(json: string): T
  changed(client: T, change: (client: T) => T): T
}

export interface Replacement<T> {
  readonly revision: string
  readonly expected: string
  readonly json: string
  readonly next: T
}

/** A value changes only if its revision is the one that was read. */
export abstract class RedisClientValues<T> {
  // The same object for the same text spares a parsing.
  private readonly decoded = new BoundedMap<{ readonly value: string; readonly client: T }>(maximumDecoded)

  constructor(private readonly form: ClientForm<T>) {}

  protected abstract read(clientId: string): Promise<string | undefined>

  /** Writes over the revisions `expected` and `revision`. Resolves to 1, else 0. */
  protected abstract replace(clientId: string, replacement: Replacement<T>): Promise<unknown>

  async find(clientId: string): Promise<T | undefined> {
    const value = await this.read(clientId)
    return value === undefined ? undefined : this.decode(clientId, value)
  }

  async update(clientId: string, change: (client: T) => T): Promise<T | undefined> {
    for (let round = 0; round < maximumRounds; round++) {
      const stored = await this.read(clientId)
      if (stored === undefined) return undefined
      const current = this.decode(clientId, stored)
      const next = this.form.changed(current, change)
      if (next === current) return current
      const value = this.written(next)
      if (await this.replaced(clientId, stored, value, next)) return this.decode(clientId, value)
    }
    throw new Error(`Other writers changed the same client in each of ${maximumRounds} rounds.`)
  }

  protected written(client: T): string {
    return createId(secureRandom) + this.form.encode(client)
  }

  /** Another writer may have changed the client since. */
  protected lastSeen(clientId: string): T | undefined {
    return this.decoded.get(clientId)?.client
  }

  protected decode(clientId: string, value: string): T {
    const known = this.decoded.get(clientId)
    if (known?.value === value) return known.client
    const client = this.form.decode(storedJsonOf(value))
    this.decoded.put(clientId, { value, client })
    return client
  }

  /**
   * After a failed write, reads: perhaps only the reply was lost. A caller that saw a failure would rotate the
   * secret again, and drop one in use.
   */
  protected async writeOrVerify(
    clientId: string,
    value: string,
    write: () => Promise<unknown>,
  ): Promise<boolean> {
    try {
      return isDone(await write())
    } catch (failure) {
      if ((await this.read(clientId).catch(() => undefined)) === value) return true
      throw failure
    }
  }

  private replaced(clientId: string, stored: string, value: string, next: T): Promise<boolean> {
    const words = {
      revision: revisionOf(value),
      expected: revisionOf(stored),
      json: storedJsonOf(value),
      next,
    }
    return this.writeOrVerify(clientId, value, () => this.replace(clientId, words))
  }
}

const revisionOf = (value: string): string => value.slice(0, revisionLength)

export const storedJsonOf = (value: string): string => value.slice(revisionLength)
