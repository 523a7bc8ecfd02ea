import type { ClientRegistration } from '../protocol/client'

/** Where registered clients live: the host's own database, for instance. */
export interface ClientStore {
  /** The registration; undefined when there is no such client. */
  find(clientId: string): Promise<ClientRegistration | undefined>
}
