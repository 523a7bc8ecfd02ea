// Tuning: sends the reads of one turn of the event loop as one MGET, because ioredis spends some 10 µs on each command.
// Buys: a tenth less processor time for a refresh, a twentieth less for a guard, and less work for Redis.
// Measured: 2026-11-22, docs/reports/performance.md ("What was found").
// Can go: when ioredis joins the GETs of one turn by itself, or spends much less on a command.
import type { RedisCommands } from './redis-commands'

/** Reads values from Redis. */
export interface RedisReads {
  /** Resolves to the text under the key; to null if the key does not exist. */
  read(key: string): Promise<unknown>
}

/** Sends one `GET` for each read. A cluster needs this, because its keys are on many servers. */
export function readsOver(client: RedisCommands): RedisReads {
  return { read: (key) => client.call('GET', key) }
}

// CROSSSLOT comes from a cluster that looks like one server, NOPERM from access rules. Both are permanent, so this
// connection sends no MGET again.
const refusal = /^(?:CROSSSLOT|NOPERM) /

/**
 * Collects reads and sends them as one `MGET` on {@link send}: Redis and ioredis do the work of one command for all
 * reads. Falls back to single reads if Redis refuses `MGET`.
 */
export class ReadsTogether implements RedisReads {
  private isRefused = false
  private readonly batcher = new Batcher((keys: readonly string[]) => this.values(keys))

  constructor(
    private readonly client: RedisCommands,
    private readonly alone: RedisReads,
  ) {}

  read(key: string): Promise<unknown> {
    return this.isRefused ? this.alone.read(key) : this.batcher.add(key)
  }

  send(): void {
    this.batcher.flush()
  }

  private async values(keys: readonly string[]): Promise<readonly unknown[]> {
    if (keys.length === 1) return this.each(keys)
    try {
      const values = await this.client.call('MGET', ...keys)
      return Array.isArray(values) ? values : []
    } catch (error) {
      if (!(error instanceof Error) || !refusal.test(error.message)) throw error
      this.isRefused = true
      return this.each(keys)
    }
  }

  private each(keys: readonly string[]): Promise<readonly unknown[]> {
    return Promise.all(keys.map((key) => this.alone.read(key)))
  }
}

interface Call<Argument, Result> {
  readonly argument: Argument
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/** Collects calls and sends them as one batch on {@link flush}. */
class Batcher<Argument, Result> {
  private waiting: Call<Argument, Result>[] = []

  /** @param sendAll gets at least one argument. Resolves to one result for each argument, in the same order. */
  constructor(private readonly sendAll: (batch: readonly Argument[]) => Promise<readonly Result[]>) {}

  /** Adds a call to the batch. Settles after the next {@link flush}, once the batch has its results. */
  add(argument: Argument): Promise<Result> {
    return new Promise((resolve, reject) => this.waiting.push({ argument, resolve, reject }))
  }

  /** Sends all calls since the last flush as one batch. If the batch fails, every call rejects. */
  flush(): void {
    const calls = this.waiting
    if (calls.length === 0) return
    this.waiting = []
    const rejectAll = (error: unknown) => calls.forEach(({ reject }) => reject(error))
    this.sendAll(calls.map(({ argument }) => argument)).then((results) => {
      // A call without a result would wait for ever.
      if (results.length !== calls.length)
        return rejectAll(new Error(`The batch of ${calls.length} calls got ${results.length} results.`))
      results.forEach((result, at) => calls[at]?.resolve(result))
    }, rejectAll)
  }
}
