import type * as Ioredis from 'ioredis'
import { optionalPackage } from '../protocol/optional-package'
import type { RedisCommands } from './redis-commands'

/** A connection that the suite made, and so ends. */
export interface RedisConnection extends RedisCommands {
  close(): Promise<void>
}

/** Connects to one Redis with settings under which a command fails soon instead of waiting for a server to return. */
export function connect(url: string): RedisConnection {
  const { Redis } = loadIoredis()
  const redis = new Redis(url, { maxRetriesPerRequest: 1, connectTimeout: 2000, commandTimeout: 2000 })
  // Each failed command rejects on its own; without a listener ioredis prints every lost connection as well.
  redis.on('error', () => {})
  return {
    call: (command, ...words) => redis.call(command, ...words),
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
