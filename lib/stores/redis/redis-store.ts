import { type Authorization, expiryOf } from '../../authorization/authorization'
import { decodeAuthorization, encodeAuthorization } from '../../authorization/codec'
import { isRecord, isText, OptionsReader } from '../../protocol/configuration'
import type { AuthorizationStore, StoredAuthorization, StoreWarning } from '../authorization-store'
import type { ClientRegistry } from '../client-store'
import type { Counters } from '../counters'
import type { DynamicClientStore } from '../dynamic-client-store'
import type { SharedCache } from '../shared-cache'
import type { RedisReads } from './batched-reads'
import { cached, type CacheOptions, checkCache } from './cache'
import { RedisClients } from './clients'
import type { PipelinedCommands, RedisCommands } from './commands'
import { connect, describeAddress, type RedisConnection } from './connection'
import { redisCounters } from './counters'
import { acknowledgedWrites, checkReplicaWait, isPipelined, type ReplicaWait } from './replicas'
import { readsOverHost } from './role'
import { redisCache } from './shared-cache'
import { cautionsAbout } from './surroundings'
import { RedisDynamicClients } from './dynamic-clients'
import { type RedisWrites, writesOver } from './writes'

/** Options of {@link redisStore}. */
export type RedisStoreOptions = {
  /** The prefix of every key. Default `oauth:`. */
  readonly prefix?: string
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number
  /**
   * Waits until this many replicas have each write of an authorization, by `WAIT` behind the write: a code issued or
   * redeemed, a refresh token rotated, a revocation. With fewer replicas the server responds with
   * `temporarily_unavailable`. So a failover to one of these replicas loses no write that a client saw succeed.
   * Default: a write is done once the master has the write. `WAIT` blocks its connection: with `url` the store opens a
   * second connection for writes, and a `client` should serve the store alone.
   */
  readonly waitForReplicas?: ReplicaWait
} & (
  | {
      /** A connected client of the host: an ioredis `Redis` or `Cluster`, or another object with the same `call`. */
      readonly client: RedisCommands & Partial<PipelinedCommands>
      readonly url?: undefined
      readonly cache?: undefined
    }
  | {
      /** A `redis://` or `rediss://` URL. The store opens its own connections, which fail fast. Needs ioredis. */
      readonly url: string
      readonly client?: undefined
      /**
       * Caches authorizations in the memory of this process, so a guard reads each authorization from Redis once. Redis
       * reports every change over one more connection (`CLIENT TRACKING`). A revocation takes effect as soon as the
       * report arrives, and within a second even if the network goes silent. Default: each guarded request reads from
       * Redis.
       */
      readonly cache?: CacheOptions
    }
)

/** An {@link AuthorizationStore} on Redis. */
export interface RedisStore extends AuthorizationStore {
  /** Counters in the same Redis, below the same prefix. */
  readonly counters: Counters
  /**
   * Registered clients in the same Redis, below the same prefix:
   * `createAuthorizationServer({ store, clients: store.clients, … })`.
   */
  readonly clients: ClientRegistry
  /**
   * Clients that registered themselves, in the same Redis, below the same prefix. The option `dynamicRegistration`
   * finds them here.
   */
  readonly dynamicClients: DynamicClientStore
  /** A cache for documents of other servers in the same Redis, below the same prefix. */
  readonly sharedCache: SharedCache
  /** The server, for messages, such as `Redis at localhost:6379`. Never a password. */
  readonly place: string
  /**
   * Checks the Redis of the store: eviction, version, role, cluster, clock, resending client. Resolves to one warning
   * for each problem. Servers and guards call `check` by themselves, and emit the warnings. Rejects if Redis does not
   * respond.
   *
   * @param issuer the issuer of the server or guard. The store notes the issuer below the prefix, and warns of other
   * issuers below the same prefix. Without an issuer, `check` writes nothing.
   */
  check(issuer?: string): Promise<readonly StoreWarning[]>
  /** Closes the connections that the store opened. A client of the host stays open. */
  close(): Promise<void>
}

const revisionLength = 22

/**
 * Stores authorizations in Redis 6.2 or later, or in Valkey: one key for each authorization, which expires with the
 * last credential of the record. Redis holds digests only, so a dump of Redis holds no usable credential.
 *
 * @throws ConfigurationError if an option is wrong, or if `url` is given and ioredis is not installed.
 */
