import {
  changedDynamicClient,
  decodeDynamicClient,
  type DynamicClient,
  type DynamicClientStore,
  encodeDynamicClient,
} from '../dynamic-client-store'
import type { RedisReads } from './batched-reads'
import { RedisClientValues, type Replacement, textOf } from './client-values'
import { type RedisCommands, RedisScript } from './commands'

// A client has a key of its own, which expires with the client, and a member in one sorted set of all clients, whose
// score is the end of the client by the clock of Redis. The set counts the living clients. Both keys carry one hash tag,
// so that one script may write both in a cluster.

const ending = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function endAfter(lifetime)
  redis.call('ZADD', KEYS[2], string.format('%.0f', now + lifetime), ARGV[1])
end
`

// The reply is the stored value, or an empty text if there is no room. An addition that the client library sends again,
// because the reply was lost, finds its own value.
const adding = new RedisScript(`${ending}
local stored = redis.call('GET', KEYS[1])
if stored then
  if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then
    redis.call('PEXPIRE', KEYS[1], ARGV[3])
    endAfter(ARGV[3])
  end
  return stored
end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', string.format('%.0f', now))
if redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[4]) then return '' end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
endAfter(ARGV[3])
return ARGV[2]
`)

const extending = new RedisScript(`${ending}
local left = redis.call('PTTL', KEYS[1])
if left < 0 or left >= tonumber(ARGV[3]) then return 0 end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
endAfter(ARGV[2])
return 1
`)

const replacing = new RedisScript(`
local stored = redis.call('GET', KEYS[1])
if not stored then return 0 end
local revision = string.sub(stored, 1, 22)
if revision == ARGV[1] then return 1 end
if revision ~= ARGV[2] then return 0 end
redis.call('SET', KEYS[1], ARGV[1] .. ARGV[3], 'KEEPTTL')
return 1
`)

const removing = new RedisScript(`
redis.call('ZREM', KEYS[2], ARGV[1])
return redis.call('DEL', KEYS[1])
`)

/** Stores clients that registered themselves. Every write is one script. */
export class RedisDynamicClients extends RedisClientValues<DynamicClient> implements DynamicClientStore {
  /** @param prefix the prefix of every key; holds the hash tag. */
  constructor(
    private readonly client: RedisCommands,
    private readonly reads: RedisReads,
    private readonly prefix: string,
  ) {
    super({ encode: encodeDynamicClient, decode: decodeDynamicClient, changed: changedDynamicClient })
  }

  async add(client: DynamicClient, lifetime: number, maximum: number): Promise<DynamicClient | undefined> {
    const { client_id } = client.registration
    const words = [client_id, this.written(client), milliseconds(lifetime), String(maximum)]
    const stored = textOf(await adding.run(this.client, this.keysOf(client_id), ...words))
    return stored === '' ? undefined : this.decode(client_id, stored)
  }

  async remove(clientId: string): Promise<void> {
    await removing.run(this.client, this.keysOf(clientId), clientId)
  }

  async extend(clientId: string, lifetime: number, unlessLeft: number): Promise<void> {
    const words = [clientId, milliseconds(lifetime), milliseconds(unlessLeft)]
    await extending.run(this.client, this.keysOf(clientId), ...words)
  }

  protected async read(clientId: string): Promise<string | undefined> {
    const value = await this.reads.read(`${this.prefix}:${clientId}`)
    return value === null || value === undefined ? undefined : textOf(value)
  }

  protected replace(clientId: string, { revision, expected, json }: Replacement): Promise<unknown> {
    return replacing.run(this.client, `${this.prefix}:${clientId}`, revision, expected, json)
  }

  private keysOf(clientId: string): readonly string[] {
    return [`${this.prefix}:${clientId}`, this.prefix]
  }
}

const milliseconds = (seconds: number) => String(Math.ceil(seconds * 1000))
