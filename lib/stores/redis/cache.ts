// Tuning: a guarded request takes 0.38 ms in place of 1.77 (2026-11-22, docs/evidence.md). Can go when the
// Redis client has a cache that stops within a second if changes no longer arrive.
import { aWhole } from '../../primitives/fields'
import { BoundedMap } from '../../primitives/maps'
import { type Fields, group, needed } from '../../primitives/schema'
import { createId, secureRandom } from '../../protocol/credential'
import { withinDeadline } from '../../store/deadline'
import { warningsOf } from '../../store/database-clock'
import type { StoredValue } from '../../store/store'
import { listeningRedis, type RedisConnection } from './connection'
import type { RedisCommands, RedisStore } from './redis-commands'

export interface CacheOptions {
  /**
   * The largest number of cached authorizations, from 1 to 100 000, about 2 KB each. Evicts the least recently used.
   */
  readonly maximum: number
}

// No write rests on a cached record.
export function cached(
  store: RedisStore,
  reading: RedisConnection,
  { maximum, url, prefix }: CacheOptions & { readonly url: string; readonly prefix: string },
): RedisStore {
  const cache = new RecordCache(maximum)
  const invalidations = new RedisInvalidations(url, prefix, reading, cache)
  reading.onLost(() => invalidations.restart())
  // After a failed write too: perhaps only its reply was lost.
  const dropping = <T>(key: string, write: Promise<T>): Promise<T> => write.finally(() => cache.drop(key))
  const { confirmAbsent } = store
  return {
    ...store,
    peek: (key) => cache.peek(key),
    read: (key) => (isCached(key) ? cache.read(key, () => store.read(key)) : store.read(key)),
    write: (key, ...words) => dropping(key, store.write(key, ...words)),
    remove: (key) => dropping(key, store.remove(key)),
    confirmAbsent: confirmAbsent && ((key) => dropping(key, confirmAbsent(key))),
    async check(issuer) {
      const warnings = await store.check(issuer)
      const refusal = await withinDeadline(() => invalidations.refusal(), patience)
      const message = `Redis does not support the option cache here (${refusal}), so each guarded request reads from Redis. Allow CLIENT TRACKING, SUBSCRIBE to __redis__:invalidate and SET, or leave the option out.`
      return [...warnings, ...warningsOf([refusal !== undefined, 'EAS_REDIS_TRACKING', message])]
    },
    async close() {
      invalidations.close()
      await store.close()
    },
  }
}

// Seconds.
const patience = 2

// Every cached record makes garbage collection longer.
export const cacheOption = group({
  maximum: needed(1, aWhole(1, 100_000, 'a whole number')),
} satisfies Fields<CacheOptions>)

const cachedKind = 'authorization:'
const isCached = (key: string): boolean => key.startsWith(cachedKind)

// The caller reports every change, and extends the trust.
class RecordCache {
  private readonly entries: BoundedMap<StoredValue>
  private readonly tickets = new Map<string, symbol>()
  // Of the monotonic clock, in milliseconds.
  trustedUntil = 0
  isWanted = false

  constructor(maximum: number) {
    this.entries = new BoundedMap(maximum)
  }

  peek(key: string): StoredValue | undefined {
    this.isWanted = true
    if (!this.isTrusted()) return undefined
    const found = this.entries.get(key)
    if (found !== undefined) this.entries.set(key, found)
    return found
  }

  async read(key: string, find: () => Promise<StoredValue | undefined>): Promise<StoredValue | undefined> {
    const ticket = Symbol('ticket')
    if (this.isTrusted() && !this.tickets.has(key)) this.tickets.set(key, ticket)
    const hasTicket = () => this.tickets.get(key) === ticket
    try {
      const found = await find()
      // Invented tokens must not fill the cache.
      if (found === undefined) this.drop(key)
      else if (hasTicket()) this.entries.set(key, found)
      return found
    } finally {
      if (hasTicket()) this.tickets.delete(key)
    }
  }

  // Also voids a read, which may find the old record.
  drop(key: string): void {
    this.entries.delete(key)
    this.tickets.delete(key)
  }

  clear(): void {
    this.entries.clear()
    this.tickets.clear()
  }

  distrust(): void {
    this.trustedUntil = 0
    this.clear()
  }

  private isTrusted(): boolean {
    return performance.now() < this.trustedUntil
  }
}

// Milliseconds after a proof that reports arrive: a revoked token passes for this long at most.
const trustedFor = 1000
// Milliseconds.
const proofEvery = 250
// Milliseconds. The pause between attempts doubles with each refusal.
const longestPause = 60_000

const channel = '__redis__:invalidate'
const markLifetime = '1000'

