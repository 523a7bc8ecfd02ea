import type { ClientRegistration } from '../../protocol/client'
import { createId, secureRandom } from '../../protocol/credential'
import { byClientId, changed, type ClientRegistry } from '../client-store'
import { decodeRegistration, encodeRegistration } from '../registered-clients'
import { type RedisCommands, RedisScript } from './commands'

// A value is the writer's revision, 22 characters, and the registration. As with authorizations: a write that is sent
// twice, because its reply was lost, finds its own revision and counts as done.
const revisionLength = 22
const replace = new RedisScript(`
local stored = redis.call('HGET', KEYS[1], ARGV[1])
local revision = stored and string.sub(stored, 1, 22) or ''
if revision == ARGV[2] then return 1 end
if revision ~= ARGV[3] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. ARGV[4])
return 1
`)

// Of parallel changes to one client one wins in each round; people and their programs make few at a time.
const rounds = 100
const decodedAtMost = 1000

/** Registered clients in one hash, a field for each: one key, so that a cluster has every act in one place. */
export class RedisClients implements ClientRegistry {
  // While a text has not changed its registration is the same object, which a server has parsed already.
  private readonly decoded = new Map<
    string,
    { readonly value: string; readonly registration: ClientRegistration }
  >()

  constructor(
    private readonly client: RedisCommands,
    private readonly key: string,
  ) {}

  async find(clientId: string): Promise<ClientRegistration | undefined> {
    const value = await this.read(clientId)
    return value === undefined ? undefined : this.decode(clientId, value)
  }

  async add(registration: ClientRegistration): Promise<boolean> {
    const value = written(registration)
    const { client_id } = registration
    const write = async () => isDone(await this.client.call('HSETNX', this.key, client_id, value))
    return (await this.carriedOut(client_id, value, write)) || (await this.read(client_id)) === value
  }

  async update(
    clientId: string,
    change: (registration: ClientRegistration) => ClientRegistration,
  ): Promise<ClientRegistration | undefined> {
    for (let round = 0; round < rounds; round++) {
      const stored = await this.read(clientId)
      if (stored === undefined) return undefined
      const current = this.decode(clientId, stored)
      const next = changed(current, change)
      if (next === current) return current
      const value = written(next)
      if (await this.replaced(clientId, stored, value)) return this.decode(clientId, value)
    }
    throw new Error('Other writers changed the same client all the time.')
  }

  async list(): Promise<readonly ClientRegistration[]> {
    const values: unknown = await this.client.call('HVALS', this.key)
    if (!Array.isArray(values))
      throw new Error('The Redis client answers HVALS with something else than a list.')
    return values.map((value) => decodeRegistration(textOf(value).slice(revisionLength))).toSorted(byClientId)
  }

  private async read(clientId: string): Promise<string | undefined> {
    const value = await this.client.call('HGET', this.key, clientId)
    return value === null || value === undefined ? undefined : textOf(value)
  }

  private async replaced(clientId: string, stored: string, value: string): Promise<boolean> {
    const [expected, revision] = [stored, value].map((text) => text.slice(0, revisionLength))
    const words = [clientId, revision ?? '', expected ?? '', value.slice(revisionLength)]
    return this.carriedOut(clientId, value, async () =>
      isDone(await replace.run(this.client, this.key, ...words)),
    )
  }

  // When only the reply was lost, the value tells: a caller that was told of trouble would rotate again, and drop a secret that is in use.
  private async carriedOut(clientId: string, value: string, write: () => Promise<boolean>): Promise<boolean> {
    try {
      return await write()
    } catch (trouble) {
      if ((await this.read(clientId).catch(() => undefined)) === value) return true
      throw trouble
    }
  }

  private decode(clientId: string, value: string): ClientRegistration {
    const known = this.decoded.get(clientId)
    if (known?.value === value) return known.registration
    const registration = decodeRegistration(value.slice(revisionLength))
    const oldest = this.decoded.keys().next()
    if (this.decoded.size >= decodedAtMost && oldest.done !== true) this.decoded.delete(oldest.value)
    this.decoded.set(clientId, { value, registration })
    return registration
  }
}

function written(registration: ClientRegistration): string {
  return createId(secureRandom) + encodeRegistration(registration)
}

function isDone(answer: unknown): boolean {
  const reply = Number(answer)
  if (reply !== 0 && reply !== 1)
    throw new Error('The Redis client answers a write with something else than 0 or 1.')
  return reply === 1
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  throw new Error('The Redis client answers with something else than text.')
}
