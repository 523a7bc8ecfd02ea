import type * as Ioredis from 'ioredis'
import { inTime } from '../../primitives/clock'
import { type Loaded, optionalPackage } from '../../primitives/configuration-error'
import { isRecord, isText } from '../../primitives/values'
import { confirmedBy, MasterRole, readsOver, ReadsTogether, type RedisReads } from './reads'
import type { PipelinedCommands, RedisCommands } from './redis-commands'

export interface RedisConnection extends RedisCommands, RedisReads, PipelinedCommands {
  onLost(listener: () => void): void
  /** Such as `Redis at localhost:6379`. Never a password. */
  readonly place: string
  /** Why the last attempt to connect failed; undefined once ready. */
  connectionFailure(): string | undefined
  close(): Promise<void>
}

/** Milliseconds. Commands fail soon, and connections recover. */
export const connectionSettings = {
  maxRetriesPerRequest: 1,
  connectTimeout: 2000,
  commandTimeout: 2000,
  // A server that vanishes silently leaves its connection open for minutes.
  socketTimeout: 2000,
  // The default waits up to 5 s, even if the server is back.
  retryStrategy: (attempt: number) => Math.min(attempt * 50, 1000),
  // After a failover behind one name, the old master refuses writes. Redis 6.2 puts words before the error of a
  // script's command.
  reconnectOnError: (error: Error) => error.message.includes('READONLY'),
} satisfies Ioredis.RedisOptions

/** Commands fail at once if the connection breaks. */
const sentOnce = {
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
} satisfies Ioredis.RedisOptions

interface Purpose {
  /** Seconds for a command such as WAIT, beyond the usual timeout. Default 0. */
  readonly waiting?: number
  /** For commands that must not run twice. Connects at the first. Default false. */
  readonly once?: boolean
}

/** @throws ConfigurationError without ioredis. */
export function connect(url: string, { waiting = 0, once = false }: Purpose = {}): RedisConnection {
  const { Redis } = loadIoredis()
  const { commandTimeout, socketTimeout: _, ...settings } = connectionSettings
  const resending = once ? { ...sentOnce, lazyConnect: true } : {}
  const redis = new Redis(url, { ...settings, ...resending })
  const soon = commandDeadline(redis, commandTimeout / 1000 + waiting)
  // Without a listener, ioredis would print every lost connection.
  let connectionFailure: string | undefined
  redis
    .on('error', (error) => (connectionFailure = reasonOf(error)))
    .on('ready', () => (connectionFailure = undefined))
  const singleReads = readsOver(redis)
  const batchedReads = new ReadsTogether(redis, singleReads)
  const holdBack = packetPerTurn(redis, () => batchedReads.send())
  const role = new MasterRole({
    ask: () => soon(redis.call('HELLO')),
    leave: () => redis.disconnect(true),
  })
  redis.on('close', () => role.forget())
  return {
    call: (command, ...words) => {
      holdBack()
      return confirmedBy(role.confirmed(), soon(redis.call(command, ...words)))
    },
    read: (key) => {
      const reads = holdBack() ? batchedReads : singleReads
      return confirmedBy(role.confirmed(), soon(reads.read(key)))
    },
    pipeline: (commands) => {
      const pipeline = redis.pipeline(commands)
      return { exec: () => soon(pipeline.exec()) }
    },
    onLost: (listener) => void redis.on('close', listener),
    place: describeAddress(redis),
    connectionFailure: () => connectionFailure,
    close: async () => {
      redis.disconnect()
    },
  }
}

/**
 * If nothing at all arrived meanwhile, ends the connection, too. The timers of ioredis would also end it for a
 * process that stood still.
 */
function commandDeadline(redis: Ioredis.Redis, seconds: number): <T>(reply: Promise<T>) => Promise<T> {
  return (reply) => {
    const { stream } = redis
    const bytes = stream?.bytesRead
    const late = () => {
      if (redis.stream === stream && stream?.bytesRead === bytes) stream?.destroy()
      return new Error('Command timed out')
    }
    return inTime(() => reply, { seconds, late })
  }
}

// Node's error has no message if a host has several addresses and all fail.
const reasonOf = (error: Error): string =>
  error.message || ('code' in error ? String(error.code) : error.name)

/**
 * Tuning: one packet for all commands of one turn of the event loop. A system call costs more than the rest of
 * a command, and may wake Redis on another core (docs/reports/performance.md, 2026-11-22).
 *
 * @returns call it before each command; false if the connection is not ready, and so holds nothing back.
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
  /** Without subscription or other state. */
  ready(): void
  lost(): void
  told(message: unknown): void
  /** Least milliseconds before the next attempt. */
  pause(): number
}

/** Reconnects, without earlier subscriptions and unsent commands. */
export interface ListeningConnection extends RedisCommands {
  subscribe(channel: string): Promise<unknown>
  reconnect(): void
  close(): Promise<void>
}

export function listen(url: string, listener: Listener): ListeningConnection {
  const { Redis } = loadIoredis()
  const { retryStrategy } = connectionSettings
  const redis = new Redis(url, {
    ...connectionSettings,
    // ioredis drops the pushes of RESP3.
    protocol: 2,
    // They belong to one connection: ioredis must not repeat them on the next.
    autoResubscribe: false,
    autoResendUnfulfilledCommands: false,
    enableOfflineQueue: false,
    reconnectOnError: () => false,
    // No command on it matters any more.
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

/** Milliseconds: short for the network, long for a wake-up. */
const pauseAfterChunk = 2

/**
 * Tuning: one read in 2 ms: a wake-up costs about 30 µs, a further message in the chunk about 3 µs
 * (docs/reports/performance.md, 2026-11-22). Reads the first data after a pause at once.
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