export function redisStore(options: RedisStoreOptions): RedisStore {
  checkConnection(options)
  const prefix = options.prefix ?? 'oauth:'
  const clock = options.clock ?? Date.now
  const wait = options.waitForReplicas
  if (options.client !== undefined)
    return new KeyPerAuthorization(
      options.client,
      readsOverHost(options.client, `${prefix}unused`),
      writesOf(options.client, wait),
      options.client,
      prefix,
      clock,
      async () => {},
    )
  const { url, cache } = options
  const connection = connect(url)
  // WAIT blocks the commands behind it, so writes that wait get their own connection and reads do not queue.
  const forWrites = wait === undefined ? connection : connect(url, { waiting: wait.within })
  // Counts get a connection that sends each command once, because an addition that arrives twice counts twice.
  const forCounts = connect(url, { once: true })
  const close = async () => {
    await Promise.all([connection, forWrites, forCounts].map((each) => each.close()))
  }
  const writes = writesOf(forWrites, wait)
  const store = new KeyPerAuthorization(connection, connection, writes, forCounts, prefix, clock, close)
  return cache === undefined ? store : cached(store, connection, { ...cache, url, prefix, clock })
}

function writesOf(client: RedisCommands, wait: ReplicaWait | undefined): RedisWrites {
  return wait !== undefined && isPipelined(client) ? acknowledgedWrites(client, wait) : writesOver(client)
}

function checkConnection(options: unknown): void {
  const reading = new OptionsReader(options, '')
  const client = reading.take('client')
  const url = reading.take('url')
  if ((client === undefined) === (url === undefined))
    reading.wrong('url', 'or client must be given, and not both.')
  else if (url !== undefined && !isText(url))
    reading.wrong('url', 'must be a text such as redis://localhost:6379.')
  else if (url === undefined && !(isRecord(client) && typeof client['call'] === 'function'))
    reading.wrong('client', 'must have the function call, as the clients of ioredis have.')
  checkReplicaWait(reading, client)
  checkCache(reading, client)
  reading.settle('redisStore() cannot work with these options:')
}

class KeyPerAuthorization implements RedisStore {
  readonly counters: Counters
  readonly clients: ClientRegistry
  readonly dynamicClients: DynamicClientStore
  readonly sharedCache: SharedCache
  readonly confirmAbsent: AuthorizationStore['confirmAbsent']
  readonly place: string
  private readonly rootPrefix: string
  private readonly prefix: string

  constructor(
    private readonly client: RedisCommands & Partial<Pick<RedisConnection, 'obstacle'>>,
    private readonly reads: RedisReads,
    private readonly writes: RedisWrites,
    forCounts: RedisCommands,
    prefix: string,
    private readonly clock: () => number,
    readonly close: () => Promise<void>,
  ) {
    this.place = describeAddress(client)
    this.counters = Object.assign(redisCounters(client, prefix, forCounts), { place: this.place })
    this.clients = Object.assign(new RedisClients(client, `${prefix}clients`), { place: this.place })
    const dynamicClients = new RedisDynamicClients(client, reads, `${prefix}{dynamic-clients}`)
    this.dynamicClients = Object.assign(dynamicClients, { place: this.place })
    this.sharedCache = Object.assign(redisCache(client, `${prefix}cache:`), { place: this.place })
    this.rootPrefix = prefix
    this.prefix = `${prefix}authorization:`
    const { confirmAbsent } = writes
    this.confirmAbsent = confirmAbsent && (async (id) => isDone(await confirmAbsent(this.prefix + id)))
  }

  async find(id: string): Promise<StoredAuthorization | undefined> {
    const value = await this.reads.read(this.prefix + id)
    if (value === null || value === undefined) return undefined
    if (typeof value !== 'string')
      throw new Error('The Redis client replied to GET with something other than text.')
    return {
      authorization: decodeAuthorization(id, value.slice(revisionLength)),
      revision: value.slice(0, revisionLength),
    }
  }

  async save(authorization: Authorization, revision: string, expected = ''): Promise<boolean> {
    // Sends a lifetime and not a point in time, because the clocks of process and Redis may differ.
    const lifetime = Math.max(1, Math.ceil(expiryOf(authorization) * 1000 - this.clock()))
    const record = encodeAuthorization(authorization)
    const key = this.prefix + authorization.id
    // `isDone` throws on an unknown reply: a reply misread as a conflict would make the next round see a replay.
    return isDone(await this.writes.save(key, revision, expected, record, String(lifetime)))
  }

  async remove(id: string): Promise<void> {
    await this.writes.remove(this.prefix + id)
  }

  async check(issuer?: string): Promise<readonly StoreWarning[]> {
    try {
      return await cautionsAbout({ client: this.client, prefix: this.rootPrefix, clock: this.clock }, issuer)
    } catch (failure) {
      // The error of the connection says more than the error of the command, which says only that ioredis gave up.
      const obstacle = this.client.obstacle?.()
      throw obstacle === undefined ? failure : new Error(obstacle, { cause: failure })
    }
  }
}

function isDone(reply: unknown): boolean {
  const number = Number(reply)
  if (number !== 0 && number !== 1)
    throw new Error('The Redis client replied to a script with something other than 0 or 1.')
  return number === 1
}
