import { BoundedMap } from '../../protocol/bounded-map'
import { createId, secureRandom } from '../../protocol/credential'
import {
  changedDynamicClient,
  decodeDynamicClient,
  type DynamicClient,
  type DynamicClientStore,
  encodeDynamicClient,
} from '../dynamic-client-store'
import type { RedisReads } from './batched-reads'
import { type RedisCommands, RedisScript } from './commands'

// A client has a key of its own, which expires with the client, and a member in one sorted set of all clients, whose
// score is the end of the client by the clock of Redis. The set counts the living clients. Both keys carry one hash tag,
// so that one script may write both in a cluster.
//
// A value is the writer's revision, 22 characters, and the client as JSON.
const revisionLength = 22

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

// One of several parallel changes wins in each round, so 100 rounds suffice for 100 parallel changes to one client.
const maximumRounds = 100
const maximumDecoded = 1000

/** Stores clients that registered themselves. Every write is one script. */
export class RedisDynamicClients implements DynamicClientStore {
  // Returns the same object while the stored text is the same, so the server need not parse the registration again.
  private readonly decoded = new BoundedMap<{ readonly value: string; readonly client: DynamicClient }>(
    maximumDecoded,
  )

  /** @param prefix the prefix of every key; holds the hash tag. */
  constructor(
    private readonly client: RedisCommands,
    private readonly reads: RedisReads,
    private readonly prefix: string,
  ) {}

  async find(clientId: string): Promise<DynamicClient | undefined> {
    const value = await this.read(clientId)
    return value === undefined ? undefined : this.decode(clientId, value)
  }

  async add(client: DynamicClient, lifetime: number, maximum: number): Promise<DynamicClient | undefined> {
    const { client_id } = client.registration
    const words = [client_id, written(client), milliseconds(lifetime), String(maximum)]
    const stored = textOf(await adding.run(this.client, this.keysOf(client_id), ...words))
    return stored === '' ? undefined : this.decode(client_id, stored)
  }

  async update(
    clientId: string,
    change: (client: DynamicClient) => DynamicClient,
  ): Promise<DynamicClient | undefined> {
    for (let round = 0; round < maximumRounds; round++) {
      const stored = await this.read(clientId)
      if (stored === undefined) return undefined
      const current = this.decode(clientId, stored)
      const next = changedDynamicClient(current, change)
      if (next === current) return current
      const value = written(next)
      if (await this.replaced(clientId, stored, value)) return this.decode(clientId, value)
    }
    throw new Error(`Other writers changed the same client in each of ${maximumRounds} rounds.`)
  }

  async remove(clientId: string): Promise<void> {
    await removing.run(this.client, this.keysOf(clientId), clientId)
  }

  async extend(clientId: string, lifetime: number, unlessLeft: number): Promise<void> {
    const words = [clientId, milliseconds(lifetime), milliseconds(unlessLeft)]
    await extending.run(this.client, this.keysOf(clientId), ...words)
  }

  private keysOf(clientId: string): readonly string[] {
    return [`${this.prefix}:${clientId}`, this.prefix]
  }

  private async read(clientId: string): Promise<string | undefined> {
    const value = await this.reads.read(`${this.prefix}:${clientId}`)
    return value === null || value === undefined ? undefined : textOf(value)
  }

  // Reads the value after a failed write, because only the reply may be lost. A caller that saw a failure would rotate
  // the secret again, and so drop a secret in use.
  private async replaced(clientId: string, stored: string, value: string): Promise<boolean> {
    const [expected, revision] = [stored, value].map((text) => text.slice(0, revisionLength))
    const words = [revision ?? '', expected ?? '', value.slice(revisionLength)]
    try {
      return isDone(await replacing.run(this.client, `${this.prefix}:${clientId}`, ...words))
    } catch (failure) {
      if ((await this.read(clientId).catch(() => undefined)) === value) return true
      throw failure
    }
  }

  private decode(clientId: string, value: string): DynamicClient {
    const known = this.decoded.get(clientId)
    if (known?.value === value) return known.client
    const client = decodeDynamicClient(value.slice(revisionLength))
    this.decoded.put(clientId, { value, client })
    return client
  }
}

function written(client: DynamicClient): string {
  return createId(secureRandom) + encodeDynamicClient(client)
}

const milliseconds = (seconds: number) => String(Math.ceil(seconds * 1000))

function isDone(answer: unknown): boolean {
  const reply = Number(answer)
  if (reply !== 0 && reply !== 1)
    throw new Error('The Redis client replied to a write with something other than 0 or 1.')
  return reply === 1
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  throw new Error('The Redis client replied with something other than text.')
}
