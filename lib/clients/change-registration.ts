import type { ClientRegistration } from '../protocol/client'
import { ConfigurationError, type ConfigurationIssue, isText } from '../primitives/options-reader'
import { type ClientRegistry, isDeleted } from './client-store'

/** Changes one registration, in one atomic act. @throws ConfigurationError if no client has this identifier. */
export async function changeRegistration(
  clients: ClientRegistry,
  clientId: string,
  change: (registration: ClientRegistration) => ClientRegistration,
): Promise<ClientRegistration> {
  const found = isText(clientId)
    ? await clients.update(clientId, (registration) => {
        if (isDeleted(registration)) throw cannotChange(unknownClient)
        return change(registration)
      })
    : undefined
  if (found === undefined) throw cannotChange(unknownClient)
  return found
}

/** The mistake of a caller that names a client that does not exist. */
export const unknownClient: ConfigurationIssue = {
  path: 'client_id',
  message: 'names no client that is registered here.',
}

/** Makes the error for a change that cannot happen. */
export function cannotChange(...issues: readonly ConfigurationIssue[]): ConfigurationError {
  return new ConfigurationError('The client cannot be changed:', issues)
}

/**
 * Disables a client, at once and on every process. Every endpoint for clients refuses the client with `invalid_client`,
 * so its refresh tokens are of no use, and the authorization endpoint treats the client as unknown. Existing access
 * tokens work until they expire, because guards do not check the client. `revoke()` of the server ends them at once.
 *
 * @throws ConfigurationError if no client has this identifier.
 */
export async function disableClient(clients: ClientRegistry, clientId: string): Promise<void> {
  await changeRegistration(clients, clientId, (registration) =>
    registration.disabled === true ? registration : { ...registration, disabled: true },
  )
}

/**
 * Enables a disabled client again, with its old secrets.
 *
 * @throws ConfigurationError if no client has this identifier.
 */
export async function enableClient(clients: ClientRegistry, clientId: string): Promise<void> {
  await changeRegistration(clients, clientId, (registration) =>
    registration.disabled === false ? registration : { ...registration, disabled: false },
  )
}

/**
 * Deletes a client for ever, at once and on every process. The registry keeps the `client_id` and nothing else of the
 * client: no name, no URI, no digest. So the identifier never names another client (RFC 6749 2.2), and servers treat the
 * client as unknown. Existing access tokens work until they expire. May be repeated.
 *
 * @throws ConfigurationError if no client has this identifier.
 */
export async function deleteClient(clients: ClientRegistry, clientId: string): Promise<void> {
  const found = isText(clientId) ? await clients.update(clientId, restOf) : undefined
  if (found === undefined) throw cannotChange(unknownClient)
  if (!isDeleted(found))
    throw new Error('The registry of clients has lost the member deleted, so the client lives on, disabled.')
}

// An earlier version of the package, which does not know `deleted`, finds a disabled client.
function restOf(registration: ClientRegistration): ClientRegistration {
  const { client_id, client_type } = registration
  return isDeleted(registration)
    ? registration
    : { client_id, client_type, scope: '', disabled: true, deleted: true }
}
