import type * as Ioredis from 'ioredis'
import { wait } from '../../primitives/deadlines'
import { isRecord, isText, type Loaded, optionalPackage } from '../../primitives/options-reader'
import { readsOver, ReadsTogether, type RedisReads } from './batched-reads'
import type { PipelinedCommands, RedisCommands } from './redis-commands'
import { confirmedBy, MasterRole } from './role'

/** A connection that the store opened, and closes. */
export interface RedisConnection extends RedisCommands, RedisReads, PipelinedCommands {
  /** The next command may reach another server. */
  onLost(listener: () => void): void
  /** For messages, such as `Redis at localhost:6379`. Never a password. */
  readonly place: string
  /** The message of the last failed attempt to connect; undefined once ready. */
  obstacle(): string | undefined
  close(): Promise<void>
}

/** Milliseconds. Commands fail soon, and connections recover by themselves. */
export const connectionSettings = {
  maxRetriesPerRequest: 1,
  connectTimeout: 2000,
  commandTimeout: 2000,
  // A server that vanishes silently leaves its connection open for minutes, and every command fails.
  socketTimeout: 2000,
  // The default of ioredis waits up to 5 s, even if the server is back.
  retryStrategy: (attempt: number) => Math.min(attempt * 50, 1000),
  // After a failover behind one name, the connection leads to the old master, which refuses writes. Redis 6.2
  // puts words before the error of a command in a script.
  reconnectOnError: (error: Error) => error.message.includes('READONLY'),
} satisfies Ioredis.RedisOptions

/** For commands that must not run twice: they fail at once if the connection breaks before the reply. */
const sentOnce = {
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
} satisfies Ioredis.RedisOptions

interface Purpose {
  /** Seconds that a command such as WAIT may wait at the server, beyond the usual timeout. Default 0. */
  readonly waiting?: number
  /** Sends each command at most once, and connects at the first. Default false. */
  readonly once?: boolean
}

/** @throws ConfigurationError without ioredis. */
export function connect(url: string, { waiting = 0, once = false }: Purpose = {}): RedisConnection {
  const { Redis } = loadIoredis()
  const { commandTimeout, socketTimeout: _, ...settings } = connectionSettings
  const resending = once ? { ...sentOnce, lazyConnect: true } : {}
  const redis = new Redis(url, { ...settings, ...resending })
  const inTime = commandDeadline(redis, commandTimeout / 1000 + waiting)
  // Each failed command rejects by itself. Without a listener, ioredis would print every lost connection.
  let obstacle: string | undefined
  redis.on('error', (error) => (obstacle = reasonOf(error))).on('ready', () => (obstacle = undefined))
  const singleReads = readsOver(redis)
  const batchedReads = new ReadsTogether(redis, singleReads)
  const holdBack = packetPerTurn(redis, () => batchedReads.send())
  const role = new MasterRole({
    ask: () => inTime(redis.call('HELLO')),
    leave: () => redis.disconnect(true),
  })
  redis.on('close', () => role.forget())
  return {
    call: (command, ...words) => {
      holdBack()
      return confirmedBy(role.confirmed(), inTime(redis.call(command, ...words)))
    },
    read: (key) => {
      const reads = holdBack() ? batchedReads : singleReads
      return confirmedBy(role.confirmed(), inTime(reads.read(key)))
    },
    pipeline: (commands) => {
      const pipeline = redis.pipeline(commands)
      return { exec: () => inTime(pipeline.exec()) }
    },
    onLost: (listener) => void redis.on('close', listener),
    place: describeAddress(redis),
    obstacle: () => obstacle,
    close: async () => {
      redis.disconnect()
    },
  }
}

/**
 * Rejects a late reply. If nothing at all arrived meanwhile, ends the connection: a server that vanished
 * silently leaves it open for minutes. The timers of ioredis would end it for a process that stood still.
 */
function commandDeadline(redis: Ioredis.Redis, seconds: number): <T>(reply: Promise<T>) => Promise<T> {
  return (reply) =>
    new Promise((resolve, reject) => {
      const { stream } = redis
      const bytes = stream?.bytesRead
      const end = wait(seconds, () => {
        reject(new Error('Command timed out'))
        if (redis.stream === stream && stream?.bytesRead === bytes) stream?.destroy()
      })
      reply.then(resolve, reject).finally(end)
    })
}

// Node's error has no message if a host has several addresses and all fail.
function reasonOf(error: Error): string {
  return error.message || ('code' in error ? String(error.code) : error.name)
}

