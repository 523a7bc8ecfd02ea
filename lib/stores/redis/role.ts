import { isRecord } from '../../protocol/configuration'
import { readsOver, type RedisReads } from './batched-reads'
import type { RedisCommands } from './commands'

/** Milliseconds for which the word of a master holds. A cache for guards is trusted no longer without a proof, either. */
const holdsFor = 1000

interface RolePlan {
  /** Asks the server that reads and writes reach, before them, over the same connection (HELLO). */
  readonly ask: () => Promise<unknown>
  /** Leaves that server; the next command may reach another one. */
  readonly leave: () => void
  /** Milliseconds of a clock that never steps. */
  readonly stopwatch?: () => number
}

/**
 * Leaves a master that was made a replica. Redis tells that to writers only (READONLY). A connection that only reads, such
 * as that of a bearer guard, would stay with it after a failover behind one name, and go on to find what was revoked.
 *
 * The question goes out at most once a second, and only along with other commands, in their packet. The word of a master
 * counts from when the question was sent. What is read without such a word waits for the reply, which comes before its own.
 * A server that was a replica from the start is left alone: `check` of the store warns of it.
 */
export class MasterRole {
  private readonly stopwatch: () => number
  private askedAt = -Infinity
  private word: Promise<void> | undefined
  private wasMaster = false

  constructor(private readonly plan: RolePlan) {
    this.stopwatch = plan.stopwatch ?? (() => performance.now())
  }

  /** To be called before a command is sent. Undefined where the word of the master holds; else rejects for a replica. */
  confirmed(): Promise<void> | undefined {
    const now = this.stopwatch()
    if (now - this.askedAt >= holdsFor) {
      this.askedAt = now
      this.word = this.ask(now)
    }
    return this.word
  }

  /** To be called when the connection is lost: the next one may lead to another server. */
  forget(): void {
    this.askedAt = -Infinity
  }

  private async ask(askedAt: number): Promise<void> {
    const role = await this.role().catch((trouble: unknown) => {
      this.forget()
      throw trouble
    })
    if (role === 'replica' && this.wasMaster) {
      this.forget()
      this.plan.leave()
      throw new Error('READONLY The server was the master and is a replica now.')
    }
    if (role === 'master') this.wasMaster = true
    if (this.askedAt === askedAt) this.word = undefined
  }

  /** Undefined where the server, or what stands before it, does not tell. */
  private async role(): Promise<unknown> {
    try {
      return roleIn(await this.plan.ask())
    } catch (error) {
      if (error instanceof Error && error.name === 'ReplyError') return undefined
      throw error
    }
  }
}

/** Gives an answer out when the server that gave it is known to be the master. */
export function confirmedBy<T>(word: Promise<void> | undefined, answer: Promise<T>): Promise<T> {
  return word === undefined ? answer : Promise.all([answer, word]).then(([value]) => value)
}

const ignored = (): undefined => undefined

/**
 * Reads over a client of the host. Where it is the `Redis` of ioredis, which has one connection, they come from a master
 * only. The store cannot end that connection. It makes a write that changes nothing, so that the host's own settings do.
 *
 * @param unused a key below which there is never anything.
 */
export function readsOverHost(client: RedisCommands, unused: string): RedisReads {
  const reads = readsOver(client)
  // A cluster refuses by itself what a node no longer keeps, and other clients do not say what they are.
  if (!('isCluster' in client) || client.isCluster !== false) return reads
  const role = new MasterRole({
    ask: () => client.call('HELLO').catch(ignored),
    leave: () => void client.call('DEL', unused).catch(ignored),
  })
  return { read: (key) => confirmedBy(role.confirmed(), reads.read(key)) }
}

/** What HELLO replies is a list of names and values, an object or a map, as the client has it. */
function roleIn(reply: unknown): unknown {
  if (Array.isArray(reply)) return reply[reply.indexOf('role') + 1]
  if (reply instanceof Map) return reply.get('role')
  return isRecord(reply) ? reply['role'] : undefined
}
