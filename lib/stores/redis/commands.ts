import { createHash } from 'node:crypto'

/**
 * All that the suite asks of a Redis client: send one command. `Redis` and `Cluster` of ioredis satisfy it, for a
 * single server, a cluster and behind Sentinel alike; for node-redis it is
 * `{ call: (...words) => client.sendCommand(words) }`.
 */
export interface RedisCommands {
  call(command: string, ...words: string[]): Promise<unknown>
}

/**
 * What `waitForReplicas` asks of a Redis client beside: commands back to back on one connection, to the node that keeps
 * their keys. `Redis` and `Cluster` of ioredis satisfy it. The first word is the command in lower case.
 */
export interface PipelinedCommands {
  pipeline(commands: string[][]): {
    /** An error or a reply for each command. */
    exec(): Promise<[error: Error | null, reply: unknown][] | null>
  }
}

/** A Lua script on one key: sent by its digest, and whole when the server does not know it (yet, or any more). */
export class RedisScript {
  private readonly sha1: string

  constructor(private readonly source: string) {
    this.sha1 = createHash('sha1').update(source).digest('hex')
  }

  /** The command that a server understands once it has the script. */
  byDigest(key: string, words: readonly string[]): string[] {
    return ['evalsha', this.sha1, '1', key, ...words]
  }

  /** The command that brings the script along, to a server that does not know it. */
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
