import type * as Ioredis from 'ioredis'
import { isRecord, isText, optionalPackage } from '../../protocol/configuration'
import { readsOver, ReadsTogether, type RedisReads } from './batched-reads'
import type { PipelinedCommands, RedisCommands } from './commands'
import { confirmedBy, MasterRole } from './role'

/** A connection that the suite made, and so ends. */
export interface RedisConnection extends RedisCommands, RedisReads, PipelinedCommands {
  /** Calls the listener at each loss: the next command may reach another server. */
  onLost(listener: () => void): void
  /** Where it leads, for messages. */
  readonly place: string
  /** Why there is no connection at the moment: what the last attempt to connect met. */
  obstacle(): string | undefined
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

/** For commands that must not be carried out twice: one that was under way when its connection broke fails at once. */
const sentOnce = {
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
} satisfies Ioredis.RedisOptions

interface Purpose {
  /** Seconds that a command of this connection may wait at the server. Default 0. */
  readonly waiting?: number
  /** Whether a command is sent once at most. Such a connection begins with its first command. Default false. */
  readonly once?: boolean
}

/** Connects to one Redis with settings under which a command fails soon instead of waiting for a server to return. */
export function connect(url: string, { waiting = 0, once = false }: Purpose = {}): RedisConnection {
  const { Redis } = loadIoredis()
  const silence = connectionSettings.commandTimeout + waiting * 1000
  const patience = { commandTimeout: silence, socketTimeout: silence }
  const resending = once ? { ...sentOnce, lazyConnect: true } : {}
  const redis = new Redis(url, { ...connectionSettings, ...patience, ...resending })
  // Each failed command rejects on its own; without a listener ioredis prints every lost connection as well.
  let obstacle: string | undefined
  redis.on('error', (error) => (obstacle = reasonOf(error))).on('ready', () => (obstacle = undefined))
  const alone = readsOver(redis)
  const together = new ReadsTogether(redis, alone)
  const gather = gathering(redis, () => together.send())
  const role = new MasterRole({
    ask: () => redis.call('HELLO'),
    leave: () => redis.disconnect(true),
  })
  redis.on('close', () => role.forget())
  return {
    call: (command, ...words) => {
      gather()
      return confirmedBy(role.confirmed(), redis.call(command, ...words))
    },
    read: (key) => {
      const reads = gather() ? together : alone
      return confirmedBy(role.confirmed(), reads.read(key))
    },
    pipeline: (commands) => redis.pipeline(commands),
    onLost: (listener) => void redis.on('close', listener),
    place: describeAddress(redis),
    obstacle: () => obstacle,
    close: async () => {
      redis.disconnect()
    },
  }
}

// Node has no message where a host has several addresses, and none of them answers.
function reasonOf(error: Error): string {
  return error.message || ('code' in error ? String(error.code) : error.name)
}

/**
 * Holds back what is sent until everything that came in meanwhile was looked at, so that many commands go out in one packet:
 * a call of the system for each costs more than all else about it. What it returns begins that, and tells whether it did:
 * over a connection that is not ready nothing is held back.
 *
 * @param last is called before the packet goes out.
 */
function gathering(redis: Ioredis.Redis, last: () => void): () => boolean {
  let held: Ioredis.Redis['stream'] | undefined
  const letGo = () => {
    last()
    held?.uncork()
    held = undefined
  }
  return () => {
    if (held !== undefined) return true
    if (redis.status !== 'ready') return false
    held = redis.stream
    held.cork()
    setImmediate(letGo)
    return true
  }
}

/** Who is told what becomes of a connection on which Redis speaks first. */
export interface Listener {
  /** The connection is new, and nothing is agreed on it. */
  ready(): void
  lost(): void
  /** What came over the channel, whatever it is. */
  told(message: unknown): void
  /** Milliseconds to wait at least before the next attempt to connect. */
  pause(): number
}

/** A connection that finds back by itself, but takes nothing over from the one before. */
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
    // ioredis drops what Redis pushes in RESP3.
    protocol: 2,
    // What was sent over one connection means nothing on the next.
    autoResubscribe: false,
    autoResendUnfulfilledCommands: false,
    enableOfflineQueue: false,
    reconnectOnError: () => false,
    // Nothing is left to say on a connection that is given up.
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

/** Milliseconds. Short beside what the network takes, long beside what a wake-up costs. */
const pauseAfterNews = 2

/**
 * Reads a stream at most once in each pause: a wake-up of the process costs some 30 µs, a message within a chunk costs 2.
 * What arrives after a pause without news is read at once.
 */
function readInChunks(stream: Ioredis.Redis['stream']): void {
  const resume = () => void stream.resume()
  stream.on('data', () => {
    stream.pause()
    setTimeout(resume, pauseAfterNews)
  })
}

function loadIoredis(): typeof Ioredis {
  return optionalPackage('ioredis', (): typeof Ioredis => require('ioredis'), {
    subject: 'redisStore({ url }) cannot connect:',
    cure: 'run "npm install ioredis", or pass redisStore({ client })',
  })
}

/** Where a client of ioredis connects, for messages: hosts and ports alone, and nothing of what it authenticates by. */
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
  // A URL holds a password; a number is the port.
  if (isText(node)) return URL.canParse(node) ? new URL(node).host : 'a node'
  return `localhost:${word(node, '6379')}`
}

const word = (value: unknown, usual: string): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : usual
