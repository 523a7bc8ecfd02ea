import type { IncomingMessage } from 'node:http'
import type { ProvenClient } from '../client-authentication/authenticate-client'
import { privateState } from '../protocol/beside'
import type { Client } from '../protocol/client'

/** The client that a request says it comes from. */
export interface ClaimedClient {
  readonly claimedClientId: string | undefined
  /** Whether there is such a client; nothing else of the claim is proven. */
  readonly isRegistered: boolean
}

interface ClientOfRequest {
  claimedClientId: string | undefined
  isRegistered: boolean
  proven: ProvenClient | undefined
}

// PrivateState the request, not on it: nothing that the host or another middleware writes can pass for a proven client.
const clients = privateState<IncomingMessage, ClientOfRequest>()

function clientOf(request: IncomingMessage): ClientOfRequest {
  const known = clients.get(request)
  if (known !== undefined) return known
  const nobody = { claimedClientId: undefined, isRegistered: false, proven: undefined }
  clients.set(request, nobody)
  return nobody
}

/** Notes the client that a request says it comes from; for events alone. */
export function noteClaim(request: IncomingMessage, clientId: string): void {
  clientOf(request).claimedClientId = clientId
}

/** Notes that there is such a client. */
export function noteRegistered(request: IncomingMessage): void {
  clientOf(request).isRegistered = true
}

/** The client that a request says it comes from. */
export function claimOf(request: IncomingMessage): ClaimedClient {
  const { claimedClientId, isRegistered = false } = clients.get(request) ?? {}
  return { claimedClientId, isRegistered }
}

/** Notes that a strategy of this suite has proven the client of the request. */
export function rememberClient(request: IncomingMessage, client: ProvenClient): void {
  clientOf(request).proven = client
}

/** The client that was proven for this request; undefined when none was. */
export function authenticatedClient(request: IncomingMessage): Client | undefined {
  return provenClient(request)?.client
}

/** The same with how it was proven. */
export function provenClient(request: IncomingMessage): ProvenClient | undefined {
  return clients.get(request)?.proven
}
