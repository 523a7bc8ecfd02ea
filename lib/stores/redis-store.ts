import { expiryOf, type Authorization } from '../authorization/authorization'
import { decodeAuthorization, encodeAuthorization } from '../authorization/codec'
import { isRecord, isText, Reading } from '../protocol/configuration'
import type { AuthorizationStore, StoredAuthorization } from './authorization-store'
import type { Caution } from './caution'
import type { Counters } from './counters'
import type { ClientRegistry } from './client-registry'
import { RedisClients } from './redis-clients'
import { connect } from './redis-connection'
import { redisCounters } from './redis-counters'
import type { RedisCommands } from './redis-commands'
import { RedisScript } from './redis-script'
import { cautionsAbout } from './redis-surroundings'

/** Options of {@link redisStore}. */
export type RedisStoreOptions = {
  /** Put before each key. Default `oauth:`. */
  readonly prefix?: string
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number
} & (
  | {
      /** A connected client of the host: an ioredis `Redis` or `Cluster`, or anything with its `call`. */
      readonly client: RedisCommands
      readonly url?: undefined
    }
  | {
      /** `redis://` or `rediss://`: the store makes its own connection, with settings that fail fast. Needs ioredis. */
      readonly url: string
      readonly client?: undefined
    }
)

/** An {@link AuthorizationStore} on Redis. */
export interface RedisStore extends AuthorizationStore {
  /** What is counted beside it. */
  readonly counters: Counters
  /** Registered clients, over the same connection: `createAuthorizationServer({ store, clients: store.clients, … })`. */
  readonly clients: ClientRegistry
  /**
   * Looks at the Redis that it is on: eviction, version, role, cluster, clock. Servers and guards do so by themselves and
   * warn of what is found. Rejects when Redis does not answer.
   */
  check(): Promise<readonly Caution[]>
  /** Ends the connection that the store made itself; a client of the host is left alone. */
  close(): Promise<void>
}

// A value is the writer's revision, 22 characters, and the record. Resending a save that was done finds its own
// revision: that is what makes a lost reply harmless.
const save = new RedisScript(`
local stored = redis.call('GET', KEYS[1])
local revision = stored and string.sub(stored, 1, 22) or ''
if revision == ARGV[1] then return 1 end
if revision ~= ARGV[2] then return 0 end
redis.call('SET', KEYS[1], ARGV[1] .. ARGV[3], 'PX', ARGV[4])
return 1
`)
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
  if (options.client !== undefined)
    return new KeyPerAuthorization(options.client, prefix, clock, async () => {})
  const connection = connect(options.url)
  return new KeyPerAuthorization(connection, prefix, clock, () => connection.close())
}

function checkConnection(options: unknown): void {
  const reading = new Reading(options, '')
  const client = reading.take('client')
  const url = reading.take('url')
  if ((client === undefined) === (url === undefined))
    reading.wrong('url', 'or client must be given, and not both.')
  else if (url !== undefined && !isText(url))
    reading.wrong('url', 'must be a text such as redis://localhost:6379.')
  else if (url === undefined && !(isRecord(client) && typeof client['call'] === 'function'))
    reading.wrong('client', 'must have the function call, as the clients of ioredis have.')
  reading.settle('redisStore() cannot work with these options:')
}

class KeyPerAuthorization implements RedisStore {
  readonly counters: Counters
  readonly clients: ClientRegistry
  private readonly prefix: string

  constructor(
    private readonly client: RedisCommands,
    prefix: string,
    private readonly clock: () => number,
    readonly close: () => Promise<void>,
  ) {
    this.prefix = `${prefix}authorization:`
    this.counters = redisCounters(client, prefix)
    this.clients = new RedisClients(client, `${prefix}clients`)
    this.prefix = `${prefix}authorization:`
  }

  async find(id: string): Promise<StoredAuthorization | undefined> {
    const value = await this.client.call('GET', this.prefix + id)
    if (value === null || value === undefined) return undefined
    if (typeof value !== 'string')
      throw new Error('The Redis client answers GET with something else than text.')
    return {
      authorization: decodeAuthorization(value.slice(revisionLength)),
      revision: value.slice(0, revisionLength),
    }
  }

  async save(authorization: Authorization, revision: string, expected = ''): Promise<boolean> {
    // A span and not a point in time, so that the clocks of process and Redis need not agree.
    const lifetime = Math.max(1, Math.ceil(expiryOf(authorization) * 1000 - this.clock()))
    const record = encodeAuthorization(authorization)
    const key = this.prefix + authorization.id
    const reply = Number(await save.run(this.client, key, revision, expected, record, String(lifetime)))
    // A misread reply would pass for a conflict, and the next round would take the write for a replay.
    if (reply !== 0 && reply !== 1)
      throw new Error('The Redis client answers a script with something else than 0 or 1.')
    return reply === 1
  }

  async remove(id: string): Promise<void> {
    await this.client.call('DEL', this.prefix + id)
  }

  check(): Promise<readonly Caution[]> {
    return cautionsAbout({ client: this.client, prefix: this.prefix, clock: this.clock })
  }
}
