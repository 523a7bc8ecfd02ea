import { hasCredentialFor } from '../protocol/authentication-method'
import type { Client, FindClient } from '../protocol/client'
import { invalidClient } from '../protocol/oauth-error'
import type { PresentedClient } from './method'

/**
 * Proves the presented client, or refuses it without telling why: unknown client, wrong secret and wrong method look
 * the same and cost the same.
 *
 * @throws OAuthError `invalid_client`.
 */
export async function authenticateClient(
  { method, clientId, credential }: PresentedClient,
  findClient: FindClient,
): Promise<Client> {
  const client = await findClient(clientId)
  const proven: unknown = await method.verify(client, credential)
  if (client === undefined) throw refused('client_unknown')
  // The method may be the host's own: what is merely truthy proves nobody.
  if (proven !== true) throw refused('client_not_authenticated')
  const registered = client.token_endpoint_auth_method
  if (registered !== undefined && registered !== method.name) throw refused('client_method_not_registered')
  if (!hasCredentialFor(method.name, client)) throw refused('client_method_not_registered')
  return client
}

const refused = (reason: string) => invalidClient(reason, 'Client authentication failed.')
