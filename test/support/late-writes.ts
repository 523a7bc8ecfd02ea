import { Redis } from 'ioredis'
import { waitUntil } from './wait-until'

/** Writes that come later than what was sent after them, over a connection that has nothing to do with their client. */
export class LateWrites {
  count = 0
  private readonly timers = new Set<NodeJS.Timeout>()
  private readonly arrivals = new Set<Promise<unknown>>()
  private connection: { readonly port: number; readonly redis: Redis } | undefined

  constructor(private readonly port: () => number) {}

  send([name = '', ...words]: readonly string[], lateness: number): void {
    this.count += 1
    const arrival = new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        this.timers.delete(timer)
        // One that is refused has no effect, which is what is hoped for.
        this.connected()
          .call(name, ...words)
          .then(
            () => resolve(),
            () => resolve(),
          )
      }, lateness)
      this.timers.add(timer)
    })
    this.arrivals.add(arrival)
    void arrival.then(() => this.arrivals.delete(arrival))
  }

  async allArrived(): Promise<void> {
    await waitUntil('each late write has come', async () => this.arrivals.size === 0)
  }

  close(): void {
    for (const timer of this.timers) clearTimeout(timer)
    this.connection?.redis.disconnect()
  }

  /** Leads where new connections lead now. */
  private connected(): Redis {
    const port = this.port()
    if (this.connection?.port !== port) {
      this.connection?.redis.disconnect()
      const redis = new Redis(port, '127.0.0.1', { maxRetriesPerRequest: 0, commandTimeout: 2000 })
      redis.on('error', () => {})
      this.connection = { port, redis }
    }
    return this.connection.redis
  }
}
