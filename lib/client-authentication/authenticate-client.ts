import type { Client, FindClient } from '../protocol/client'
import { invalidClient } from '../protocol/oauth-error'
import type { PresentedClient } from './method'

/** A client that has proven itself. */
export interface ProvenClient {
  readonly client: Client
  /** Whether by a secret that is not its current one any more, as during a rotation. */
  readonly byOldSecret: boolean
}

/**
 * Proves the presented client, or refuses it without telling why: unknown client, disabled client, wrong secret and
 * wrong method look the same and cost the same.
 *
 * @throws OAuthError `invalid_client`.
 */
export async function authenticateClient(
  { method, clientId, credential }: PresentedClient,
  findClient: FindClient,
): Promise<ProvenClient> {
  const client = await findClient(clientId)
  // A disabled client is nobody, to a method from outside, too: what its secret was worth cannot be told from the cost.
  const proven = await method.verify(client?.disabled === true ? undefined : client, credential)
  if (client === undefined) throw refused('client_unknown')
  if (client.disabled) throw refused('client_disabled')
  if (!proven) throw refused('client_not_authenticated')
  const registered = client.token_endpoint_auth_method
  if (registered !== undefined && registered !== method.name) throw refused('client_method_not_registered')
  return { client, byOldSecret: proven === 'by an old secret' }
}

const refused = (reason: string) => invalidClient(reason, 'Client authentication failed.')
