import { createHash } from 'node:crypto'
import type { Store, StoreWarning } from '../../store/store'

/**
 * What `redisStore({ client })` needs, as `Redis` and `Cluster` of ioredis have it. For node-redis, pass
 * `{ call: (...words) => client.sendCommand(words) }`.
 */
export interface RedisCommands {
  /** Sends one command. Rejects with the error of Redis, message unchanged. */
  call(command: string, ...words: string[]): Promise<unknown>
}

/**
 * What `waitForReplicas` needs besides {@link RedisCommands}, as `Redis` and `Cluster` of ioredis have it:
 * sends commands back to back on one connection, to the node that has their keys.
 */
export interface PipelinedCommands {
  /** @param commands each starts with the command in lower case. */
  pipeline(commands: string[][]): {
    /** An error or a reply for each command, in order. */
    exec(): Promise<[error: Error | null, reply: unknown][] | null>
  }
}

/** A {@link Store} on Redis, all below the same prefix. */
export interface RedisStore extends Store {
  /** For messages, such as `Redis at localhost:6379`. Never a password. */
  readonly place: string
  /** Why the last attempt to connect failed; undefined if the connection is ready, or the host's. */
  connectionFailure(): string | undefined
  /**
   * Checks eviction, version, role, cluster, clock and resending of the Redis: one warning for each problem.
   * Rejects if Redis does not respond.
   *
   * @param issuer of the server or guard, noted below the prefix to warn of others there. Without it, `check`
   * writes nothing.
   */
  check(issuer?: string): Promise<readonly StoreWarning[]>
  /** Closes the connections that the store opened, not a client of the host. */
  close(): Promise<void>
}

export const redisScript = (source: string) => ({
  source,
  sha1: createHash('sha1').update(source).digest('hex'),
})

type RedisScript = Readonly<ReturnType<typeof redisScript>>

export type RunScript = (script: RedisScript, key: string, ...words: string[]) => Promise<unknown>

// Sends the source only if the server lacks the script.
export const runOver =
  (client: RedisCommands): RunScript =>
  async ({ source, sha1 }, key, ...words) => {
    try {
      return await client.call('EVALSHA', sha1, '1', key, ...words)
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
      return client.call('EVAL', source, '1', key, ...words)
    }
  }

export const foundText = (reply: unknown): string | undefined =>
  reply === null || reply === undefined ? undefined : textOf(reply)

export function textsOf(reply: unknown): readonly string[] {
  if (Array.isArray(reply)) return reply.map(textOf)
  throw new Error('The Redis client replied with something other than a list.')
}

function textOf(reply: unknown): string {
  if (typeof reply === 'string') return reply
  throw new Error('The Redis client replied with something other than text.')
}
