// Tuning: one MGET for the reads of one turn of the event loop: ioredis spends some 10 µs on each command.
// Buys: a tenth less processor time for a refresh, a twentieth for a guard, less work for Redis.
// Measured: 2026-11-22, docs/reports/performance.md ("What was found").
// Can go: when ioredis joins the GETs of one turn, or spends much less on a command.
import type { RedisCommands } from './redis-commands'

export interface RedisReads {
  /** Null if the key does not exist. */
  read(key: string): Promise<unknown>
}

/** For a cluster, whose keys are on many servers. */
export const readsOver = (client: RedisCommands): RedisReads => ({ read: (key) => client.call('GET', key) })

// CROSSSLOT: a cluster that looks like one server. NOPERM: access rules. Both are permanent.
const refusal = /^(?:CROSSSLOT|NOPERM) /

/** Single reads once Redis refuses `MGET`. */
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

class Batcher<Argument, Result> {
  private waiting: Call<Argument, Result>[] = []

  /** @param sendAll one result for each argument, in order. */
  constructor(private readonly sendAll: (batch: readonly Argument[]) => Promise<readonly Result[]>) {}

  add(argument: Argument): Promise<Result> {
    return new Promise((resolve, reject) => this.waiting.push({ argument, resolve, reject }))
  }

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
