import { generateClientSecret, generatedHash } from '../client-authentication/client-secret'
import { BoundedMap } from '../protocol/bounded-map'
import { type ClientRegistration, liveSecrets } from '../protocol/client'
import { isText } from '../protocol/configuration'
import { anyCapabilities, parseStoredClient } from '../protocol/parse-client'
import type { ClientRegistry } from '../stores/client-store'
import { cannotChange, changeRegistration } from './change-registration'
import type { IssuedCredentials } from './register-client'

/** What a client authenticates itself by after a rotation. */
export type RotatedCredentials = IssuedCredentials & { readonly client_secret: string }

const rememberedAtMost = 1000
const unsettled = new WeakMap<ClientRegistry, BoundedMap<string>>()

/**
 * Issues a new secret. The one that was current works on beside it, as the old one; of those before it none does.
 *
 * A rotation that rejects because of trouble may have been written, then or later. It is repeatable: the next call for
 * the client finishes the same rotation, with the same secret, and so drops no other secret. This process remembers the
 * secret; a repetition in another process passes it.
 *
 * @param secret the `client_secret` of `generateClientSecret()`. One that is registered already stays. Default: a new one.
 * @throws ConfigurationError when there is no such client, or it authenticates without a secret, or `secret` is none.
 */
export async function rotateClientSecret(
  clients: ClientRegistry,
  clientId: string,
  secret?: string,
): Promise<RotatedCredentials> {
  const client_secret = secret ?? unsettledSecret(clients, clientId) ?? generateClientSecret().client_secret
  if (!isGenerated(client_secret))
    throw cannotChange('client_secret', 'must be that of generateClientSecret(): 43 characters A-Za-z0-9_-.')
  const client_secret_hash = generatedHash(client_secret)
  let isBegun = false
  try {
    await changeRegistration(clients, clientId, (registration) => {
      const hashes = secretsOf(registration)
      isBegun = true
      if (hashes.includes(client_secret_hash)) return registration
      return { ...registration, client_secret_hashes: [...hashes, client_secret_hash].slice(-liveSecrets) }
    })
  } catch (trouble) {
    if (isBegun) unsettledIn(clients).put(clientId, client_secret)
    throw trouble
  }
  unsettledIn(clients).delete(clientId)
  return { client_id: clientId, client_secret }
}

/** The secret of a rotation that may have been written, and of which nobody was told. */
export function unsettledSecret(clients: ClientRegistry, clientId: string): string | undefined {
  return unsettled.get(clients)?.get(clientId)
}

/**
 * Ends a rotation: from now on only the current secret works.
 *
 * @throws ConfigurationError when there is no such client, or it authenticates without a secret, or the current secret
 * may be one that nobody was told of.
 */
export async function dropOldClientSecrets(clients: ClientRegistry, clientId: string): Promise<void> {
  if (unsettledSecret(clients, clientId) !== undefined)
    throw cannotChange(
      'client_secret_hashes',
      'may hold a secret that nobody was told of, because a rotation met trouble: repeat rotateClientSecret() first.',
    )
  await changeRegistration(clients, clientId, (registration) => {
    const hashes = secretsOf(registration)
    return hashes.length === 1 ? registration : { ...registration, client_secret_hashes: hashes.slice(-1) }
  })
}

function unsettledIn(clients: ClientRegistry): BoundedMap<string> {
  const known = unsettled.get(clients) ?? new BoundedMap<string>(rememberedAtMost)
  unsettled.set(clients, known)
  return known
}

const isGenerated = (secret: unknown) => isText(secret) && /^[A-Za-z0-9_-]{43}$/.test(secret)

// Read whole: a registration that somebody broke by hand is told of, and not written anew.
function secretsOf(registration: ClientRegistration): readonly string[] {
  const { client_secret_hashes } = parseStoredClient(registration, anyCapabilities)
  if (client_secret_hashes.length > 0) return client_secret_hashes
  throw cannotChange('client_secret_hashes', 'is empty: the client has no secret that could be rotated.')
}
