import { RedisStore } from 'connect-redis'
import { MemoryStore, type Store } from 'express-session'
import { Redis } from 'ioredis'
import { memoryStore, redisStore, type AuthorizationStore } from '../lib/index'
import { CannotStart } from './cannot-start'

/** Where the apps keep what they must remember: in memory, or in Redis for any number of processes. */
export interface Storage {
  readonly authorizations: AuthorizationStore
  /** A session store for one app, whose keys begin with its name. */
  sessions(app: string): Store
  close(): Promise<void>
}

export async function openStorage(redisUrl: string | undefined): Promise<Storage> {
  return redisUrl === undefined ? inMemory() : inRedis(redisUrl)
}

function inMemory(): Storage {
  return { authorizations: memoryStore(), sessions: () => new MemoryStore(), close: async () => {} }
}

async function inRedis(url: string): Promise<Storage> {
  const client = await connect(url)
  const authorizations = redisStore({ url })
  return {
    authorizations,
    sessions: (app) => new RedisStore({ client, prefix: `${app}:session:` }),
    close: async () => {
      client.disconnect()
      await authorizations.close()
    },
  }
}

async function connect(url: string): Promise<Redis> {
  const redis = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 1, connectTimeout: 2000 })
  let trouble: unknown
  redis.on('error', (error) => {
    trouble = error
  })
  await redis.connect().catch((error: unknown) => {
    redis.disconnect()
    throw new CannotStart(
      `Redis at ${withoutPassword(url)} does not answer: start it, or leave REDIS_URL out and the demo keeps everything in memory.`,
      { cause: trouble ?? error },
    )
  })
  return redis
}

/** The URL as it may be shown. */
export function withoutPassword(url: string): string {
  return url.replace(/\/\/[^@/]*@/, '//')
}
