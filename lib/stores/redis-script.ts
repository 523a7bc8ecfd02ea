import { createHash } from 'node:crypto'
import type { RedisCommands } from './redis-commands'

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
