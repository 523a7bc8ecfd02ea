import { hasCredentialFor } from '../protocol/authentication-method'
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
  const proven: unknown = await method.verify(client?.disabled === true ? undefined : client, credential)
  if (client === undefined) throw refused('client_unknown')
  if (client.disabled) throw refused('client_disabled')
  // The method may be the host's own: what is merely truthy proves nobody.
  const byOldSecret = proven === 'by an old secret'
  if (proven !== true && !byOldSecret) throw refused('client_not_authenticated')
  const registered = client.token_endpoint_auth_method
  if (registered !== undefined && registered !== method.name) throw refused('client_method_not_registered')
  if (!hasCredentialFor(method.name, client)) throw refused('client_method_not_registered')
  return { client, byOldSecret }
}

const refused = (reason: string) => invalidClient(reason, 'Client authentication failed.')
