import type * as Ioredis from 'ioredis'
import { inTime } from '../../primitives/clock'
import { refuseLoading } from '../../primitives/configuration-error'
import { isRecord, isText } from '../../primitives/values'
import type { RedisCommands } from './redis-commands'

// Milliseconds.
export const connectionSettings = {
  maxRetriesPerRequest: 1,
  connectTimeout: 2000,
  commandTimeout: 2000,
  // A server that vanishes leaves its connection open for minutes.
  socketTimeout: 2000,
  // The default waits up to 5 s, even if the server is back.
  retryStrategy: (attempt: number) => Math.min(attempt * 50, 1000),
  // After a failover behind one name, the old master refuses writes; Redis 6.2 puts words before the error of a script.
  reconnectOnError: (error: Error) => error.message.includes('READONLY'),
} satisfies Ioredis.RedisOptions

// `waiting`: seconds for a command such as WAIT. `once`: for commands that must not run twice.
export function connect(url: string, { waiting = 0, once = false } = {}) {
  const { Redis } = loadIoredis()
  const { commandTimeout, socketTimeout: _, ...settings } = connectionSettings
  // Fails at once if the connection breaks.
  const sentOnce = { maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false, lazyConnect: true }
  const redis = new Redis(url, { ...settings, ...(once && sentOnce) })
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
    connectionFailure: () => connectionFailure,
    close: () => redis.disconnect(),
  }
}

export type RedisConnection = ReturnType<typeof connect>

// Ends a silent connection, too. The timers of ioredis would end it for a process that stood still.
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

// Tuning: one packet for all commands of one turn: a system call costs more than the rest of a command (2026-11-22,
// docs/evidence.md).
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

// Tuning: one MGET for the reads of one turn: a tenth less processor time for a refresh (2026-11-22,
// docs/evidence.md). Can go when ioredis joins the GETs of one turn.

// Permanent: a cluster that looks like one server, and access rules.
const refusal = /^(?:CROSSSLOT|NOPERM) /

interface Waiting {
  readonly key: string
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

class ReadsTogether {
  private isRefused = false
  private waiting: Waiting[] = []

  constructor(private readonly client: RedisCommands) {}

  read(key: string): Promise<unknown> {
    if (this.isRefused) return this.client.call('GET', key)
    return new Promise((resolve, reject) => this.waiting.push({ key, resolve, reject }))
  }

  send(): void {
    const { waiting } = this
    if (waiting.length === 0) return
    this.waiting = []
    this.values(waiting.map(({ key }) => key)).then(
      (values) => waiting.forEach(({ resolve }, at) => resolve(values[at])),
      (error: unknown) => waiting.forEach(({ reject }) => reject(error)),
    )
  }

  private async values(keys: readonly string[]): Promise<readonly unknown[]> {
    if (keys.length === 1) return this.each(keys)
    try {
      const values = await this.client.call('MGET', ...keys)
      if (Array.isArray(values) && values.length === keys.length) return values
      throw new Error(`Redis replied to MGET of ${keys.length} keys with another number of values.`)
    } catch (error) {
      if (!(error instanceof Error) || !refusal.test(error.message)) throw error
      this.isRefused = true
      return this.each(keys)
    }
  }

  private each(keys: readonly string[]): Promise<readonly unknown[]> {
    return Promise.all(keys.map((key) => this.client.call('GET', key)))
  }
}

const confirmedFor = 1000

// Redis reports a demotion to writers only (READONLY): after a failover behind one name, a guard's connection would
// stay with the old master and still find revoked tokens. Asks at most once a second; a role counts from the sending of
// the question. A replica from the start stays in use: `check` warns of it.
class MasterRole {
  private askedAt = -Infinity
  private pending: Promise<void> | undefined
  private wasMaster = false

  // `hello` goes ahead of the reads and writes, on their connection.
  constructor(
    private readonly hello: () => Promise<unknown>,
    private readonly leave: () => void,
  ) {}

