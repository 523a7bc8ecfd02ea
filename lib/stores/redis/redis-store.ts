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
import type { Count } from '../../store/store'
import { cached, cacheOption, type CacheOptions } from './cache'
import { connect, describeAddress, readOverHost } from './connection'
import { checkRedis } from './health-check'
import {
  foundText,
  type PipelinedCommands,
  type RedisCommands,
  redisScript,
  type RedisStore,
  runOver,
  textsOf,
} from './redis-commands'
import {
  acknowledgedOver,
  isPipelined,
  markLifetime,
  replicaWait,
  type ReplicaWait,
  versionLength,
  writingBy,
} from './writes'

export type RedisStoreOptions = {
  /** Of every key. Default `oauth:`. */
  readonly prefix?: string
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number
  /**
   * Waits by `WAIT` until this many replicas have each write of a record: a failover to one of them loses none that a
   * client saw succeed. With fewer replicas the server responds with `temporarily_unavailable`. Default: a write is
   * done once the master has it. `WAIT` blocks its connection: with `url` the store opens a second one for writes, and
   * a `client` should serve the store alone.
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
       * Caches authorizations in this process. Redis reports every change over one more connection (`CLIENT TRACKING`).
       * A revocation takes effect as soon as the report arrives, and within a second even if the network goes silent.
       * Default: each guarded request reads from Redis.
       */
      readonly cache?: CacheOptions
    }
)

/**
 * Keeps every record in Redis 6.2 or later, or in Valkey, one key for each. An authorization expires with its last
 * credential. A dump holds no usable credential.
 *
 * @throws ConfigurationError if an option is wrong, or if `url` is given and ioredis is not installed.
 */
export function redisStore(options: RedisStoreOptions): RedisStore {
  const terms = readOptions('redisStore()', fields, options, { check: checkConnection })
  const { url = '', client, prefix, waitForReplicas: wait, cache } = terms
  if (client !== undefined)
    return storeOver(terms, {
      client,
      read: readOverHost(client, unusedBelow(prefix)),
      forWrites: client,
      forCounts: client,
      place: describeAddress(client),
      connectionFailure: () => undefined,
      close: async () => {},
    })
  const connection = connect(url)
  // WAIT blocks the commands behind it: reads go elsewhere.
  const forWrites = wait === undefined ? connection : connect(url, { waiting: wait.within })
  const forCounts = connect(url, { once: true })
  const close = async () => {
    for (const each of [connection, forWrites, forCounts]) each.close()
  }
  const store = storeOver(terms, { ...connection, client: connection, forWrites, forCounts, close })
  return cache === undefined ? store : cached(store, connection, { ...cache, url, prefix })
}

const unusedBelow = (prefix: string) => `${prefix}unused`

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

interface Connections extends Pick<RedisStore, 'place' | 'connectionFailure' | 'close'> {
  readonly client: RedisCommands
  // Null if the key does not exist.
  readonly read: (key: string) => Promise<unknown>
  readonly forWrites: RedisClient
  // Sends each command at most once: an addition that arrives twice counts twice.
  readonly forCounts: RedisCommands
}

function storeOver(
  { prefix, clock, waitForReplicas: wait }: Read<typeof fields>,
  { client, read, forWrites, forCounts, place, connectionFailure, close }: Connections,
): RedisStore {
  const waits = wait !== undefined && isPipelined(forWrites)
  const run = waits ? acknowledgedOver(forWrites, wait, unusedBelow(prefix)) : runOver(forWrites)
  const count = runOver(forCounts)
  const write = writingBy(run, wait?.within)
  return {
    async read(key) {
      const text = foundText(await read(prefix + key))
      if (text === undefined || text === '') return undefined
      return { value: text.slice(versionLength), version: text.slice(0, versionLength) }
    },
    async write(key, value, terms) {
      // First, so that the list lacks no client.
      if (terms.seconds === undefined && key.startsWith('client:'))
        await run(listing, `${prefix}listed:client`, key.slice('client:'.length))
      return write(prefix + key, value, terms)
    },
    async remove(key) {
      await run(removing, prefix + key)
    },
    add: async (key, amount, seconds) =>
      countOf(await count(adding, `${prefix}count:${key}`, String(amount), String(seconds * 1000))),
    list: async (records) => textsOf(await client.call('SMEMBERS', `${prefix}listed:${records}`)),
    confirmAbsent: waits ? async (key) => isDone(await run(confirming, prefix + key)) : undefined,
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

// DEL first: a full Redis refuses SET only before the first write of a script.
const removing = redisScript(`
redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[1], '', 'PX', ${markLifetime})
return 1
`)

// WAIT counts only writes of its own connection, so the script writes. It removes no record: after a failover one may
// be back, and the next reader must decide on it.
const confirming = redisScript(`
local stored = redis.call('GET', KEYS[1])
if stored == '' then
  redis.call('SET', KEYS[1], '', 'KEEPTTL')
  return 1
end
if stored then return 0 end
redis.call('SET', KEYS[1], '', 'PX', 1000)
redis.call('DEL', KEYS[1])
return 1
`)

// SREM first, so that WAIT always has a write to wait for.
const listing = redisScript(`
redis.call('SREM', KEYS[1], ARGV[1])
redis.call('SADD', KEYS[1], ARGV[1])
return 1
`)

const adding = redisScript(`
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

function isDone(reply: unknown): boolean {
  const number = Number(reply)
  if (number !== 0 && number !== 1)
    throw new Error('The Redis client replied to a script with something other than 0 or 1.')
  return number === 1
}
