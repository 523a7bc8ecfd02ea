// Tuning: keeps the option `cache` current; see cache.ts.
// Costs: about 3 µs for each change of any authorization, and a wake-up of about 30 µs at most once in 2 ms
// (2026-11-22, docs/reports/performance.md).
import { createId, secureRandom } from '../../protocol/credential'
import type { RecordCache } from './record-cache'
import type { RedisCommands } from './redis-commands'
import { listen, type ListeningConnection } from './connection'

/**
 * Milliseconds after a proof that reports arrive. A revoked token passes for this long at most, if the network
 * goes silent or the process stands still.
 */
const trustedFor = 1000
/** Milliseconds between ticks, which start a proof or give up a late one. */
const proofEvery = 250
/** Milliseconds. The pause between attempts to connect doubles with each refusal. */
const longestPause = 60_000

interface Plan {
  readonly url: string
  readonly prefix: string
  readonly reading: RedisCommands
  readonly cache: RecordCache
}

interface Proof {
  readonly key: string
  readonly sentAt: number
  isWritten: boolean
}

/**
 * Proves again and again that reports arrive: the reading connection writes a mark, and Redis must report it
 * over the other. Trust counts from the sending of the mark. Any failure ends it, and both connections start
 * over.
 */
export class RedisInvalidations {
  private readonly connection: ListeningConnection
  private readonly timer: NodeJS.Timeout
  private attempt: symbol | undefined
  private tracked: Tracked | undefined
  private proof: Proof | undefined
  private refusals = 0
  private reason: string | undefined
  private decide: () => void = () => {}
  private readonly decided = new Promise<void>((resolve) => {
    this.decide = resolve
  })

  constructor(private readonly plan: Plan) {
    this.connection = listen(plan.url, {
      ready: () => void this.begin(),
      lost: () => this.stop(),
      told: (keys) => this.apply(keys),
      pause: () => (this.refusals === 0 ? 0 : Math.min(1000 * 2 ** (this.refusals - 1), longestPause)),
    })
    this.timer = setInterval(() => this.tick(), proofEvery).unref()
  }

  /** Why Redis does not support the cache, once known; undefined if it does. */
  async refusal(): Promise<string | undefined> {
    await this.decided
    return this.reason
  }

  /** The next reading connection may lead to another server. */
  restart(): void {
    if (this.attempt === undefined) return
    this.stop()
    this.connection.reconnect()
  }

  async close(): Promise<void> {
    clearInterval(this.timer)
    this.stop()
    this.decide()
    await this.connection.close()
  }

  private stop(): void {
    this.attempt = undefined
    this.tracked = undefined
    this.proof = undefined
    this.plan.cache.distrust()
  }

  private async begin(): Promise<void> {
    const attempt = Symbol('attempt')
    this.attempt = attempt
    try {
      const tracked = await track(this.connection, this.plan.prefix)
      if (this.attempt !== attempt) return
      this.tracked = tracked
      this.prove(tracked)
    } catch (error) {
      if (this.attempt === attempt) this.fail(error)
    }
  }

  private prove(tracked: Tracked): void {
    const proof = { key: tracked.nextMark(), sentAt: performance.now(), isWritten: false }
    this.proof = proof
    writeMark(this.plan.reading, proof.key).then(
      () => (proof.isWritten = true),
      (error: unknown) => {
        if (this.proof === proof) this.fail(error)
      },
    )
  }

  private apply(keys: unknown): void {
    const { tracked, proof } = this
    if (tracked === undefined) return
    // FLUSHALL and FLUSHDB name no keys.
    if (!Array.isArray(keys)) return this.plan.cache.clear()
    for (const key of keys.map(String)) {
      const record = tracked.recordOf(key)
      if (record !== undefined) this.plan.cache.drop(record)
      else if (key === proof?.key) this.proven(proof)
    }
  }

  // One connection keeps the order: every change before the mark has been reported.
  private proven(proof: Proof): void {
    this.proof = undefined
    this.plan.cache.trust(proof.sentAt + trustedFor)
    this.refusals = 0
    this.reason = undefined
    this.decide()
  }

  private tick(): void {
    const { tracked, proof } = this
    if (tracked === undefined) return
    // No mark while no guard asks. The first request then reads from Redis.
    if (proof === undefined) return this.plan.cache.wasWanted() ? this.prove(tracked) : undefined
    if (performance.now() - proof.sentAt < trustedFor) return
    if (proof.isWritten) this.refused('it reports no change')
    this.restart()
  }

  private fail(error: unknown): void {
    if (error instanceof Error && error.name === 'ReplyError') this.refused(error.message)
    this.restart()
  }

  private refused(reason: string): void {
    this.refusals += 1
    this.reason = reason
    this.decide()
  }
}

const channel = '__redis__:invalidate'
const lifetime = '1000'

interface Tracked {
  /** Undefined for a mark. */
  recordOf(key: string): string | undefined
  /** New each time: Redis also reports the expiry of an old mark, which must not pass for a new one. */
  nextMark(): string
}

/**
 * `CLIENT TRACKING` in broadcast mode: Redis remembers no keys, so invented tokens cannot fill its memory, and
 * any connection may read.
 */
async function track(connection: ListeningConnection, prefix: string): Promise<Tracked> {
  const authorizations = `${prefix}authorization:`
  const marks = `${prefix}alive:${createId(secureRandom)}:`
  // A replica refuses this write: its reports are late or incomplete.
  await writeMark(connection, marks)
  const id = String(await connection.call('CLIENT', 'ID'))
  const prefixes = ['PREFIX', authorizations, 'PREFIX', marks]
  // RESP2 has no push messages: redirects to the connection's own subscription.
  await connection.call('CLIENT', 'TRACKING', 'ON', 'REDIRECT', id, 'BCAST', ...prefixes)
  await connection.subscribe(channel)
  let written = 0
  return {
    recordOf: (key) => (key.startsWith(authorizations) ? key.slice(prefix.length) : undefined),
    nextMark: () => `${marks}${(written += 1)}`,
  }
}

async function writeMark(client: RedisCommands, key: string): Promise<void> {
  await client.call('SET', key, '', 'PX', lifetime)
}
