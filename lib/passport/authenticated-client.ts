import type { IncomingMessage } from 'node:http'
import type { ProvenClient } from '../client-authentication/authenticate-client'
import type { Client } from '../protocol/client'

// Beside the request, not on it: nothing that the host or another middleware writes can pass for a proven client.
const clients = new WeakMap<IncomingMessage, ProvenClient>()

/** Notes that a strategy of this suite has proven the client of the request. */
export function rememberClient(request: IncomingMessage, client: ProvenClient): void {
  clients.set(request, client)
}

/** The client that was proven for this request; undefined when none was. */
export function authenticatedClient(request: IncomingMessage): Client | undefined {
  return clients.get(request)?.client
}

/** Whether the client of this request was proven by an old secret. */
export function authenticatedByOldSecret(request: IncomingMessage): boolean {
  return clients.get(request)?.byOldSecret === true
}
