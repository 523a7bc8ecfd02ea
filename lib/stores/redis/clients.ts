import type { ClientRegistration } from '../../protocol/client'
import {
  byClientId,
  changed,
  type ClientRegistry,
  decodeRegistration,
  encodeRegistration,
} from '../../clients/client-store'
import { storedJsonOf, RedisClientValues, type Replacement, textOf } from './client-values'
import { type RedisCommands, RedisScript } from './redis-commands'

const replace = new RedisScript(`
local stored = redis.call('HGET', KEYS[1], ARGV[1])
local revision = stored and string.sub(stored, 1, 22) or ''
if revision == ARGV[2] then return 1 end
if revision ~= ARGV[3] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. ARGV[4])
return 1
`)

/** Stores registered clients in one hash, a field for each client. One key means one node of a cluster. */
export class RedisClients extends RedisClientValues<ClientRegistration> implements ClientRegistry {
  constructor(
    private readonly client: RedisCommands,
    private readonly key: string,
  ) {
    super({ encode: encodeRegistration, decode: decodeRegistration, changed })
  }

  async add(registration: ClientRegistration): Promise<boolean> {
    const value = this.written(registration)
    const { client_id } = registration
    const write = () => this.client.call('HSETNX', this.key, client_id, value)
    return (await this.writeOrVerify(client_id, value, write)) || (await this.read(client_id)) === value
  }

  async list(): Promise<readonly ClientRegistration[]> {
    const values: unknown = await this.client.call('HVALS', this.key)
    if (!Array.isArray(values))
      throw new Error('The Redis client replied to HVALS with something other than a list.')
    return values.map((value) => decodeRegistration(storedJsonOf(textOf(value)))).toSorted(byClientId)
  }

  protected async read(clientId: string): Promise<string | undefined> {
    const value = await this.client.call('HGET', this.key, clientId)
    return value === null || value === undefined ? undefined : textOf(value)
  }

  protected replace(
    clientId: string,
    { revision, expected, json }: Replacement<ClientRegistration>,
  ): Promise<unknown> {
    return replace.run(this.client, this.key, clientId, revision, expected, json)
  }
}
