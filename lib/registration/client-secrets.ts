import {
  generatedHash,
  generateClientSecret,
  type GeneratedClientSecret,
} from '../client-authentication/client-secret'
import type { ClientRegistration } from '../protocol/client'
import { Latest } from '../protocol/latest'
import { parseStoredClient, unknownVocabulary } from '../protocol/parse-client'
import { liveSecrets } from '../protocol/secret-hash'
import type { ClientRegistry } from '../stores/client-registry'
import { cannotChange, changeRegistration } from './change-registration'
import type { IssuedCredentials } from './register-client'

/** What a client authenticates itself by after a rotation. */
export type RotatedCredentials = IssuedCredentials & { readonly client_secret: string }

const rememberedAtMost = 1000
const unsettled = new WeakMap<ClientRegistry, Latest<GeneratedClientSecret>>()

/**
 * Issues a new secret. The one that was current works on beside it, as the old one; of those before it none does.
 *
 * A rotation that rejects because of trouble may have been written, then or later. It is repeatable: the next call for
 * the client finishes the same rotation, with the same secret, and so drops no other secret. This process remembers the
 * secret; a repetition in another process passes it.
 *
 * @param secret of `generateClientSecret()`. A secret that is registered already stays as it is. Default: a new one.
 * @throws ConfigurationError when there is no such client, or it authenticates without a secret, or `secret` is none.
 */
export async function rotateClientSecret(
  clients: ClientRegistry,
  clientId: string,
  secret?: GeneratedClientSecret,
): Promise<RotatedCredentials> {
  const generated = secret ?? unsettledSecret(clients, clientId) ?? generateClientSecret()
  const { client_secret, client_secret_hash } = generated
  if (!isGenerated(generated))
    throw cannotChange('secret', 'must be what generateClientSecret() returned, as a whole.')
  let isBegun = false
  try {
    await changeRegistration(clients, clientId, (registration) => {
      const hashes = secretsOf(registration)
      isBegun = true
      if (hashes.includes(client_secret_hash)) return registration
      return { ...registration, client_secret_hashes: [...hashes, client_secret_hash].slice(-liveSecrets) }
    })
  } catch (trouble) {
    if (isBegun) unsettledIn(clients).put(clientId, generated)
    throw trouble
  }
  unsettledIn(clients).delete(clientId)
  return { client_id: clientId, client_secret }
}

/** The secret of a rotation that may have been written, and of which nobody was told. */
export function unsettledSecret(
  clients: ClientRegistry,
  clientId: string,
): GeneratedClientSecret | undefined {
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

function unsettledIn(clients: ClientRegistry): Latest<GeneratedClientSecret> {
  const known = unsettled.get(clients) ?? new Latest<GeneratedClientSecret>(rememberedAtMost)
  unsettled.set(clients, known)
  return known
}

// What another process kept of the secret comes back as a host passes it.
function isGenerated({ client_secret, client_secret_hash }: GeneratedClientSecret): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(client_secret) && generatedHash(client_secret) === client_secret_hash
}

// Read whole: a registration that somebody broke by hand is told of, and not written anew.
function secretsOf(registration: ClientRegistration): readonly string[] {
  const { client_secret_hashes } = parseStoredClient(registration, unknownVocabulary)
  if (client_secret_hashes.length > 0) return client_secret_hashes
  throw cannotChange('client_secret_hashes', 'is empty: the client has no secret that could be rotated.')
}
