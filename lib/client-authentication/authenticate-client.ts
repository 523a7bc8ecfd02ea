import { hasCredentialFor } from '../protocol/authentication-method'
import type { Client } from '../protocol/client'
import { invalidClient } from '../protocol/oauth-error'
import type { PresentedClient, Throttle } from './method'
import type { Reason } from '../protocol/reasons'

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
 * @param client the registered client of that identifier; undefined when there is none.
 * @param limitsFor the limits on guesses at a client, or at an unknown one.
 * @throws OAuthError `invalid_client`; over a limit on failures `temporarily_unavailable`, for unknown clients, too.
 */
export async function authenticateClient(
  { method, credential }: PresentedClient,
  client: Client | undefined,
  limitsFor: (client: Client | undefined) => Throttle,
): Promise<ProvenClient> {
  // A disabled client is nobody, to a method from outside, too: what its secret was worth cannot be told from the cost.
  const asked = client?.disabled === true ? undefined : client
  const proven: unknown = await method.verify(asked, credential, limitsFor(asked))
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

const refused = (reason: Reason<'invalid_client'>) => invalidClient(reason, 'Client authentication failed.')
