import type * as Ioredis from 'ioredis'
import { ConfigurationError } from '../protocol/configuration'
import type { RedisCommands } from './redis-commands'

/** A connection that the suite made, and so ends. */
export interface RedisConnection extends RedisCommands {
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

/** Connects to one Redis with settings under which a command fails soon instead of waiting for a server to return. */
export function connect(url: string): RedisConnection {
  const { Redis } = loadIoredis()
  const redis = new Redis(url, connectionSettings)
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
  try {
    return require('ioredis')
  } catch (cause) {
    if (!isMissing(cause)) throw cause
    const problem = 'is not installed: run "npm install ioredis", or pass redisStore({ client }).'
    throw new ConfigurationError('redisStore({ url }) cannot connect:', [{ path: 'ioredis', problem }], {
      cause,
    })
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND'
}
