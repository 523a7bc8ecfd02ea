import { type Authorization, expiryOf } from '../../authorization/authorization'
import { decodeAuthorization, encodeAuthorization } from '../../authorization/codec'
import { isRecord, isText, OptionsReader } from '../../protocol/configuration'
import type { AuthorizationStore, StoredAuthorization, StoreWarning } from '../authorization-store'
import type { ClientRegistry } from '../client-store'
import type { Counters } from '../counters'
import type { RedisReads } from './batched-reads'
import { cached, type CacheOptions, checkCache } from './cache'
import { RedisClients } from './clients'
import type { PipelinedCommands, RedisCommands } from './commands'
import { connect, describeAddress, type RedisConnection } from './connection'
import { redisCounters } from './counters'
import { acknowledgedWrites, checkReplicaWait, isPipelined, type ReplicaWait } from './replicas'
import { readsOverHost } from './role'
import { cautionsAbout } from './surroundings'
import { type RedisWrites, writesOver } from './writes'

/** Options of {@link redisStore}. */
export type RedisStoreOptions = {
  /** Put before each key. Default `oauth:`. */
  readonly prefix?: string
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number
  /**
   * Every write of an authorization (a code issued or spent, a refresh token rotated, a revocation) counts as done only
   * when so many replicas have it, by `WAIT` behind the write. With fewer it is `temporarily_unavailable`, so that
   * nothing that was acknowledged is lost when one of them is promoted. Default: a write is done when the master has it.
   * `WAIT` holds up its connection: with `url` writes get a second one, a `client` should be the store's alone.
   */
  readonly waitForReplicas?: ReplicaWait
} & (
  | {
      /** A connected client of the host: an ioredis `Redis` or `Cluster`, or anything with its `call`. */
      readonly client: RedisCommands & Partial<PipelinedCommands>
      readonly url?: undefined
      readonly cache?: undefined
    }
  | {
      /** `redis://` or `rediss://`: the store makes its own connection, with settings that fail fast. Needs ioredis. */
      readonly url: string
      readonly client?: undefined
      /**
       * Keeps authorizations that were read in the memory of this process, so that a guard asks Redis once for each token.
       * Redis pushes what changes (`CLIENT TRACKING`, over a connection more): a revocation counts as soon as that
       * arrives, and within a second even if the network goes silent. Default: each request reads from Redis.
       */
      readonly cache?: CacheOptions
    }
)

/** An {@link AuthorizationStore} on Redis. */
export interface RedisStore extends AuthorizationStore {
  /** What is counted beside it. */
  readonly counters: Counters
  /** Registered clients, over the same connection: `createAuthorizationServer({ store, clients: store.clients, … })`. */
  readonly clients: ClientRegistry
  /** Where it connects, as messages say it: `Redis at localhost:6379`. Never a password. */
  readonly place: string
  /**
   * Looks at the Redis that it is on: eviction, version, role, cluster, clock. Servers and guards do so by themselves and
   * warn of what is found. Rejects when Redis does not answer.
   *
   * @param issuer as servers and guards pass it: the issuer is noted below the prefix, and others that were noted there
   * are told of. Without it nothing is written.
   */
  check(issuer?: string): Promise<readonly StoreWarning[]>
  /** Ends the connections that the store made itself; a client of the host is left alone. */
  close(): Promise<void>
}

const revisionLength = 22

/**
 * Authorizations in Redis 6.2 or later, Valkey included: one key for each, which expires with its last credential.
 * It holds digests, so a dump of it holds nothing that can be presented.
 *
 * @throws ConfigurationError when the options are wrong, or `url` is given and ioredis is not installed.
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
  // WAIT holds up what comes behind it: what is read does not stand in that line.
  const forWrites = wait === undefined ? connection : connect(url, { waiting: wait.within })
  // An addition that is sent again counts twice.
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
    this.rootPrefix = prefix
    this.prefix = `${prefix}authorization:`
    const { confirmAbsent } = writes
    this.confirmAbsent = confirmAbsent && (async (id) => isDone(await confirmAbsent(this.prefix + id)))
  }

  async find(id: string): Promise<StoredAuthorization | undefined> {
    const value = await this.reads.read(this.prefix + id)
    if (value === null || value === undefined) return undefined
    if (typeof value !== 'string')
      throw new Error('The Redis client answers GET with something else than text.')
    return {
      authorization: decodeAuthorization(id, value.slice(revisionLength)),
      revision: value.slice(0, revisionLength),
    }
  }

  async save(authorization: Authorization, revision: string, expected = ''): Promise<boolean> {
    // A span and not a point in time, so that the clocks of process and Redis need not agree.
    const lifetime = Math.max(1, Math.ceil(expiryOf(authorization) * 1000 - this.clock()))
    const record = encodeAuthorization(authorization)
    const key = this.prefix + authorization.id
    // A misread reply would pass for a conflict, and the next round would take the write for a replay.
    return isDone(await this.writes.save(key, revision, expected, record, String(lifetime)))
  }

  async remove(id: string): Promise<void> {
    await this.writes.remove(this.prefix + id)
  }

  async check(issuer?: string): Promise<readonly StoreWarning[]> {
    try {
      return await cautionsAbout({ client: this.client, prefix: this.rootPrefix, clock: this.clock }, issuer)
    } catch (trouble) {
      // What a command met says less: that it was tried too often.
      const obstacle = this.client.obstacle?.()
      throw obstacle === undefined ? trouble : new Error(obstacle, { cause: trouble })
    }
  }
}

function isDone(reply: unknown): boolean {
  const number = Number(reply)
  if (number !== 0 && number !== 1)
    throw new Error('The Redis client answers a script with something else than 0 or 1.')
  return number === 1
}
