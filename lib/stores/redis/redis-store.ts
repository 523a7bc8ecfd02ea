import { aClock, aTextThat } from '../../primitives/fields'
import {
  type Fields,
  kind,
  optional,
  type Place,
  type Read,
  readOptions,
  usual,
} from '../../primitives/schema'
import { isRecord } from '../../primitives/values'
import type { Count, Store, StoreWarning } from '../../store/store'
import { readsOverHost, type RedisReads } from './reads'
import { cached, cacheOption, type CacheOptions } from './cache'
import { connect, describeAddress, type RedisConnection } from './connection'
import { checkRedis } from './health-check'
import {
  foundText,
  isDone,
  type PipelinedCommands,
  type RedisCommands,
  RedisScript,
  textsOf,
} from './redis-commands'
import {
  acknowledgedWrites,
  isPipelined,
  type RedisWrites,
  replicaWait,
  type ReplicaWait,
  versionLength,
  writesOver,
} from './writes'

export type RedisStoreOptions = {
  /** Of every key. Default `oauth:`. */
  readonly prefix?: string
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number
  /**
   * Waits by `WAIT` until this many replicas have each write of a record: a code issued or redeemed, a refresh token
   * rotated, a revocation. A failover to one of them then loses no write that a client saw
   * succeed. With fewer replicas the server responds with `temporarily_unavailable`. Default: a write is done
   * once the master has it. `WAIT` blocks its connection: with `url` the store opens a second one for writes,
   * and a `client` should serve the store alone.
   */
  readonly waitForReplicas?: ReplicaWait
} & (
  | {
      /** The host's connected ioredis `Redis` or `Cluster`, or another object with the same `call`. */
      readonly client: RedisCommands & Partial<PipelinedCommands>
      readonly url?: undefined
      readonly cache?: undefined
    }
  | {
      /** A `redis://` or `rediss://` URL. The store opens its own connections, which fail fast. Needs ioredis. */
      readonly url: string
      readonly client?: undefined
      /**
       * Caches authorizations in this process, so a guard reads each from Redis once. Redis reports every
       * change over one more connection (`CLIENT TRACKING`). A revocation takes effect as soon as the report
       * arrives, and within a second even if the network goes silent. Default: each guarded request reads from
       * Redis.
       */
      readonly cache?: CacheOptions
    }
)

/** A {@link Store} on Redis, all in the same Redis, below the same prefix. */
export interface RedisStore extends Store {
  /** For messages, such as `Redis at localhost:6379`. Never a password. */
  readonly place: string
  /** Why the last attempt to connect failed; undefined if the connection is ready, or belongs to the host. */
  connectionFailure(): string | undefined
  /**
   * Checks eviction, version, role, cluster, clock and resending of the Redis: one warning for each problem.
   * Servers and guards call it, and emit the warnings. Rejects if Redis does not respond.
   *
   * @param issuer of the server or guard, noted below the prefix. Warns of other issuers there. Without it,
   * `check` writes nothing.
   */
  check(issuer?: string): Promise<readonly StoreWarning[]>
  /** Closes the connections that the store opened, not a client of the host. */
  close(): Promise<void>
}

/**
 * Keeps every record in Redis 6.2 or later, or in Valkey: one key for each. An authorization expires with its last
 * credential. A dump holds no usable credential.
 *
 * @throws ConfigurationError if an option is wrong, or if `url` is given and ioredis is not installed.
 */
export function redisStore(options: RedisStoreOptions): RedisStore {
  const read = readOptions('redisStore()', fields, options, { check: checkConnection })
  const { url = '', client, prefix, clock, waitForReplicas: wait, cache } = read
  const unused = `${prefix}unused`
  if (client !== undefined) {
    const [reads, writes] = [readsOverHost(client, unused), writesOf(client, wait, unused)]
    return storeOver({ client, reads, writes, forCounts: client, prefix, clock, close: async () => {} })
  }
  const connection = connect(url)
  // WAIT blocks the commands behind it, so reads go elsewhere.
  const forWrites = wait === undefined ? connection : connect(url, { waiting: wait.within })
  const forCounts = connect(url, { once: true })
  const close = async () => {
    await Promise.all([connection, forWrites, forCounts].map((each) => each.close()))
  }
  const writes = writesOf(forWrites, wait, unused)
  const store = storeOver({ client: connection, reads: connection, writes, forCounts, prefix, clock, close })
  return cache === undefined ? store : cached(store, connection, { ...cache, url, prefix })
}

const writesOf = (client: RedisCommands, wait: ReplicaWait | undefined, unused: string): RedisWrites =>
  wait !== undefined && isPipelined(client) ? acknowledgedWrites(client, wait, unused) : writesOver(client)

