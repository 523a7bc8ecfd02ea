import type * as Ioredis from 'ioredis'
import { inTime } from '../../primitives/clock'
import { refuseLoading } from '../../primitives/configuration-error'
import { isRecord, isText } from '../../primitives/values'
import { confirmedBy, MasterRole, ReadsTogether } from './reads'

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

/**
 * @param waiting seconds for a command such as WAIT, beyond the usual timeout.
 * @param once for commands that must not run twice. Connects at the first.
 * @throws ConfigurationError without ioredis.
 */
export function connect(url: string, { waiting = 0, once = false } = {}) {
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
  const together = new ReadsTogether(redis)
  const holdBack = packetPerTurn(redis, () => together.send())
  const ask = () => soon(redis.call('HELLO'))
  const role = new MasterRole(ask, () => redis.disconnect(true))
  redis.on('close', () => role.forget())
  return {
    call(command: string, ...words: string[]): Promise<unknown> {
      holdBack()
      return confirmedBy(role.confirmed(), soon(redis.call(command, ...words)))
    },
    read(key: string): Promise<unknown> {
      const reply = holdBack() ? together.read(key) : redis.call('GET', key)
      return confirmedBy(role.confirmed(), soon(reply))
    },
    pipeline(commands: string[][]) {
      const pipeline = redis.pipeline(commands)
      return { exec: () => soon(pipeline.exec()) }
    },
    onLost: (listener: () => void) => void redis.on('close', listener),
    place: describeAddress(redis),
    /** Why the last attempt to connect failed; undefined once ready. */
    connectionFailure: () => connectionFailure,
    close: () => redis.disconnect(),
  }
}

export type RedisConnection = ReturnType<typeof connect>

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

/** @throws ConfigurationError if it is not installed. */
export function loadIoredis(): typeof Ioredis {
  try {
    return require('ioredis')
  } catch (cause) {
    const cure = 'run "npm install ioredis", or pass redisStore({ client })'
    return refuseLoading(cause, 'ioredis', 'redisStore({ url }) cannot connect:', cure)
  }
}

/** Host and port only, never a user name or password. */
export function describeAddress(client: object): string {
  const { options, startupNodes }: { options?: unknown; startupNodes?: unknown } = client
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
