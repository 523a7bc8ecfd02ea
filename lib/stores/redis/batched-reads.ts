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

interface Waiting {
  readonly key: string
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** Single reads once Redis refuses `MGET`. */
export class ReadsTogether implements RedisReads {
  private isRefused = false
  private waiting: Waiting[] = []

  constructor(
    private readonly client: RedisCommands,
    private readonly alone: RedisReads,
  ) {}

  read(key: string): Promise<unknown> {
    if (this.isRefused) return this.alone.read(key)
    return new Promise((resolve, reject) => this.waiting.push({ key, resolve, reject }))
  }

  send(): void {
    const { waiting } = this
    if (waiting.length === 0) return
    this.waiting = []
    this.values(waiting.map(({ key }) => key)).then(
      (values) => waiting.forEach(({ resolve }, at) => resolve(values[at])),
      (error: unknown) => waiting.forEach(({ reject }) => reject(error)),
    )
  }

  private async values(keys: readonly string[]): Promise<readonly unknown[]> {
    if (keys.length === 1) return this.each(keys)
    try {
      const values = await this.client.call('MGET', ...keys)
      if (Array.isArray(values) && values.length === keys.length) return values
      throw new Error(`Redis replied to MGET of ${keys.length} keys with another number of values.`)
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
