import type { ClientRegistration } from '../protocol/client'
import { ConfigurationError } from '../primitives/configuration-error'
import {
  byClientId,
  changed,
  type ClientRegistry,
  decodeRegistration,
  encodeRegistration,
} from './client-store'
import { InMemory } from './in-memory'

export interface MemoryClientsOptions {
  /**
   * Allows production (`NODE_ENV`). A restart then loses every client, and no other process knows them. Default
   * false.
   */
  readonly allowInProduction?: boolean
}

/**
 * Stores registered clients in this process, for tests and first steps. A restart loses them.
 *
 * @throws ConfigurationError if `NODE_ENV` is `production`, unless `allowInProduction` is true.
 */
export function memoryClients(options: MemoryClientsOptions = {}): ClientRegistry {
  if (process.env['NODE_ENV'] === 'production' && options.allowInProduction !== true)
    throw new ConfigurationError('Clients in memory are not for production:', [
      {
        path: 'clients',
        message:
          'must survive restarts and be shared by all processes, because NODE_ENV is production: use redisStore({ url }).clients, or allow memory: memoryClients({ allowInProduction: true }).',
      },
    ])
  return new MemoryClients()
}

class MemoryClients extends InMemory implements ClientRegistry {
  private readonly registrations = new Map<string, ClientRegistration>()
  private readonly days = new Map<string, number>()

  async find(clientId: string): Promise<ClientRegistration | undefined> {
    return this.registrations.get(clientId)
  }

  // No await in `add` and `update`: each is atomic.
  async add(registration: ClientRegistration): Promise<boolean> {
    if (this.registrations.has(registration.client_id)) return false
    this.keep(registration)
    return true
  }

  async update(
    clientId: string,
    change: (registration: ClientRegistration) => ClientRegistration,
  ): Promise<ClientRegistration | undefined> {
    const current = this.registrations.get(clientId)
    if (current === undefined) return undefined
    const next = changed(current, change)
    return next === current ? current : this.keep(next)
  }

  async list(): Promise<readonly ClientRegistration[]> {
    return [...this.registrations.values()].toSorted(byClientId)
  }

  async noteUse(clientId: string, day: number): Promise<void> {
    this.days.set(clientId, Math.max(day, this.days.get(clientId) ?? day))
  }

  async lastUses(): Promise<ReadonlyMap<string, number>> {
    return new Map(this.days)
  }

  // A frozen copy: as in a database, only `update` changes it.
  private keep(registration: ClientRegistration): ClientRegistration {
    const stored = decodeRegistration(encodeRegistration(registration))
    this.registrations.set(stored.client_id, stored)
    return stored
  }
}
