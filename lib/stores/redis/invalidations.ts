import { createId, secureRandom } from '../../protocol/credential'
import type { AuthorizationCache } from './authorization-cache'
import type { RedisCommands } from './commands'
import { listen, type ListeningConnection } from './connection'

/**
 * Milliseconds for which the cache is trusted after a proof that invalidations arrive: a network that goes silent, or a
 * process that stands still, keeps a revoked token alive no longer.
 */
const trustedFor = 1000
const proofEvery = 250
const longestPause = 60_000

/** What the invalidations of one store work with. */
interface Plan {
  readonly url: string
  /** Put before each key of the store. */
  readonly prefix: string
  /** The connection over which is read what is cached. */
  readonly reading: RedisCommands
  readonly cache: AuthorizationCache
  /** Milliseconds that nobody sets back. */
  readonly stopwatch: () => number
}

/** A mark that was written, and not told of yet. */
interface Proof {
  readonly key: string
  readonly sentAt: number
  isWritten: boolean
}

/**
 * Keeps a cache true by what Redis tells of changes. That it does is proven again and again: the connection that reads
 * writes a mark, the other one is told of it, and trust counts from when the mark was sent. Whatever breaks ends all trust,
 * and everything begins anew.
 */
export class RedisInvalidations {
  private readonly connection: ListeningConnection
  private readonly timer: NodeJS.Timeout
  /** The connection that stands now, from the first word on it. */
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

  /** To be called when the reading connection is lost, too: the next one may lead to another server. */
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
    const proof = { key: tracked.nextMark(), sentAt: this.plan.stopwatch(), isWritten: false }
    this.proof = proof
    writeMark(this.plan.reading, proof.key).then(
      () => (proof.isWritten = true),
      (error: unknown) => {
        if (this.proof === proof) this.fail(error)
      },
    )
  }

  private told(keys: unknown): void {
    const { tracked, proof } = this
    if (tracked === undefined) return
    // FLUSHALL and FLUSHDB name no keys.
    if (!Array.isArray(keys)) return this.plan.cache.clear()
    for (const key of keys.map(String)) {
      const id = tracked.idOf(key)
      if (id !== undefined) this.plan.cache.drop(id)
      else if (key === proof?.key) this.proven(proof)
    }
  }

  // All that changed before the mark was sent has been told before it: one connection keeps the order.
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
    // While nobody asks Redis is left alone; whoever asks next begins without the cache.
    if (proof === undefined) return this.plan.cache.wasWanted() ? this.prove(tracked) : undefined
    if (this.plan.stopwatch() - proof.sentAt < trustedFor) return
    if (proof.isWritten) this.refused('it tells of no change')
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

/** Where Redis tells clients of RESP2 which keys have changed. */
const channel = '__redis__:invalidate'
// Milliseconds after which a mark that nobody needs any more is gone.
const lifetime = '1000'

/** What a connection is told of: authorizations, and marks that are its own. */
export interface Tracked {
  /** The id of the authorization under this key; undefined when it is a mark. */
  idOf(key: string): string | undefined
  /** The key of a mark that was never written before: one that expires late must not pass for a later one. */
  nextMark(): string
}

/**
 * Has Redis tell a new connection of changes (`CLIENT TRACKING`). It is broadcast: Redis then remembers no keys, which
 * unknown tokens could fill its memory with, and reads may go over any other connection.
 */
export async function track(connection: ListeningConnection, prefix: string): Promise<Tracked> {
  const authorizations = `${prefix}authorization:`
  const marks = `${prefix}alive:${createId(secureRandom)}:`
  // A replica refuses it: it would tell of changes late, and of some never.
  await writeMark(connection, marks)
  const id = String(await connection.call('CLIENT', 'ID'))
  const prefixes = ['PREFIX', authorizations, 'PREFIX', marks]
  // RESP2 has no word for it, so the connection names itself as the one whose subscription it comes through.
  await connection.call('CLIENT', 'TRACKING', 'ON', 'REDIRECT', id, 'BCAST', ...prefixes)
  await connection.subscribe(channel)
  let written = 0
  return {
    idOf: (key) => (key.startsWith(authorizations) ? key.slice(authorizations.length) : undefined),
    nextMark: () => `${marks}${(written += 1)}`,
  }
}

/** Writes a mark, which vanishes by itself. */
export async function writeMark(client: RedisCommands, key: string): Promise<void> {
  await client.call('SET', key, '', 'PX', lifetime)
}
