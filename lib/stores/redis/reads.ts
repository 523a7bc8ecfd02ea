import { isRecord } from '../../primitives/values'
import type { RedisCommands } from './redis-commands'

// Tuning: one MGET for the reads of one turn of the event loop: ioredis spends some 10 µs on each command.
// Buys: a tenth less processor time for a refresh, a twentieth for a guard, less work for Redis.
// Measured: 2026-11-22, docs/reports/performance.md ("What was found").
// Can go: when ioredis joins the GETs of one turn, or spends much less on a command.

// CROSSSLOT: a cluster that looks like one server. NOPERM: access rules. Both are permanent.
const refusal = /^(?:CROSSSLOT|NOPERM) /

interface Waiting {
  readonly key: string
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** Single reads once Redis refuses `MGET`. */
export class ReadsTogether {
  private isRefused = false
  private waiting: Waiting[] = []

  constructor(private readonly client: RedisCommands) {}

  read(key: string): Promise<unknown> {
    if (this.isRefused) return this.client.call('GET', key)
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
    return Promise.all(keys.map((key) => this.client.call('GET', key)))
  }
}

const confirmedFor = 1000

/**
 * Leaves a master that became a replica. Redis reports a demotion to writers only (READONLY): after a failover
 * behind one name, a connection that only reads, such as a guard's, would stay with the old master and still
 * find revoked tokens.
 *
 * Asks at most once a second, in the packet of other commands. A role counts from the sending of the question.
 * A read without a confirmed role waits for that reply, which arrives first. A replica from the start stays in
 * use: `check` of the store warns of it.
 */
export class MasterRole {
  private askedAt = -Infinity
  private pending: Promise<void> | undefined
  private wasMaster = false

  /** @param hello sends HELLO, on the connection of the reads and writes, ahead of them. */
  constructor(
    private readonly hello: () => Promise<unknown>,
    private readonly leave: () => void,
  ) {}

  /**
   * Call before a command. Undefined within a second of a confirmation. Rejects if the server was the master
   * and is a replica now.
   */
  confirmed(): Promise<void> | undefined {
    const now = performance.now()
    if (now - this.askedAt >= confirmedFor) {
      this.askedAt = now
      this.pending = this.ask(now)
    }
    return this.pending
  }

  /** The next connection may lead to another server. */
  forget(): void {
    this.askedAt = -Infinity
  }

  private async ask(askedAt: number): Promise<void> {
    const role = await this.hello().then(roleIn, (failure: unknown) => {
      // The server, or a proxy, does not tell.
      if (failure instanceof Error && failure.name === 'ReplyError') return undefined
      this.forget()
      throw failure
    })
    if (role === 'replica' && this.wasMaster) {
      this.forget()
      this.leave()
      throw new Error('READONLY The server was the master and is a replica now.')
    }
    if (role === 'master') this.wasMaster = true
    if (this.askedAt === askedAt) this.pending = undefined
  }
}

export const confirmedBy = <T>(confirmation: Promise<void> | undefined, reply: Promise<T>): Promise<T> =>
  confirmation === undefined ? reply : Promise.all([reply, confirmation]).then(([value]) => value)

const ignored = (): undefined => undefined

/**
 * Over a `Redis` of ioredis, which has one connection, reads come from a master only. The store cannot close
 * the host's connection: after a demotion it sends a write without effect, and at its READONLY the host's own
 * `reconnectOnError` can reconnect.
 *
 * @param unused a key that never exists.
 */
export function readOverHost(client: RedisCommands, unused: string): (key: string) => Promise<unknown> {
  const read = (key: string) => client.call('GET', key)
  // Not over a cluster, whose nodes refuse keys that they no longer serve, nor over unknown clients.
  if (!('isCluster' in client) || client.isCluster !== false) return read
  const ask = () => client.call('HELLO').catch(ignored)
  const role = new MasterRole(ask, () => void client.call('DEL', unused).catch(ignored))
  return (key) => confirmedBy(role.confirmed(), read(key))
}

/** HELLO replies with a list of names and values, an object or a map, depending on the client. */
function roleIn(reply: unknown): unknown {
  if (Array.isArray(reply)) return reply[reply.indexOf('role') + 1]
  if (reply instanceof Map) return reply.get('role')
  return isRecord(reply) ? reply['role'] : undefined
}
