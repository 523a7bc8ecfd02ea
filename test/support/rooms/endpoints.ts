import type { Client, FindClient } from '../../../lib/protocol/client'

export function clientsOf(...clients: readonly Client[]): FindClient {
  return async (clientId) => clients.find(({ client_id }) => client_id === clientId)
}
