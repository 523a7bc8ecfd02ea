import type * as Ioredis from 'ioredis'
import { optionalPackage } from '../protocol/optional-package'
import type { PipelinedCommands, RedisCommands } from './redis-commands'

/** A connection that the suite made, and so ends. */
export interface RedisConnection extends RedisCommands, PipelinedCommands {
  close(): Promise<void>
}

/**
 * Connects to one Redis with settings under which a command fails soon instead of waiting for a server to return.
 *
 * @param waiting seconds that a command of this connection may wait at the server.
 */
export function connect(url: string, waiting = 0): RedisConnection {
  const { Redis } = loadIoredis()
  const commandTimeout = 2000 + waiting * 1000
  const redis = new Redis(url, { maxRetriesPerRequest: 1, connectTimeout: 2000, commandTimeout })
  // Each failed command rejects on its own; without a listener ioredis prints every lost connection as well.
  redis.on('error', () => {})
  return {
    call: (command, ...words) => redis.call(command, ...words),
    pipeline: (commands) => redis.pipeline(commands),
    close: async () => {
      redis.disconnect()
    },
  }
}

function loadIoredis(): typeof Ioredis {
  return optionalPackage('ioredis', (): typeof Ioredis => require('ioredis'), {
    subject: 'redisStore({ url }) cannot connect:',
    cure: 'run "npm install ioredis", or pass redisStore({ client })',
  })
}
