export type Eventual<Value> = Value | Promise<Value>

/** To wait for a value that is there costs two promises. Hosts may return foreign promises. */
export const isLater = <Value>(value: Eventual<Value>): value is Promise<Value> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'

/** At once if it is there. */
export const following = <Value, Next>(
  value: Eventual<Value>,
  next: (value: Value) => Eventual<Next>,
): Eventual<Next> => (isLater(value) ? Promise.resolve(value).then(next) : next(value))

export function attempt<Value>(
  act: () => Eventual<Value>,
  failed: (thrown: unknown) => never,
): Eventual<Value> {
  try {
    const value = act()
    return isLater(value) ? Promise.resolve(value).catch(failed) : value
  } catch (thrown) {
    return failed(thrown)
  }
}

/**
 * `in line` is bounded, for attempts that may be guesses. `before the line` is for secrets that this process has
 * verified, `after the line` for calls of the host.
 */
export type Priority = 'before the line' | 'in line' | 'after the line'

export class Semaphore {
  private running = 0
  /** Served in this order. */
  private readonly waiting: Readonly<Record<Priority, (() => void)[]>> = {
    'before the line': [],
    'in line': [],
    'after the line': [],
  }

  constructor(
    private readonly atOnce: number,
    private readonly longestLine: number,
    private readonly refusal: () => Error,
  ) {}

  async take<Outcome>(place: Priority, act: () => Promise<Outcome>): Promise<Outcome> {
    await this.begin(place)
    try {
      return await act()
    } finally {
      this.end()
    }
  }

  private async begin(place: Priority): Promise<void> {
    if (this.running < this.atOnce) {
      this.running++
      return
    }
    const line = this.waiting[place]
    if (place === 'in line' && line.length >= this.longestLine) throw this.refusal()
    await new Promise<void>((resolve) => line.push(resolve))
  }

  // Never free in between: a new call could overtake the queue.
  private end(): void {
    const next = Object.values(this.waiting)
      .find((line) => line.length > 0)
      ?.shift()
    if (next === undefined) this.running--
    else next()
  }
}

/** Callers with the same key share one running act. */
export class SingleFlight<Outcome> {
  private readonly running = new Map<string, Promise<Outcome>>()

  /** `end of turn`: callers may join only in the same turn of the event loop. */
  constructor(private readonly until: 'settled' | 'end of turn' = 'settled') {}

  has(key: string): boolean {
    return this.running.has(key)
  }

  /** Callers share a failure too, except one before `act` returns a promise. */
  share(key: string, act: () => Promise<Outcome>): Promise<Outcome> {
    const other = this.running.get(key)
    if (other !== undefined) return other
    const own = this.until === 'settled' ? act().finally(() => this.running.delete(key)) : act()
    if (this.until === 'end of turn' && this.running.size === 0) setImmediate(() => this.running.clear())
    this.running.set(key, own)
    return own
  }

  /** If the running act fails or resolves to undefined, each caller runs its own. */
  async shareSuccess(key: string, act: () => Promise<Outcome>): Promise<Outcome> {
    const other = this.running.get(key)
    if (other === undefined) return this.share(key, act)
    return (await other.catch(() => undefined)) ?? act()
  }
}

/** Acts of one key take turns, in order; by default one at a time, and all wait. An act begins in a later microtask. */
export class Lines {
  private readonly lines = new Map<string, { readonly line: Semaphore; users: number }>()

  constructor(
    private readonly turns = 1,
    private readonly longest = Infinity,
    private readonly refusal = () => new Error('The line is full.'),
  ) {}

  async take<Outcome>(key: string, act: () => Promise<Outcome>): Promise<Outcome> {
    const known = this.lines.get(key) ?? {
      line: new Semaphore(this.turns, this.longest, this.refusal),
      users: 0,
    }
    this.lines.set(key, known)
    known.users += 1
    try {
      return await known.line.take('in line', act)
    } finally {
      known.users -= 1
      if (known.users === 0) this.lines.delete(key)
    }
  }
}

// Enough for a store that answers many calls together.
const atOnce = 16

export async function inTurns<Item, Result>(
  items: readonly Item[],
  act: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = []
  for (let first = 0; first < items.length; first += atOnce)
    results.push(...(await Promise.all(items.slice(first, first + atOnce).map(act))))
  return results
}

const failuresAtMost = 5
// Milliseconds.
const pause = 10_000

/** Opens after 5 failures in a row, then tries once every 10 seconds. */
export class CircuitBreaker {
  private failures = 0
  private opensAgainAt = 0

  /** @param clock must not step. */
  constructor(private readonly clock: () => number) {}

  /** Every act that may run must report its end. */
  mayTry(): boolean {
    if (this.failures < failuresAtMost) return true
    const now = this.clock()
    if (now < this.opensAgainAt) return false
    this.opensAgainAt = now + pause
    return true
  }

  succeeded(): void {
    this.failures = 0
  }

  failed(): void {
    this.failures += 1
    this.opensAgainAt = this.clock() + pause
  }
}