/**
 * Tuning: sends all commands of one turn of the event loop in one packet. A system call costs more than the
 * rest of a command, and may wake Redis on another core (docs/reports/performance.md, 2026-11-22).
 *
 * @returns a function to call before each command; false if the connection is not ready, and so holds nothing
 * back.
 */
function packetPerTurn(redis: Ioredis.Redis, beforeSend: () => void): () => boolean {
  let held: Ioredis.Redis['stream'] | undefined
  const send = () => {
    beforeSend()
    held?.uncork()
    held = undefined
  }
  return () => {
    if (held !== undefined) return true
    if (redis.status !== 'ready') return false
    held = redis.stream
    held.cork()
    setImmediate(send)
    return true
  }
}

interface Listener {
  /** The new connection has no subscription and no other state. */
  ready(): void
  lost(): void
  /** The message may have any form. */
  told(message: unknown): void
  /** Least milliseconds before the next attempt to connect. */
  pause(): number
}

/** Reconnects by itself, without the subscriptions and unsent commands of before. */
export interface ListeningConnection extends RedisCommands {
  subscribe(channel: string): Promise<unknown>
  reconnect(): void
  close(): Promise<void>
}

/** For messages that Redis sends unasked. @throws ConfigurationError without ioredis. */
export function listen(url: string, listener: Listener): ListeningConnection {
  const { Redis } = loadIoredis()
  const { retryStrategy } = connectionSettings
  const redis = new Redis(url, {
    ...connectionSettings,
    // ioredis drops the pushes of RESP3.
    protocol: 2,
    // Subscriptions and commands belong to one connection: ioredis must not repeat them on the next.
    autoResubscribe: false,
    autoResendUnfulfilledCommands: false,
    enableOfflineQueue: false,
    reconnectOnError: () => false,
    // No command matters any more on a connection that is given up.
    disconnectTimeout: 100,
    retryStrategy: (attempt) => Math.max(retryStrategy(attempt), listener.pause()),
  })
  redis.on('error', () => {})
  redis.on('ready', () => readInChunks(redis.stream))
  redis.on('ready', () => listener.ready()).on('close', () => listener.lost())
  redis.on('messageBuffer', (_channel: unknown, message: unknown) => listener.told(message))
  return {
    call: (command, ...words) => redis.call(command, ...words),
    subscribe: (channel) => redis.subscribe(channel),
    reconnect: () => redis.disconnect(true),
    close: async () => redis.disconnect(),
  }
}

/** Milliseconds: short beside the network, long beside the cost of a wake-up. */
const pauseAfterChunk = 2

/**
 * Tuning: reads at most once in 2 ms: a wake-up costs about 30 µs, a further message in the same chunk about 3
 * µs (docs/reports/performance.md, 2026-11-22). Data after a quiet pause is read at once.
 */
function readInChunks(stream: Ioredis.Redis['stream']): void {
  const resume = () => void stream.resume()
  stream.on('data', () => {
    stream.pause()
    setTimeout(resume, pauseAfterChunk)
  })
}

function loadIoredis(): typeof Ioredis {
  return optionalPackage(
    'ioredis',
    (): Loaded<typeof Ioredis> => {
      try {
        return { found: require('ioredis') }
      } catch (cause) {
        return { cause }
      }
    },
    {
      subject: 'redisStore({ url }) cannot connect:',
      cure: 'run "npm install ioredis", or pass redisStore({ client })',
    },
  )
}

/** Host and port only, never a user name or password. */
export function describeAddress(client: object): string {
  const { place, options, startupNodes }: { place?: unknown; options?: unknown; startupNodes?: unknown } =
    client
  if (isText(place)) return place
  const settings = isRecord(options) ? options : {}
  const { path, sentinels, name } = settings
  if (isText(path)) return `Redis at ${path}`
  if (Array.isArray(sentinels) && sentinels.length > 0)
    return `Redis ${word(name, '')} behind the sentinels ${listed(sentinels)}`
  if (Array.isArray(startupNodes)) return `Redis Cluster at ${listed(startupNodes)}`
  return isText(settings['host']) ? `Redis at ${nodeOf(settings)}` : 'Redis'
}

const listed = (nodes: readonly unknown[]): string => nodes.map((node) => nodeOf(node)).join(', ')

function nodeOf(node: unknown): string {
  if (isRecord(node)) return `${word(node['host'], 'localhost')}:${word(node['port'], '6379')}`
  // Only the host: a URL may hold a password. A number is the port.
  if (isText(node)) return URL.canParse(node) ? new URL(node).host : 'a node'
  return `localhost:${word(node, '6379')}`
}

const word = (value: unknown, usual: string): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : usual
