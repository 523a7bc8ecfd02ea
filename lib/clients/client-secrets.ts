import { generateClientSecret, generatedHash } from '../client-authentication/client-secret'
import { BoundedMap } from '../primitives/maps'
import { type ClientRegistration, liveSecrets } from '../protocol/client'
import { isText } from '../primitives/values'
import { anyCapabilities, parseStoredClient } from '../protocol/parse-client'
import type { ClientRegistry } from '../stores/registered'
import { cannotChange, changeRegistration } from './change-client'
import type { IssuedCredentials } from './register-client'

export type RotatedCredentials = IssuedCredentials & { readonly client_secret: string }

const maximumUnsettled = 1000
// The store may hold the secrets of failed rotations all the same.
const unsettled = new WeakMap<ClientRegistry, BoundedMap<string>>()

/**
 * Issues a new secret. The previous secret still works, as the old secret; older secrets do not.
 *
 * If the store fails, the rotation rejects, but the store may write it then or later. The next call finishes
 * it with the same secret, and loses no other. This process remembers 1000 failed rotations. To repeat one in
 * another process, pass the same secret.
 *
 * @param secret the `client_secret` of `generateClientSecret()`: 43 characters. A registered secret stays
 * registered. Default: a new secret.
 * @throws ConfigurationError for an unknown client, one without a secret, or a malformed `secret`.
 */
export async function rotateClientSecret(
  clients: ClientRegistry,
  clientId: string,
  secret?: string,
): Promise<RotatedCredentials> {
  const client_secret = secret ?? unsettledSecret(clients, clientId) ?? generateClientSecret().client_secret
  if (!isGenerated(client_secret))
    throw cannotChange({
      path: 'client_secret',
      message: 'must be a client_secret of generateClientSecret(): 43 characters A-Za-z0-9_-.',
    })
  const client_secret_hash = generatedHash(client_secret)
  let isBegun = false
  try {
    await changeRegistration(clients, clientId, (registration) => {
      const hashes = secretsOf(registration)
      isBegun = true
      if (hashes.includes(client_secret_hash)) return registration
      return { ...registration, client_secret_hashes: [...hashes, client_secret_hash].slice(-liveSecrets) }
    })
  } catch (failure) {
    if (isBegun) unsettledIn(clients).put(clientId, client_secret)
    throw failure
  }
  unsettledIn(clients).delete(clientId)
  return { client_id: clientId, client_secret }
}

export const unsettledSecret = (clients: ClientRegistry, clientId: string): string | undefined =>
  unsettled.get(clients)?.get(clientId)

/**
 * Ends a rotation: only the current secret works.
 *
 * @throws ConfigurationError for an unknown client, one without a secret, or after a failed rotation of this
 * process: no caller may have received the current secret.
 */
export async function dropOldClientSecrets(clients: ClientRegistry, clientId: string): Promise<void> {
  if (unsettledSecret(clients, clientId) !== undefined)
    throw cannotChange({
      path: 'client_secret_hashes',
      message:
        'may hold a secret that no caller has received, because a rotation failed: repeat rotateClientSecret() first.',
    })
  await changeRegistration(clients, clientId, (registration) => {
    const hashes = secretsOf(registration)
    return hashes.length === 1 ? registration : { ...registration, client_secret_hashes: hashes.slice(-1) }
  })
}

function unsettledIn(clients: ClientRegistry): BoundedMap<string> {
  const known = unsettled.get(clients) ?? new BoundedMap<string>(maximumUnsettled)
  unsettled.set(clients, known)
  return known
}

const isGenerated = (secret: unknown) => isText(secret) && /^[A-Za-z0-9_-]{43}$/.test(secret)

// A registration that was broken by hand throws, and is not written again.
function secretsOf(registration: ClientRegistration): readonly string[] {
  const { client_secret_hashes } = parseStoredClient(registration, anyCapabilities)
  if (client_secret_hashes.length > 0) return client_secret_hashes
  throw cannotChange({
    path: 'client_secret_hashes',
    message: 'is empty: the client has no secret that could be rotated.',
  })
}
