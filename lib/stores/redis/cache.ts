// Tuning: the option `cache` of redisStore. RecordCache is its memory, RedisInvalidations keeps it current.
// Buys: a guard sends no command to Redis for a known token.
// Measured: 2026-11-22, Node 20, docs/reports/performance.md. A guarded request takes 0.38 ms in place of 1.77
// ms with Redis on the same machine, 0.24 ms in place of 2.40 ms with 1 ms to Redis. It saves little or no
// processor time.
// Can go: when the Redis client has a cache that stops within a second if changes no longer arrive.
import { aWhole } from '../../primitives/fields'
import { BoundedMap } from '../../primitives/maps'
import { type Fields, group, needed } from '../../primitives/schema'
import { createId, secureRandom } from '../../protocol/credential'
import { withinDeadline } from '../../store/deadline'
import type { Store, StoredValue, StoreWarning } from '../../store/store'
import { listen, type ListeningConnection, type RedisConnection } from './connection'
import type { RedisWarning } from './health-check'
import type { RedisCommands } from './redis-commands'

export interface CacheOptions {
  /**
   * The largest number of cached authorizations, from 1 to 100 000, about 2 KB each. Evicts the least recently
   * used.
   */
  readonly maximum: number
}

interface CachePlan extends CacheOptions {
  readonly url: string
  readonly prefix: string
}

interface CheckedStore extends Store {
  check(issuer?: string): Promise<readonly StoreWarning[]>
  close(): Promise<void>
}

export function cached<Kept extends CheckedStore>(
  store: Kept,
  reading: RedisConnection,
  { maximum, url, prefix }: CachePlan,
): Kept {
  const cache = new RecordCache(maximum)
  const invalidations = new RedisInvalidations({ url, prefix, reading, cache })
  reading.onLost(() => invalidations.restart())
  return {
    ...store,
    ...remembering(store, cache),
    check: async (issuer) => {
      const warnings = await store.check(issuer)
      const refusal = await withinDeadline(() => invalidations.refusal(), patience)
      return [...warnings, ...warningsOf(refusal)]
    },
    close: async () => {
      await Promise.all([invalidations.close(), store.close()])
    },
  }
}

// Seconds. By then Redis has refused, or the first mark has arrived.
const patience = 2

type Verbs = Pick<Store, 'read' | 'write' | 'remove' | 'confirmAbsent' | 'peek'>

/** `read` reads the store, so no write rests on a cached record. */
function remembering(store: Store, cache: RecordCache): Verbs {
  // After a failed write too: perhaps only its reply was lost.
  const dropping = async <T>(key: string, write: Promise<T>): Promise<T> =>
    write.finally(() => cache.drop(key))
  const { confirmAbsent } = store
  return {
    peek: (key) => cache.peek(key),
    async read(key) {
      if (!isCached(key)) return store.read(key)
      const ticket = cache.begin(key)
      try {
        const found = await store.read(key)
        if (found === undefined) cache.drop(key)
        else if (ticket !== undefined) cache.keep(ticket, found)
        return found
      } finally {
        if (ticket !== undefined) cache.end(ticket)
      }
    },
    write: (key, ...words) => dropping(key, store.write(key, ...words)),
    remove: (key) => dropping(key, store.remove(key)),
    confirmAbsent: confirmAbsent && ((key) => dropping(key, confirmAbsent(key))),
  }
}

function warningsOf(refusal: string | undefined): readonly RedisWarning[] {
  if (refusal === undefined) return []
  const message = `Redis does not support the option cache here (${refusal}), so each guarded request reads from Redis. Allow CLIENT TRACKING, SUBSCRIBE to __redis__:invalidate and SET, or leave the option out.`
  return [{ code: 'EAS_REDIS_TRACKING', message }]
}

// Every cached record makes garbage collection longer.
export const cacheOption = group({
  maximum: needed(1, aWhole(1, 100_000, 'a whole number')),
} satisfies Fields<CacheOptions>)

/** Of a server whose guards find tokens. */
const isCached = (key: string): boolean => key.startsWith('authorization:')

/** For a read that may cache its result. A change of the record voids the ticket. */
interface Ticket {
  readonly key: string
}

/** Records. The caller reports every change, and extends the trust. Evicts the least recently used. */
class RecordCache {
  private readonly entries: BoundedMap<StoredValue>
  private readonly tickets = new Map<string, Ticket>()
  private trustedUntil = 0
  private wanted = false

  constructor(maximum: number) {
    this.entries = new BoundedMap(maximum)
  }

  /** Undefined also if the cache is not trusted. */
  peek(key: string): StoredValue | undefined {
    this.wanted = true
    if (!this.isTrusted()) return undefined
    const found = this.entries.get(key)
    if (found !== undefined) this.entries.set(key, found)
    return found
  }

  /** Call before a read. Undefined without trust, or if another read has the ticket. */
  begin(key: string): Ticket | undefined {
    if (!this.isTrusted() || this.tickets.has(key)) return undefined
    const ticket = { key }
    this.tickets.set(key, ticket)
    return ticket
  }

  /** Never after a miss: invented tokens must not fill the cache. */
  keep(ticket: Ticket, found: StoredValue): void {
    if (this.tickets.get(ticket.key) === ticket) this.entries.set(ticket.key, found)
  }

  /** Call after a read, failed or not. */
  end(ticket: Ticket): void {
    if (this.tickets.get(ticket.key) === ticket) this.tickets.delete(ticket.key)
  }

  /** Also voids the ticket of a read, which may find the old record. */
  drop(key: string): void {
    this.entries.delete(key)
    this.tickets.delete(key)
  }

  clear(): void {
    this.entries.clear()
    this.tickets.clear()
  }

  trust(until: number): void {
    this.trustedUntil = until
  }

  distrust(): void {
    this.trustedUntil = 0
    this.clear()
  }

  /** Whether a guard has called `peek` since the last call. */
  wasWanted(): boolean {
    const { wanted } = this
    this.wanted = false
    return wanted
  }

  private isTrusted(): boolean {
    return performance.now() < this.trustedUntil
  }
}

// Costs: about 3 µs for each change of any authorization, and a wake-up of about 30 µs at most once in 2 ms
// (2026-11-22, docs/reports/performance.md).

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
class RedisInvalidations {
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