type RedisClient = RedisCommands & Partial<PipelinedCommands>

const fields = {
  url: optional(aTextThat('must be a text such as redis://localhost:6379.')),
  client: optional(
    kind(
      (value): value is RedisClient => isRecord(value) && typeof value['call'] === 'function',
      'must have the function call, as the clients of ioredis have.',
    ),
  ),
  prefix: usual(
    'oauth:',
    kind((value): value is string => typeof value === 'string', 'must be a text such as shop:.'),
  ),
  clock: aClock,
  waitForReplicas: optional(replicaWait),
  cache: optional(cacheOption),
} satisfies Fields<RedisStoreOptions>

function checkConnection(
  { client, cache, waitForReplicas }: Read<typeof fields>,
  at: Place<undefined>,
): void {
  at.requireOne('url', 'client')
  if (client === undefined) return
  if (waitForReplicas !== undefined && !isPipelined(client))
    at.wrong('client', 'must have the function pipeline for waitForReplicas, as ioredis has it.')
  if (cache !== undefined)
    at.wrong('cache', 'needs connections of the store itself: give url in place of client.')
}

interface Connections extends Pick<RedisStore, 'close'> {
  readonly client: RedisCommands & Partial<Pick<RedisConnection, 'connectionFailure'>>
  readonly reads: RedisReads
  readonly writes: RedisWrites
  readonly forCounts: RedisCommands
  readonly prefix: string
  readonly clock: () => number
}

function storeOver(connections: Connections): RedisStore {
  const { client, prefix, clock, close } = connections
  const place = describeAddress(client)
  const connectionFailure = () => client.connectionFailure?.()
  return {
    ...redisVerbs(connections),
    place,
    connectionFailure,
    close,
    async check(issuer) {
      try {
        return await checkRedis({ client, prefix, clock }, issuer)
      } catch (failure) {
        const reason = connectionFailure()
        throw reason === undefined ? failure : new Error(reason, { cause: failure })
      }
    },
  }
}

interface Ways {
  readonly client: RedisCommands
  readonly reads: RedisReads
  readonly writes: RedisWrites
  /** Sends each command at most once: an addition that arrives twice counts twice. */
  readonly forCounts: RedisCommands
  readonly prefix: string
}

type Verbs = Pick<Store, 'read' | 'write' | 'remove' | 'add' | 'list' | 'confirmAbsent'>

function redisVerbs({ client, reads, writes, forCounts, prefix }: Ways): Verbs {
  const { confirmAbsent } = writes
  return {
    async read(key) {
      const text = foundText(await reads.read(prefix + key))
      if (text === undefined || text === '') return undefined
      return { value: text.slice(versionLength), version: text.slice(0, versionLength) }
    },
    async write(key, value, terms) {
      // Before the record, so that the set lacks none.
      if (terms.seconds === undefined && key.startsWith('client:'))
        await writes.run(listing, `${prefix}listed:client`, key.slice('client:'.length))
      return writes.write(prefix + key, value, terms)
    },
    async remove(key) {
      await writes.remove(prefix + key)
    },
    async add(key, amount, seconds) {
      const words = [String(amount), String(seconds * 1000)]
      return countOf(await adding.run(forCounts, `${prefix}count:${key}`, ...words))
    },
    list: async (records) => textsOf(await client.call('SMEMBERS', `${prefix}listed:${records}`)),
    ...(confirmAbsent && { confirmAbsent: async (key) => isDone(await confirmAbsent(prefix + key)) }),
  }
}

// SREM first, so that WAIT always has a write to wait for.
const listing = new RedisScript(`
redis.call('SREM', KEYS[1], ARGV[1])
redis.call('SADD', KEYS[1], ARGV[1])
return 1
`)

const adding = new RedisScript(`
if ARGV[1] == '-1' and redis.call('EXISTS', KEYS[1]) == 0 then return {0, 0} end
local count = redis.call('INCRBY', KEYS[1], ARGV[1])
if count <= 0 then
  redis.call('DEL', KEYS[1])
  return {0, 0}
end
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  left = tonumber(ARGV[2])
end
return {count, left}
`)

function countOf(reply: unknown): Count {
  const [count, millisecondsLeft] = Array.isArray(reply) ? reply.map(Number) : []
  if (!Number.isSafeInteger(count) || !Number.isSafeInteger(millisecondsLeft))
    throw new Error('The Redis client replied to a script with something other than two numbers.')
  return { count: Number(count), secondsLeft: Math.ceil(Number(millisecondsLeft) / 1000) }
}
