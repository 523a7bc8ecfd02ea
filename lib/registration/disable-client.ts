import type { ClientRegistry } from '../stores/client-registry'
import { changeRegistration } from './change-registration'

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
