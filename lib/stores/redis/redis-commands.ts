import { createHash } from 'node:crypto'

/**
 * What `redisStore({ client })` needs, as `Redis` and `Cluster` of ioredis have it, for a single server, a
 * cluster and Sentinel. For node-redis, pass `{ call: (...words) => client.sendCommand(words) }`.
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

/** On one key. Sends the source only if the server lacks the script. */
export class RedisScript {
  private readonly sha1: string

  constructor(private readonly source: string) {
    this.sha1 = createHash('sha1').update(source).digest('hex')
  }

  byDigest(key: string, words: readonly string[]): string[] {
    return ['evalsha', this.sha1, '1', key, ...words]
  }

  whole(key: string, words: readonly string[]): string[] {
    return ['eval', this.source, '1', key, ...words]
  }

  async run(client: RedisCommands, key: string, ...words: string[]): Promise<unknown> {
    try {
      return await client.call('EVALSHA', this.sha1, '1', key, ...words)
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
      return client.call('EVAL', this.source, '1', key, ...words)
    }
  }
}

/** @throws Error for a reply other than 0 or 1. */
export function isDone(reply: unknown): boolean {
  const number = Number(reply)
  if (number !== 0 && number !== 1)
    throw new Error('The Redis client replied to a script with something other than 0 or 1.')
  return number === 1
}

/** Undefined if there is nothing under the key. */
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
