import { generateClientSecret } from '../client-authentication/client-secret'
import type { ClientRegistration } from '../protocol/client'
import { parseStoredClient, unknownVocabulary } from '../protocol/parse-client'
import { liveSecrets } from '../protocol/secret-hash'
import type { ClientRegistry } from '../stores/client-registry'
import { cannotChange, changeRegistration } from './change-registration'
import type { IssuedCredentials } from './register-client'

/**
 * Issues a new secret. The one that was current works on beside it, as the old one; of those before it none does.
 *
 * @throws ConfigurationError when there is no such client, or it authenticates without a secret.
 */
export async function rotateClientSecret(
  clients: ClientRegistry,
  clientId: string,
): Promise<IssuedCredentials & { readonly client_secret: string }> {
  const { client_secret, client_secret_hash } = generateClientSecret()
  await changeRegistration(clients, clientId, (registration) => {
    const hashes = secretsOf(registration)
    return { ...registration, client_secret_hashes: [...hashes, client_secret_hash].slice(-liveSecrets) }
  })
  return { client_id: clientId, client_secret }
}

/**
 * Ends a rotation: from now on only the current secret works.
 *
 * @throws ConfigurationError when there is no such client, or it authenticates without a secret.
 */
export async function dropOldClientSecrets(clients: ClientRegistry, clientId: string): Promise<void> {
  await changeRegistration(clients, clientId, (registration) => {
    const hashes = secretsOf(registration)
    return hashes.length === 1 ? registration : { ...registration, client_secret_hashes: hashes.slice(-1) }
  })
}

// Read whole: a registration that somebody broke by hand is told of, and not written anew.
function secretsOf(registration: ClientRegistration): readonly string[] {
  const { client_secret_hashes } = parseStoredClient(registration, unknownVocabulary)
  if (client_secret_hashes.length > 0) return client_secret_hashes
  throw cannotChange('client_secret_hashes', 'is empty: the client has no secret that could be rotated.')
}
