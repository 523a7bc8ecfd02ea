import type * as Ioredis from 'ioredis'
import { wait } from '../../primitives/deadlines'
import { isRecord, isText, type Loaded, optionalPackage } from '../../primitives/options-reader'
import { readsOver, ReadsTogether, type RedisReads } from './batched-reads'
import type { PipelinedCommands, RedisCommands } from './redis-commands'
import { confirmedBy, MasterRole } from './role'

/** A connection that the store opened, and therefore closes. */
export interface RedisConnection extends RedisCommands, RedisReads, PipelinedCommands {
  /** Calls the listener at each loss of the connection, because the next command may reach another server. */
  onLost(listener: () => void): void
  /** The server of this connection, such as `Redis at localhost:6379`, for messages. Never a password. */
  readonly place: string
  /** Returns the message of the last failed attempt to connect; undefined once the connection is ready. */
  obstacle(): string | undefined
  close(): Promise<void>
}

/** Settings for ioredis, in milliseconds, with which commands fail soon and connections recover by themselves. */
export const connectionSettings = {
  maxRetriesPerRequest: 1,
  connectTimeout: 2000,
  commandTimeout: 2000,
  // If a server vanishes silently, its connection stays open for minutes and every command fails. A new one may work.
  socketTimeout: 2000,
  // Waits 1 s at most between two attempts. The default of ioredis waits up to 5 s, even if the server is already back.
  retryStrategy: (attempt: number) => Math.min(attempt * 50, 1000),
  // After a failover behind one name, the old connection still leads to the old master, which now refuses every write.
  // Redis 6.2 puts words before the error of a command in a script.
  reconnectOnError: (error: Error) => error.message.includes('READONLY'),
} satisfies Ioredis.RedisOptions

/** For commands that must not run twice: a command fails at once if its connection breaks before the reply. */
const sentOnce = {
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
} satisfies Ioredis.RedisOptions

interface Purpose {
  /** Seconds that a command may wait at the server, as WAIT does, beyond the usual timeout. Default 0. */
  readonly waiting?: number
  /** Sends each command at most once. Such a connection opens with its first command. Default false. */
  readonly once?: boolean
}

/**
 * Connects to one Redis. Commands fail within seconds while the server is away.
 *
 * @throws ConfigurationError without ioredis.
 */
export function connect(url: string, { waiting = 0, once = false }: Purpose = {}): RedisConnection {
  const { Redis } = loadIoredis()
  const { commandTimeout, socketTimeout: _, ...settings } = connectionSettings
  const resending = once ? { ...sentOnce, lazyConnect: true } : {}
  const redis = new Redis(url, { ...settings, ...resending })
  const inTime = commandDeadline(redis, commandTimeout / 1000 + waiting)
  // Each failed command rejects by itself. Without a listener, ioredis would also print every lost connection.
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
 * Rejects a reply that takes too long. If nothing at all arrived meanwhile, ends the connection as well: one whose server
 * vanished silently stays open for minutes. The timers of ioredis would do this to a process that stood still.
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

// The error of Node has no message if a host has several addresses and all of them fail.
function reasonOf(error: Error): string {
  return error.message || ('code' in error ? String(error.code) : error.name)
}

/**
 * Tuning: holds the output of a connection back for one turn of the event loop, and sends all commands of the turn in
 * one packet. A system call for each command costs more than the rest of the command, and may wake Redis on another
 * core (docs/reports/performance.md, 2026-11-22).
 *
 * @param beforeSend runs before the packet goes out.
 * @returns a function to call before each command. The function returns false if the connection is not ready and so
 * holds nothing back.
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

/** Listens to a connection on which Redis sends messages unasked. */
interface Listener {
  /** Runs when a new connection stands. The connection has no subscription and no other state yet. */
  ready(): void
  /** Runs when the connection is lost. */
  lost(): void
  /** Runs for each message of the channel. The message may have any form. */
  told(message: unknown): void
  /** Returns the least number of milliseconds before the next attempt to connect. */
  pause(): number
}

/** A connection that reconnects by itself, without the subscriptions and unsent commands of the connection before. */
export interface ListeningConnection extends RedisCommands {
  subscribe(channel: string): Promise<unknown>
  reconnect(): void
  close(): Promise<void>
}

/** Opens a connection for messages that Redis sends unasked. @throws ConfigurationError without ioredis. */
export function listen(url: string, listener: Listener): ListeningConnection {
  const { Redis } = loadIoredis()
  const { retryStrategy } = connectionSettings
  const redis = new Redis(url, {
    ...connectionSettings,
    // RESP2, because ioredis drops the pushes of RESP3.
    protocol: 2,
    // Subscriptions and commands belong to one connection, so ioredis must not repeat them on the next.
    autoResubscribe: false,
    autoResendUnfulfilledCommands: false,
    enableOfflineQueue: false,
    reconnectOnError: () => false,
    // Waits 100 ms at most for the end of a connection that is given up: no command on it matters any more.
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

/** Milliseconds. Short in comparison with the network, long in comparison with the cost of a wake-up. */
const pauseAfterChunk = 2

/**
 * Tuning: reads a stream at most once in 2 ms, because a wake-up of the process costs about 30 µs and a further message
 * in the same chunk about 3 µs (docs/reports/performance.md, 2026-11-22). Reads the first data after a quiet pause at once.
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

/** Describes the server of an ioredis client, for messages: host and port only, never a user name or password. */
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
  // Takes only the host of a URL, because a URL may hold a password. A number is the port.
  if (isText(node)) return URL.canParse(node) ? new URL(node).host : 'a node'
  return `localhost:${word(node, '6379')}`
}

const word = (value: unknown, usual: string): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : usual