interface Proof {
  readonly key: string
  readonly sentAt: number
  isWritten: boolean
}

// Broadcast mode: Redis remembers no keys, so invented tokens cannot fill its memory. The reading connection writes
// marks, which Redis must report over the other. Trust counts from the sending of a mark. Any failure ends it, and both
// connections start over.
class RedisInvalidations {
  private readonly listening: ReturnType<typeof listeningRedis>
  private readonly timer: NodeJS.Timeout
  private marks: string | undefined
  private isTracking = false
  private written = 0
  private proof: Proof | undefined
  private refusals = 0
  private reason: string | undefined
  private decide: () => void = () => {}
  private readonly decided = new Promise<void>((resolve) => {
    this.decide = resolve
  })

  constructor(
    url: string,
    private readonly prefix: string,
    private readonly reading: RedisCommands,
    private readonly cache: RecordCache,
  ) {
    this.listening = listeningRedis(url, () => this.pause())
    this.listening
      .on('ready', () => void this.begin())
      .on('close', () => this.stop())
      .on('messageBuffer', (_channel, keys) => this.apply(keys))
    this.timer = setInterval(() => this.tick(), proofEvery).unref()
  }

  // Once known; undefined if Redis supports the cache.
  async refusal(): Promise<string | undefined> {
    await this.decided
    return this.reason
  }

  // The next reading connection may lead to another server.
  restart(): void {
    if (this.marks === undefined) return
    this.stop()
    this.listening.disconnect(true)
  }

  close(): void {
    clearInterval(this.timer)
    this.stop()
    this.decide()
    this.listening.disconnect()
  }

  // Milliseconds.
  private pause(): number {
    return this.refusals === 0 ? 0 : Math.min(1000 * 2 ** (this.refusals - 1), longestPause)
  }

  private stop(): void {
    this.marks = undefined
    this.isTracking = false
    this.proof = undefined
    this.cache.distrust()
  }

  private async begin(): Promise<void> {
    const marks = `${this.prefix}alive:${createId(secureRandom)}:`
    this.marks = marks
    try {
      await this.track(marks)
      if (this.marks !== marks) return
      this.isTracking = true
      this.prove(marks)
    } catch (error) {
      if (this.marks === marks) this.fail(error)
    }
  }

  private async track(marks: string): Promise<void> {
    const { listening } = this
    // A replica refuses this write: its reports are late or incomplete.
    await writeMark(listening, marks)
    const id = String(await listening.call('CLIENT', 'ID'))
    const prefixes = ['PREFIX', this.prefix + cachedKind, 'PREFIX', marks]
    // RESP2 has no push messages: redirects to the connection's own subscription.
    await listening.call('CLIENT', 'TRACKING', 'ON', 'REDIRECT', id, 'BCAST', ...prefixes)
    await listening.subscribe(channel)
  }

  private prove(marks: string): void {
    // New each time: the reported expiry of an old mark must not pass for a new one.
    const key = marks + String((this.written += 1))
    const proof = { key, sentAt: performance.now(), isWritten: false }
    this.proof = proof
    writeMark(this.reading, key).then(
      () => (proof.isWritten = true),
      (error: unknown) => {
        if (this.proof === proof) this.fail(error)
      },
    )
  }

  private apply(keys: unknown): void {
    // FLUSHALL and FLUSHDB name no keys.
    if (!Array.isArray(keys)) return this.cache.clear()
    for (const key of keys.map(String)) {
      const record = key.slice(this.prefix.length)
      if (key === this.proof?.key) this.proven(this.proof)
      else if (isCached(record)) this.cache.drop(record)
    }
  }

  // One connection keeps the order: every change before the mark has been reported.
  private proven(proof: Proof): void {
    this.proof = undefined
    this.cache.trustedUntil = proof.sentAt + trustedFor
    this.refusals = 0
    this.reason = undefined
    this.decide()
  }

  private tick(): void {
    const { marks, proof, cache } = this
    if (marks === undefined || !this.isTracking) return
    if (proof === undefined) {
      // No mark while no guard asks. The first request then reads from Redis.
      if (cache.isWanted) this.prove(marks)
      cache.isWanted = false
    } else if (performance.now() - proof.sentAt >= trustedFor) {
      if (proof.isWritten) this.refuse('it reports no change')
      this.restart()
    }
  }

  private fail(error: unknown): void {
    if (error instanceof Error && error.name === 'ReplyError') this.refuse(error.message)
    this.restart()
  }

  private refuse(reason: string): void {
    this.refusals += 1
    this.reason = reason
    this.decide()
  }
}

async function writeMark(client: RedisCommands, key: string): Promise<void> {
  await client.call('SET', key, '', 'PX', markLifetime)
}
