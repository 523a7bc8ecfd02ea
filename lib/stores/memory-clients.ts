import type { ClientRegistration } from '../protocol/client'
import { ConfigurationError } from '../protocol/configuration'
import { byClientId, changed, type ClientRegistry } from './client-store'
import { InMemory } from './in-memory'
import { decodeRegistration, encodeRegistration } from './registered-clients'

/** Options of {@link memoryClients}. */
export interface MemoryClientsOptions {
  /** Lets it run where `NODE_ENV` is `production`: one process, and a restart forgets every client. Default false. */
  readonly allowInProduction?: boolean
}

/**
 * Registered clients in the memory of this process: for tests and first steps.
 *
 * @throws ConfigurationError where `NODE_ENV` is `production`, unless `allowInProduction` is set.
 */
export function memoryClients(options: MemoryClientsOptions = {}): ClientRegistry {
  if (process.env['NODE_ENV'] === 'production' && options.allowInProduction !== true)
    throw new ConfigurationError('Clients in memory are not for production:', [
      {
        path: 'clients',
        message:
          'must be where processes share them and restarts do not lose them, such as redisStore({ url }).clients; or say memoryClients({ allowInProduction: true }).',
      },
    ])
  return new MemoryClients()
}

class MemoryClients extends InMemory implements ClientRegistry {
  private readonly registrations = new Map<string, ClientRegistration>()

  async find(clientId: string): Promise<ClientRegistration | undefined> {
    return this.registrations.get(clientId)
  }

  // No await inside this and the next: looking and writing are one act.
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

  // Through its text, so that no one can change what is kept but by `update`, as in a database.
  private keep(registration: ClientRegistration): ClientRegistration {
    const stored = decodeRegistration(encodeRegistration(registration))
    this.registrations.set(stored.client_id, stored)
    return stored
  }
}
