import type { ClientRegistration } from '../protocol/client'
import { ConfigurationError, type ConfigurationIssue } from '../primitives/configuration-error'
import { isText } from '../primitives/values'
import { type ClientRegistry, isDeleted } from '../stores/client-store'

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

export const unknownClient: ConfigurationIssue = {
  path: 'client_id',
  message: 'names no client that is registered here.',
}

export const cannotChange = (...issues: readonly ConfigurationIssue[]): ConfigurationError =>
  new ConfigurationError('The client cannot be changed:', issues)

/**
 * Disables a client, at once and on every process. Client endpoints refuse it with `invalid_client`; the
 * authorization endpoint treats it as unknown. Guards do not check the client: its access tokens work until
 * they expire, or until the server's `revoke()` ends them.
 *
 * @throws ConfigurationError for an unknown client.
 */
export async function disableClient(clients: ClientRegistry, clientId: string): Promise<void> {
  await changeRegistration(clients, clientId, (registration) =>
    registration.disabled === true ? registration : { ...registration, disabled: true },
  )
}

/** Enables a disabled client, with its old secrets. @throws ConfigurationError for an unknown client. */
export async function enableClient(clients: ClientRegistry, clientId: string): Promise<void> {
  await changeRegistration(clients, clientId, (registration) =>
    registration.disabled === false ? registration : { ...registration, disabled: false },
  )
}

/**
 * Deletes a client for ever, at once and on every process. The registry keeps only the `client_id`, so it
 * never names another client (RFC 6749 2.2). Its access tokens work until they expire. May be repeated.
 *
 * @throws ConfigurationError for an unknown client.
 */
export async function deleteClient(clients: ClientRegistry, clientId: string): Promise<void> {
  const found = isText(clientId) ? await clients.update(clientId, restOf) : undefined
  if (found === undefined) throw cannotChange(unknownClient)
  if (!isDeleted(found))
    throw new Error('The registry of clients has lost the member deleted, so the client lives on, disabled.')
}

// Disabled, too: a registry of the host that drops the member `deleted` then keeps a client that can do nothing.
function restOf(registration: ClientRegistration): ClientRegistration {
  const { client_id, client_type } = registration
  return isDeleted(registration)
    ? registration
    : { client_id, client_type, scope: '', disabled: true, deleted: true }
}