  // Before a command. Rejects if the server was the master and is a replica now.
  confirmed(): Promise<void> | undefined {
    const now = performance.now()
    if (now - this.askedAt >= confirmedFor) {
      this.askedAt = now
      this.pending = this.ask(now)
    }
    return this.pending
  }

  // The next connection may lead to another server.
  forget(): void {
    this.askedAt = -Infinity
  }

  private async ask(askedAt: number): Promise<void> {
    const role = await this.hello().then(roleIn, (failure: unknown) => {
      // The server, or a proxy, does not tell.
      if (failure instanceof Error && failure.name === 'ReplyError') return undefined
      this.forget()
      throw failure
    })
    if (role === 'replica' && this.wasMaster) {
      this.forget()
      this.leave()
      throw new Error('READONLY The server was the master and is a replica now.')
    }
    if (role === 'master') this.wasMaster = true
    if (this.askedAt === askedAt) this.pending = undefined
  }
}

const confirmedBy = <T>(confirmation: Promise<void> | undefined, reply: Promise<T>): Promise<T> =>
  confirmation === undefined ? reply : Promise.all([reply, confirmation]).then(([value]) => value)

const ignored = (): undefined => undefined

// The store cannot close the host's connection: after a demotion it deletes a key that never exists, and at the
// READONLY the host's own `reconnectOnError` can reconnect.
export function readOverHost(client: RedisCommands, unused: string): (key: string) => Promise<unknown> {
  const read = (key: string) => client.call('GET', key)
  // Not over a cluster, whose nodes refuse keys that they no longer serve, nor over unknown clients.
  if (!('isCluster' in client) || client.isCluster !== false) return read
  const ask = () => client.call('HELLO').catch(ignored)
  const role = new MasterRole(ask, () => void client.call('DEL', unused).catch(ignored))
  return (key) => confirmedBy(role.confirmed(), read(key))
}

function roleIn(reply: unknown): unknown {
  if (Array.isArray(reply)) return reply[reply.indexOf('role') + 1]
  if (reply instanceof Map) return reply.get('role')
  return isRecord(reply) ? reply['role'] : undefined
}

// Declarations name no optional package.
interface ListeningRedis extends RedisCommands {
  on(event: string, listener: (...words: unknown[]) => void): ListeningRedis
  subscribe(channel: string): Promise<unknown>
  disconnect(reconnect?: boolean): void
}

// Without earlier subscriptions and unsent commands. `pause`: the least milliseconds before the next attempt.
export function listeningRedis(url: string, pause: () => number): ListeningRedis {
  const { Redis } = loadIoredis()
  const redis = new Redis(url, {
    ...connectionSettings,
    // ioredis drops the pushes of RESP3.
    protocol: 2,
    // They belong to one connection: ioredis must not repeat them on the next.
    autoResubscribe: false,
    autoResendUnfulfilledCommands: false,
    enableOfflineQueue: false,
    reconnectOnError: () => false,
    disconnectTimeout: 100,
    retryStrategy: (attempt) => Math.max(connectionSettings.retryStrategy(attempt), pause()),
  })
  return redis.on('error', () => {}).on('ready', () => readInChunks(redis.stream))
}

const pauseAfterChunk = 2

// Tuning: one read in 2 ms: a wake-up costs about 30 µs, a further message in the chunk about 3 µs (2026-11-22,
// docs/evidence.md).
function readInChunks(stream: Ioredis.Redis['stream']): void {
  const resume = () => void stream.resume()
  stream.on('data', () => {
    stream.pause()
    setTimeout(resume, pauseAfterChunk)
  })
}

function loadIoredis(): typeof Ioredis {
  try {
    return require('ioredis')
  } catch (cause) {
    const cure = 'run "npm install ioredis", or pass redisStore({ client })'
    return refuseLoading(cause, 'ioredis', 'redisStore({ url }) cannot connect:', cure)
  }
}

// Host and port only, never a user name or password.
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
