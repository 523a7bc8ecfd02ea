import { isBuiltin } from 'node:module'
import { RedisStore } from 'connect-redis'
import { MemoryStore, type Store } from 'express-session'
import { Redis } from 'ioredis'
import type { Store as AuthorizationStore } from '../lib/index'
import { storeFrom } from '../lib/paths/stores'
import { LimitStore } from './limit-store'
import type { LimitStores } from './limits'

/** Where the apps keep what they must remember. */
export interface Storage {
  readonly authorizations: AuthorizationStore
  /** A session store for one app, whose keys begin with its name. */
  sessions(app: string): Store
  readonly limits: LimitStores
  close(): Promise<void>
}

/** Keeps authorizations where the URL says, and sessions in Redis if it is one of Redis. */
export async function openStorage(url: string): Promise<Storage> {
  const authorizations = storeFrom({ STORE_URL: url })
  const { close, ...sessions } = isRedis(url) ? await inRedis(url, authorizations) : inMemory()
  return {
    authorizations,
    ...sessions,
    close: async () => {
      close()
      await authorizations.close?.()
    },
  }
}

const isRedis = (url: string): boolean => /^rediss?:/i.test(url)

interface Sessions extends Pick<Storage, 'sessions' | 'limits'> {
  readonly close: () => void
}

const inMemory = (): Sessions => ({
  sessions: () => new MemoryStore(),
  limits: () => undefined,
  close: () => {},
})

// Redis may be away at the start and come later, and go away and come back. The start waits for the end of the first
// attempt to connect, so that the first request finds a Redis that is there.
async function inRedis(url: string, authorizations: AuthorizationStore): Promise<Sessions> {
  const { redis, close } = connect(url)
  await new Promise<void>((resolve) => {
    redis.once('ready', resolve)
    redis.once('close', resolve)
  })
  return {
    sessions: (app) => sessionsIn(redis, `${app}:session:`),
    limits: (name) => new LimitStore(authorizations, `limit:${name}:`),
    close,
  }
}

function connect(url: string): { readonly redis: Redis; readonly close: () => void } {
  const redis = new Redis(url, {
    // Without a connection a command fails at once, and no request waits for one.
    enableOfflineQueue: false,
    // A command that was under way when the connection broke is not sent again: it might count twice.
    maxRetriesPerRequest: 0,
    connectTimeout: 2000,
    commandTimeout: 2000,
    retryStrategy: (attempt) => Math.min(attempt * 50, 1000),
  })
  // What goes wrong is told by 'close' and by the requests that fail; without a listener ioredis prints it as well.
  redis.on('error', () => {})
  let isAway = false
  let isClosing = false
  redis.on('close', () => {
    if (!isAway && !isClosing)
      console.error(
        `Redis at ${withoutPassword(url)} does not answer: start it, and the demo goes on by itself. Without STORE_URL it needs no database.`,
      )
    isAway = true
  })
  redis.on('ready', () => {
    if (isAway) console.error(`Redis at ${withoutPassword(url)} answers again.`)
    isAway = false
  })
  const close = () => {
    isClosing = true
    redis.disconnect()
  }
  return { redis, close }
}

// express-session asks no store that says it is disconnected: the request goes on without a session.
function sessionsIn(client: Redis, prefix: string): Store {
  const store = new RedisStore({ client, prefix })
  client.on('close', () => store.emit('disconnect'))
  client.on('ready', () => store.emit('connect'))
  // Once express-session listens: it takes a store for connected until it hears otherwise.
  process.nextTick(() => client.status === 'ready' || store.emit('disconnect'))
  return store
}

/** A file, where Node has SQLite. */
export const usualStore = (): string => (isBuiltin('node:sqlite') ? 'file:./demo.db' : '')

export function described(url: string): string {
  if (url === '') return 'memory; elsewhere: STORE_URL=redis://localhost:6379 npm run demo, or file:./demo.db'
  const sessions = isRedis(url) ? 'survive them with a SESSION_SECRET' : 'end with the demo'
  return `${withoutPassword(url)}, over restarts; sign-ins ${sessions}`
}

/** The URL as it may be shown. */
function withoutPassword(url: string): string {
  return url.replace(/\/\/[^@/]*@/, '//')
}
