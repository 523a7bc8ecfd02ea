import { isList } from '../../primitives/values'
import {
  type DynamicClientAddition,
  type DynamicClientAdditionResult,
  changedDynamicClient,
  decodeDynamicClient,
  type DynamicClient,
  type DynamicClientStore,
  encodeDynamicClient,
  foundResult,
  generationOf,
  leastLifetime,
  markedId,
  removalMark,
} from '../dynamic-client-store'
import type { RedisReads } from './batched-reads'
import { RedisClientValues, type Replacement } from './client-values'
import { foundText, type RedisCommands, RedisScript, textOf } from './redis-commands'
import { connectionSettings } from './connection'
import { CreationDeadline } from '../creation-deadline'

// Each client has a key, which expires with it, and a member in one sorted set, whose score is its end by the
// clock of Redis: the set counts the living clients. A third key marks a removed client: the first generation
// that may register. A hash gives the network of each unused client, a sorted set counts them by network, and
// one for each network has the times until which they are held. All keys share one hash tag, for scripts in a
// cluster.

const ending = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function endAfter(lifetime)
  redis.call('ZADD', KEYS[2], string.format('%.0f', now + lifetime), ARGV[1])
end
local function mark(generation, lifetime)
  local highest = math.max(tonumber(redis.call('GET', KEYS[3]) or 0), tonumber(generation))
  local longest = math.max(redis.call('PTTL', KEYS[3]), tonumber(lifetime))
  redis.call('SET', KEYS[3], string.format('%.0f', highest), 'PX', string.format('%.0f', longest))
end
local function prolong(lifetime, generation)
  redis.call('PEXPIRE', KEYS[1], lifetime)
  endAfter(lifetime)
  if tonumber(generation) > 0 then mark(generation, lifetime) end
end
local function unusedOf(network)
  return KEYS[4] .. ':' .. network
end
local function keep(id)
  local network = redis.call('HGET', KEYS[4], id)
  if not network then return end
  redis.call('HDEL', KEYS[4], id)
  redis.call('ZREM', unusedOf(network), id)
  if tonumber(redis.call('ZINCRBY', KEYS[5], -1, network)) < 1 then redis.call('ZREM', KEYS[5], network) end
end
local function join(network, held)
  if held >= tonumber(redis.call('ZSCORE', KEYS[2], ARGV[1])) then return end
  redis.call('HSET', KEYS[4], ARGV[1], network)
  redis.call('ZINCRBY', KEYS[5], 1, network)
  redis.call('ZADD', unusedOf(network), string.format('%.0f', held), ARGV[1])
end
local function hold(lifetime)
  local network = redis.call('HGET', KEYS[4], ARGV[1])
  if not network then return end
  local held = now + lifetime
  if held >= tonumber(redis.call('ZSCORE', KEYS[2], ARGV[1]) or 0) then return keep(ARGV[1]) end
  redis.call('ZADD', unusedOf(network), 'GT', string.format('%.0f', held), ARGV[1])
end
`

// Ended clients that one addition removes; networks that it asks for room, the fullest first.
const sweptAtMost = 1000
const askedNetworks = 16

const makingRoom = `
local function sweep()
  local ended = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', string.format('%.0f', now), 'LIMIT', 0, ${sweptAtMost})
  for _, id in ipairs(ended) do
    keep(id)
    redis.call('ZREM', KEYS[2], id)
  end
end
local function giveWay()
  for _, network in ipairs(redis.call('ZREVRANGE', KEYS[5], 0, ${askedNetworks - 1})) do
    local free = redis.call('ZRANGEBYSCORE', unusedOf(network), '-inf', string.format('%.0f', now), 'LIMIT', 0, 16)
    for _, id in ipairs(free) do
      keep(id)
      redis.call('ZREM', KEYS[2], id)
      if redis.call('DEL', KEYS[2] .. ':' .. id) == 1 then return true end
    end
  end
  return false
end
local function hasRoom(maximum)
  sweep()
  local living = redis.call('ZCOUNT', KEYS[2], string.format('(%.0f', now), '+inf')
  if living < maximum then return true end
  return living == maximum and giveWay()
end
`

// The reply is the clock of Redis, negative if the addition is void, an outcome and its text. An addition sent
// again finds its own value. It is also void if its deadline is so far ahead that the mark of a confidential
// client, which lives for a minute, could end before.
const adding = new RedisScript(`${ending}${makingRoom}
local stored = redis.call('GET', KEYS[1])
if stored then
  local left = redis.call('PTTL', KEYS[1])
  local isProlonged = left < tonumber(ARGV[3])
  if isProlonged then prolong(ARGV[3], ARGV[5]) end
  if redis.call('HEXISTS', KEYS[4], ARGV[1]) == 1 then
    hold(ARGV[7])
  elseif isProlonged and not cjson.decode(string.sub(stored, 23)).registration.disabled then
    join(ARGV[6], now + math.max(left, tonumber(ARGV[7])))
  end
  return {now, 'kept', stored}
