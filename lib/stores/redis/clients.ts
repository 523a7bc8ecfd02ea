import type { ClientRegistration } from '../../protocol/client'
import { createId, secureRandom } from '../../protocol/credential'
import { byClientId, changed, type ClientRegistry } from '../client-store'
import { decodeRegistration, encodeRegistration } from '../registered-clients'
import { type RedisCommands, RedisScript } from './commands'

// A value is the writer's revision, 22 characters, and the registration as JSON. A write that the client library sends
// again, because the reply was lost, finds its own revision and counts as done.
const revisionLength = 22
const replace = new RedisScript(`
local stored = redis.call('HGET', KEYS[1], ARGV[1])
local revision = stored and string.sub(stored, 1, 22) or ''
if revision == ARGV[2] then return 1 end
if revision ~= ARGV[3] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. ARGV[4])
return 1
`)

// One of several parallel changes wins in each round, so 100 rounds suffice for 100 parallel changes to one client.
const maximumRounds = 100
const maximumDecoded = 1000

/** Stores registered clients in one hash, a field for each client. One key means one node of a cluster. */
export class RedisClients implements ClientRegistry {
  // Returns the same object while the stored text is the same, so the server need not parse the registration again.
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
    return (await this.writeOrVerify(client_id, value, write)) || (await this.read(client_id)) === value
  }

  async update(
    clientId: string,
    change: (registration: ClientRegistration) => ClientRegistration,
  ): Promise<ClientRegistration | undefined> {
    for (let round = 0; round < maximumRounds; round++) {
      const stored = await this.read(clientId)
      if (stored === undefined) return undefined
      const current = this.decode(clientId, stored)
      const next = changed(current, change)
      if (next === current) return current
      const value = written(next)
      if (await this.replaced(clientId, stored, value)) return this.decode(clientId, value)
    }
    throw new Error(`Other writers changed the same client in each of ${maximumRounds} rounds.`)
  }

  async list(): Promise<readonly ClientRegistration[]> {
    const values: unknown = await this.client.call('HVALS', this.key)
    if (!Array.isArray(values))
      throw new Error('The Redis client replied to HVALS with something other than a list.')
    return values.map((value) => decodeRegistration(textOf(value).slice(revisionLength))).toSorted(byClientId)
  }

  private async read(clientId: string): Promise<string | undefined> {
    const value = await this.client.call('HGET', this.key, clientId)
    return value === null || value === undefined ? undefined : textOf(value)
  }

  private async replaced(clientId: string, stored: string, value: string): Promise<boolean> {
    const [expected, revision] = [stored, value].map((text) => text.slice(0, revisionLength))
    const words = [clientId, revision ?? '', expected ?? '', value.slice(revisionLength)]
    return this.writeOrVerify(clientId, value, async () =>
      isDone(await replace.run(this.client, this.key, ...words)),
    )
  }

  // Reads the value after a failed write, because only the reply may be lost. A caller that saw a failure would rotate
  // the secret again, and so drop a secret in use.
  private async writeOrVerify(
    clientId: string,
    value: string,
    write: () => Promise<boolean>,
  ): Promise<boolean> {
    try {
      return await write()
    } catch (failure) {
      if ((await this.read(clientId).catch(() => undefined)) === value) return true
      throw failure
    }
  }

  private decode(clientId: string, value: string): ClientRegistration {
    const known = this.decoded.get(clientId)
    if (known?.value === value) return known.registration
    const registration = decodeRegistration(value.slice(revisionLength))
    const oldest = this.decoded.keys().next()
    if (this.decoded.size >= maximumDecoded && oldest.done !== true) this.decoded.delete(oldest.value)
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
    throw new Error('The Redis client replied to a write with something other than 0 or 1.')
  return reply === 1
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  throw new Error('The Redis client replied with something other than text.')
}
