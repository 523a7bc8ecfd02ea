import type { ClientRegistration } from '../protocol/client'
import { ConfigurationError, isText } from '../protocol/configuration'
import type { ClientRegistry } from '../stores/client-store'

/** Changes one registration, in one atomic act. @throws ConfigurationError when there is no such client. */
export async function changeRegistration(
  clients: ClientRegistry,
  clientId: string,
  change: (registration: ClientRegistration) => ClientRegistration,
): Promise<void> {
  const found = isText(clientId) ? await clients.update(clientId, change) : undefined
  if (found === undefined) throw cannotChange('client_id', 'names no client that is registered here.')
}

/** Why a registration stays as it is. */
export function cannotChange(path: string, message: string): ConfigurationError {
  return new ConfigurationError('The client cannot be changed:', [{ path, message }])
}

/**
 * Shuts a client out, at once and on every process: `invalid_client` at every endpoint for clients, with its refresh
 * tokens too, and unknown at the authorization endpoint. Access tokens that it has already are not asked about.
 *
 * @throws ConfigurationError when there is no such client.
 */
export function disableClient(clients: ClientRegistry, clientId: string): Promise<void> {
  return changeRegistration(clients, clientId, (registration) =>
    registration.disabled === true ? registration : { ...registration, disabled: true },
  )
}

/** Lets a disabled client in again, with the secrets that it had. @throws ConfigurationError when there is none. */
export function enableClient(clients: ClientRegistry, clientId: string): Promise<void> {
  return changeRegistration(clients, clientId, (registration) =>
    registration.disabled === false ? registration : { ...registration, disabled: false },
  )
}