end
local first = redis.call('GET', KEYS[3])
if first and tonumber(first) > tonumber(ARGV[5]) then return {now, 'removed', first} end
local left = tonumber(ARGV[8]) - now
if left < 0 or left > 60000 then return {-now, 'void', ''} end
if not hasRoom(tonumber(ARGV[4])) then return {now, 'full', ''} end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
prolong(ARGV[3], ARGV[5])
keep(ARGV[1])
join(ARGV[6], now + ARGV[7])
return {now, 'kept', ARGV[2]}
`)

const extending = new RedisScript(`${ending}
local left = redis.call('PTTL', KEYS[1])
if left < 0 then return 0 end
if left < tonumber(ARGV[3]) then prolong(ARGV[2], ARGV[4]) end
hold(ARGV[2])
return 1
`)

const replacing = new RedisScript(`${ending}
local stored = redis.call('GET', KEYS[1])
if not stored then return 0 end
local revision = string.sub(stored, 1, 22)
if revision == ARGV[2] then return 1 end
if revision ~= ARGV[3] then return 0 end
redis.call('SET', KEYS[1], ARGV[2] .. ARGV[4], 'KEEPTTL')
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[5]) then prolong(ARGV[5], ARGV[6]) end
if tonumber(ARGV[5]) > 0 then keep(ARGV[1]) end
return 1
`)

// DEL first: a full Redis refuses SET only before the first write of a script.
const removing = new RedisScript(`${ending}
local left = redis.call('PTTL', KEYS[1])
if left == -2 then return 0 end
redis.call('DEL', KEYS[1])
keep(ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])
mark(ARGV[2], ARGV[4] == '1' and math.max(left, tonumber(ARGV[3])) or ARGV[3])
return 1
`)

export class RedisDynamicClients extends RedisClientValues<DynamicClient> implements DynamicClientStore {
  // As long as the store's own connection waits for a reply.
  private readonly deadline = new CreationDeadline(connectionSettings.commandTimeout)

  /** @param prefix holds the hash tag. */
  constructor(
    private readonly client: RedisCommands,
    private readonly reads: RedisReads,
    private readonly prefix: string,
  ) {
    super({ encode: encodeDynamicClient, decode: decodeDynamicClient, changed: changedDynamicClient })
  }

  async add(addition: DynamicClientAddition): Promise<DynamicClientAdditionResult> {
    const { client, lifetime, maximum, network = '', grace = lifetime } = addition
    const { client_id } = client.registration
    const value = this.written(client)
    const bounds = [milliseconds(lifetime), String(maximum), String(generationOf(client))]
    const words = [client_id, value, ...bounds, network, milliseconds(grace)]
    let reply = noReply
    await this.deadline.send(async (deadline) => {
      reply = additionReply(await adding.run(this.client, this.keysOf(client), ...words, deadline))
      return reply.clock
    })
    const { outcome, text } = reply
    if (outcome === 'removed') return { outcome, generation: Number(text) }
    if (outcome === 'full') return { outcome }
    const kept = this.decode(client_id, text)
    return text === value ? { outcome: 'stored', client: kept } : foundResult(kept)
  }

  async remove(clientId: string): Promise<void> {
    const client = await this.find(clientId)
    if (client === undefined) return
    const { generation, lifetime, outlivesClient } = removalMark(client)
    const words = [clientId, String(generation), milliseconds(lifetime), outlivesClient ? '1' : '0']
    await removing.run(this.client, this.keysOf(client), ...words)
  }

  async extend(clientId: string, lifetime: number, unlessLeft: number): Promise<void> {
    // Only the place of the mark and the generation count, and never change: no read.
    const client = this.lastSeen(clientId) ?? (await this.find(clientId))
    if (client === undefined) return
    const words = [clientId, milliseconds(lifetime), milliseconds(unlessLeft), String(generationOf(client))]
    await extending.run(this.client, this.keysOf(client), ...words)
  }

  protected async read(clientId: string): Promise<string | undefined> {
    return foundText(await this.reads.read(`${this.prefix}:${clientId}`))
  }

  protected replace(
    clientId: string,
    { revision, expected, json, next }: Replacement<DynamicClient>,
  ): Promise<unknown> {
    const words = [revision, expected, json, milliseconds(leastLifetime(next)), String(generationOf(next))]
    return replacing.run(this.client, this.keysOf(next), clientId, ...words)
  }

  private keysOf(client: DynamicClient): readonly string[] {
    const { client_id } = client.registration
    const own = [`${this.prefix}:${client_id}`, this.prefix, `${this.prefix}-removed:${markedId(client)}`]
    return [...own, `${this.prefix}-unused`, `${this.prefix}-networks`]
  }
}

const milliseconds = (seconds: number) => String(Math.ceil(seconds * 1000))

const noReply = { clock: 0, outcome: '', text: '' }

function additionReply(reply: unknown): typeof noReply {
  if (!isList(reply))
    throw new Error('The Redis client replied to a script with something other than a list.')
  const [clock, outcome, text] = reply
  return { clock: Number(clock), outcome: textOf(outcome), text: textOf(text) }
}
