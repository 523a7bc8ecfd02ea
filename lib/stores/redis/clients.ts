import { isList } from '../../primitives/values'
import type { ClientRegistration } from '../../protocol/client'
import {
  byClientId,
  changed,
  type ClientRegistry,
  decodeRegistration,
  encodeRegistration,
} from '../client-store'
import { storedJsonOf, RedisClientValues, type Replacement } from './client-values'
import { foundText, type RedisCommands, RedisScript, textOf } from './redis-commands'

const replace = new RedisScript(`
local stored = redis.call('HGET', KEYS[1], ARGV[1])
local revision = stored and string.sub(stored, 1, 22) or ''
if revision == ARGV[2] then return 1 end
if revision ~= ARGV[3] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. ARGV[4])
return 1
`)

const noting = new RedisScript(`
local known = redis.call('HGET', KEYS[1], ARGV[1])
if known and tonumber(string.match(known, '^%d+')) >= tonumber(ARGV[2]) then return 1 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. ' ' .. ARGV[1])
return 1
`)

/** One hash of clients, and one of their last days: one key means one node of a cluster. */
export class RedisClients extends RedisClientValues<ClientRegistration> implements ClientRegistry {
  // A value is the day and the client_id, so HVALS, which the store may use, reads both.
  private readonly daysKey: string

  constructor(
    private readonly client: RedisCommands,
    private readonly key: string,
  ) {
    super({ encode: encodeRegistration, decode: decodeRegistration, changed })
    this.daysKey = `${key}-used`
  }

  async add(registration: ClientRegistration): Promise<boolean> {
    const value = this.written(registration)
    const { client_id } = registration
    const write = () => this.client.call('HSETNX', this.key, client_id, value)
    return (await this.writeOrVerify(client_id, value, write)) || (await this.read(client_id)) === value
  }

  async list(): Promise<readonly ClientRegistration[]> {
    const values = await this.valuesOf(this.key)
    return values.map((value) => decodeRegistration(storedJsonOf(value))).toSorted(byClientId)
  }

  async noteUse(clientId: string, day: number): Promise<void> {
    await noting.run(this.client, this.daysKey, clientId, String(day))
  }

  async lastUses(): Promise<ReadonlyMap<string, number>> {
    return new Map((await this.valuesOf(this.daysKey)).map(lastUseIn))
  }

  private async valuesOf(key: string): Promise<readonly string[]> {
    const values: unknown = await this.client.call('HVALS', key)
    if (!isList(values))
      throw new Error('The Redis client replied to HVALS with something other than a list.')
    return values.map(textOf)
  }

  protected async read(clientId: string): Promise<string | undefined> {
    return foundText(await this.client.call('HGET', this.key, clientId))
  }

  protected replace(
    clientId: string,
    { revision, expected, json }: Replacement<ClientRegistration>,
  ): Promise<unknown> {
    return replace.run(this.client, this.key, clientId, revision, expected, json)
  }
}

function lastUseIn(value: string): readonly [clientId: string, day: number] {
  const [day = ''] = value.split(' ', 1)
  return [value.slice(day.length + 1), Number(day)]
}
