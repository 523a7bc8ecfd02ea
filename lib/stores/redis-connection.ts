import type * as Ioredis from 'ioredis'
import { optionalPackage } from '../protocol/optional-package'
import type { PipelinedCommands, RedisCommands } from './redis-commands'

/** A connection that the suite made, and so ends. */
export interface RedisConnection extends RedisCommands, PipelinedCommands {
  close(): Promise<void>
}

/** What a connection needs to fail soon and to find back by itself, where ioredis would wait. In milliseconds. */
export const connectionSettings = {
  maxRetriesPerRequest: 1,
  connectTimeout: 2000,
  commandTimeout: 2000,
  // A server that vanished without a word leaves a connection that fails each command, for minutes; a new one may work.
  socketTimeout: 2000,
  // The default waits up to 5 s between two attempts, so long after a server is back.
  retryStrategy: (attempt: number) => Math.min(attempt * 50, 1000),
  // After a failover behind one name this connection is still to the old master, which refuses every write from now on.
  reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
} satisfies Ioredis.RedisOptions

/**
 * Connects to one Redis with settings under which a command fails soon instead of waiting for a server to return.
 *
 * @param waiting seconds that a command of this connection may wait at the server.
 */
export function connect(url: string, waiting = 0): RedisConnection {
  const { Redis } = loadIoredis()
  const silence = connectionSettings.commandTimeout + waiting * 1000
  const redis = new Redis(url, { ...connectionSettings, commandTimeout: silence, socketTimeout: silence })
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
