import type { ClientRegistration } from '../protocol/client'
import { ConfigurationError, type ConfigurationIssue, isText } from '../primitives/options-reader'
import type { ClientRegistry } from './client-store'

/** Changes one registration, in one atomic act. @throws ConfigurationError if no client has this identifier. */
export async function changeRegistration(
  clients: ClientRegistry,
  clientId: string,
  change: (registration: ClientRegistration) => ClientRegistration,
): Promise<void> {
  const found = isText(clientId) ? await clients.update(clientId, change) : undefined
  if (found === undefined) throw cannotChange(unknownClient)
}

/** The mistake of a caller that names a client that does not exist. */
export const unknownClient: ConfigurationIssue = {
  path: 'client_id',
  message: 'names no client that is registered here.',
}

/** Makes the error for a change that cannot happen. */
export function cannotChange(issue: ConfigurationIssue): ConfigurationError {
  return new ConfigurationError('The client cannot be changed:', [issue])
}

/**
 * Disables a client, at once and on every process. Every endpoint for clients refuses the client with `invalid_client`,
 * so its refresh tokens are of no use, and the authorization endpoint treats the client as unknown. Existing access
 * tokens work until they expire, because guards do not check the client. `revoke()` of the server ends them at once.
 *
 * @throws ConfigurationError if no client has this identifier.
 */
export function disableClient(clients: ClientRegistry, clientId: string): Promise<void> {
  return changeRegistration(clients, clientId, (registration) =>
    registration.disabled === true ? registration : { ...registration, disabled: true },
  )
}

/**
 * Enables a disabled client again, with its old secrets.
 *
 * @throws ConfigurationError if no client has this identifier.
 */
export function enableClient(clients: ClientRegistry, clientId: string): Promise<void> {
  return changeRegistration(clients, clientId, (registration) =>
    registration.disabled === false ? registration : { ...registration, disabled: false },
  )
}
