import { createId, secureRandom } from '../protocol/credential'
import type { AuthorizationCache } from './authorization-cache'
import type { RedisCommands } from './redis-commands'
import { listen, type ListeningConnection } from './redis-connection'

/** Where Redis tells clients of RESP2 which keys have changed. */
const channel = '__redis__:invalidate'

/**
 * Milliseconds for which the cache is trusted after a proof that invalidations arrive: a network that goes silent, or a
 * process that stands still, keeps a revoked token alive no longer.
 */
export const trustedFor = 1000
const proofEvery = 250
// Of the key that proves it: it is written again as long as it is needed.
const lifetime = '10000'
const longestPause = 60_000

/** What the invalidations of one store work with. */
export interface InvalidationsPlan {
  readonly url: string
  /** Of the keys that are told of. */
  readonly prefix: string
  /** The connection over which is read what is cached. */
  readonly reading: RedisCommands
  readonly cache: AuthorizationCache
  /** Milliseconds that nobody sets back. */
  readonly stopwatch: () => number
}

/** A connection on which Redis tells of changes: its key, and the proof that is under way. */
interface Listening {
  readonly key: string
  proof?: { readonly sentAt: number; answered: boolean } | undefined
}

/**
 * Keeps a cache true by what Redis pushes (`CLIENT TRACKING`). It is broadcast: Redis then remembers no keys, which unknown
 * tokens could fill its memory with, and reads may go over any connection. That invalidations arrive is proven again and
 * again: the reading connection writes a key, and the trust that follows counts from when that write was sent.
 */
export class RedisInvalidations {
  private readonly connection: ListeningConnection
  private readonly timer: NodeJS.Timeout
  private attempt: symbol | undefined
  private listening: Listening | undefined
  private refusals = 0
  private reason: string | undefined
  private decide: () => void = () => {}
  private readonly decided = new Promise<void>((resolve) => {
    this.decide = resolve
  })

  constructor(private readonly plan: InvalidationsPlan) {
    this.connection = listen(plan.url, {
      ready: () => void this.begin(),
      lost: () => this.stop(),
      told: (keys) => this.told(keys),
      pause: () => (this.refusals === 0 ? 0 : Math.min(1000 * 2 ** (this.refusals - 1), longestPause)),
    })
    this.timer = setInterval(() => this.tick(), proofEvery).unref()
  }

  /** Why Redis does not do what the cache needs; undefined when it does. Resolves once that is known. */
  async refusal(): Promise<string | undefined> {
    await this.decided
    return this.reason
  }

  /** To be called when the reading connection is lost: the next one may lead to another server. */
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
    this.listening = undefined
    this.plan.cache.distrust()
  }

  private async begin(): Promise<void> {
    const attempt = Symbol('attempt')
    const { connection } = this
    const { prefix } = this.plan
    // No id of an authorization has a colon.
    const key = `${prefix}alive:${createId(secureRandom)}`
    this.attempt = attempt
    try {
      // A replica refuses it: it would tell of changes late, and of some never.
      await connection.call('SET', key, '', 'PX', lifetime)
      const id = String(await connection.call('CLIENT', 'ID'))
      await connection.call('CLIENT', 'TRACKING', 'ON', 'REDIRECT', id, 'BCAST', 'PREFIX', prefix)
      await connection.subscribe(channel)
    } catch (error) {
      if (this.attempt === attempt) this.fail(error)
      return
    }
    if (this.attempt !== attempt) return
    const listening = { key }
    this.listening = listening
    this.prove(listening)
  }

  private prove(listening: Listening): void {
    const proof = { sentAt: this.plan.stopwatch(), answered: false }
    listening.proof = proof
    this.plan.reading.call('SET', listening.key, '', 'PX', lifetime).then(
      () => (proof.answered = true),
      (error: unknown) => {
        if (this.listening === listening) this.fail(error)
      },
    )
  }

  private told(keys: unknown): void {
    const { listening } = this
    const { cache, prefix } = this.plan
    if (listening === undefined) return
    // FLUSHALL and FLUSHDB name no keys.
    if (!Array.isArray(keys)) return cache.clear()
    for (const key of keys.map(String))
      if (key === listening.key) this.proven(listening)
      else cache.drop(key.slice(prefix.length))
  }

  // All that changed before the proof was sent has been told before it: one connection keeps the order.
  private proven(listening: Listening): void {
    if (listening.proof === undefined) return
    this.plan.cache.trust(listening.proof.sentAt + trustedFor)
    listening.proof = undefined
    this.refusals = 0
    this.reason = undefined
    this.decide()
  }

  private tick(): void {
    const { listening } = this
    if (listening === undefined) return
    // Nobody asks: then Redis is left alone, and whoever asks next begins without the cache.
    if (listening.proof === undefined) return this.plan.cache.wasWanted() ? this.prove(listening) : undefined
    if (this.plan.stopwatch() - listening.proof.sentAt < trustedFor) return
    if (listening.proof.answered) this.refused('it does not tell of a change')
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
