import { createHash } from 'node:crypto'

/**
 * The function that `redisStore({ client })` needs of a Redis client: send one command. `Redis` and `Cluster` of
 * ioredis have this function, for a single server, a cluster and Sentinel. For node-redis, pass
 * `{ call: (...words) => client.sendCommand(words) }`.
 */
export interface RedisCommands {
  /** Sends one command and resolves to its reply. Rejects with the error of Redis, message unchanged. */
  call(command: string, ...words: string[]): Promise<unknown>
}

/**
 * The function that `waitForReplicas` needs of a Redis client besides {@link RedisCommands}: send commands back to back
 * on one connection, to the node that keeps their keys. `Redis` and `Cluster` of ioredis have this function.
 */
export interface PipelinedCommands {
  /** @param commands each starts with the command in lower case. */
  pipeline(commands: string[][]): {
    /** Resolves to an error or a reply for each command, in order. */
    exec(): Promise<[error: Error | null, reply: unknown][] | null>
  }
}

/**
 * A Lua script on one key, or on several keys of one hash slot. `run` sends the digest, and the whole source only if the
 * server lacks the script.
 */
export class RedisScript {
  private readonly sha1: string

  constructor(private readonly source: string) {
    this.sha1 = createHash('sha1').update(source).digest('hex')
  }

  /** Returns the EVALSHA command, for a server that has the script. */
  byDigest(keys: Keys, words: readonly string[]): string[] {
    return ['evalsha', this.sha1, ...counted(keys), ...words]
  }

  /** Returns the EVAL command with the whole source, for a server that lacks the script. */
  whole(keys: Keys, words: readonly string[]): string[] {
    return ['eval', this.source, ...counted(keys), ...words]
  }

  async run(client: RedisCommands, keys: Keys, ...words: string[]): Promise<unknown> {
    try {
      return await client.call('EVALSHA', this.sha1, ...counted(keys), ...words)
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
      return client.call('EVAL', this.source, ...counted(keys), ...words)
    }
  }
}

type Keys = string | readonly string[]

const counted = (keys: Keys): readonly string[] =>
  typeof keys === 'string' ? ['1', keys] : [String(keys.length), ...keys]

/** Whether a script that replies 0 or 1 has done its work. @throws Error for any other reply. */
export function isDone(reply: unknown): boolean {
  const number = Number(reply)
  if (number !== 0 && number !== 1)
    throw new Error('The Redis client replied to a script with something other than 0 or 1.')
  return number === 1
}
