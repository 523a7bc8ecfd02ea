import type { IncomingMessage } from 'node:http'
import type { Client } from '../protocol/client'

// Beside the request, not on it: nothing that the host or another middleware writes can pass for a proven client.
const clients = new WeakMap<IncomingMessage, Client>()

/** Notes that a strategy of this suite has proven the client of the request. */
export function rememberClient(request: IncomingMessage, client: Client): void {
  clients.set(request, client)
}

/** The client that was proven for this request; undefined when none was. */
export function authenticatedClient(request: IncomingMessage): Client | undefined {
  return clients.get(request)
}
