import { ConfigurationError } from '../primitives/configuration-error'
import { isText } from '../primitives/values'
import type { ServerCapabilities } from '../protocol/parse-client'
import type { ClientRegistry } from '../stores/clients'
import {
  cannotChange,
  changeClient,
  type ClientChange,
  type ClientMetadata,
  deleteClient,
  disableClient,
  dropOldClientSecrets,
  enableClient,
  type IssuedCredentials,
  registerClient,
  rotateClientSecret,
  type RotatedCredentials,
  unknownClient,
} from './registrations'

/**
 * Registers and changes the clients of one server. Unless the option `clients` is `registeredClients(store)`,
 * every function rejects with a ConfigurationError, except for clients that registered themselves. The host
 * must check who calls.
 */
export interface ClientRegistrar {
  /** As {@link registerClient}, within this server's capabilities. @throws ConfigurationError as there. */
  registerClient(metadata: ClientMetadata): Promise<IssuedCredentials>
  /**
   * As {@link rotateClientSecret}: if it rejects, call again. To repeat it in another process, pass the same
   * `secret` from the first call on.
   *
   * @throws ConfigurationError as there.
   */
  rotateClientSecret(clientId: string, secret?: string): Promise<RotatedCredentials>
  /** As {@link dropOldClientSecrets}. @throws ConfigurationError as there. */
  dropOldClientSecrets(clientId: string): Promise<void>
  /** As {@link changeClient}, within this server's capabilities. @throws ConfigurationError as there. */
  changeClient(clientId: string, change: ClientChange): Promise<void>
  /**
   * Disables a client, also one that registered itself, at once and on every process. With the option
   * `authorizations`, this also ends its grants; if it rejects, call again. Without it, access tokens work
   * until they expire, or until `revoke()` ends their authorization.
   *
   * @throws ConfigurationError for an unknown client.
   */
  disableClient(clientId: string): Promise<void>
  /** Enables a disabled client again. @throws ConfigurationError for an unknown client. */
  enableClient(clientId: string): Promise<void>
  /**
   * Deletes a client for ever, also one that registered itself, at once and on every process. Only its
   * identifier stays taken. Its grants end as with {@link disableClient}. If it rejects, call again.
   *
   * @throws ConfigurationError for an unknown client.
   */
  deleteClient(clientId: string): Promise<void>
}

interface SelfRegisteredClients {
  setDisabled(clientId: string, disabled: boolean): Promise<boolean>
  // Also ends what the client got.
  remove(clientId: string): Promise<void>
}

// `revokeClient` runs after the write that shuts the client out.
export function clientRegistrar(
  clients: ClientRegistry | undefined,
  offered: ServerCapabilities,
  revokeClient: ((clientId: string) => Promise<void>) | undefined,
  selfRegistered: SelfRegisteredClients | undefined,
): ClientRegistrar {
  const writable = async (): Promise<ClientRegistry> => clients ?? cannotWrite()
  // The host may have taken over a client that registered itself.
  const strangersWith = async (clientId: string): Promise<SelfRegisteredClients | undefined> => {
    const isOfHost = isText(clientId) && (await clients?.find(clientId)) !== undefined
    return isOfHost ? undefined : selfRegistered
  }
  const setDisabled = async (clientId: string, disabled: boolean): Promise<void> => {
    const strangers = await strangersWith(clientId)
    if (strangers === undefined)
      return disabled ? disableClient(await writable(), clientId) : enableClient(await writable(), clientId)
    const isFound = isText(clientId) && (await strangers.setDisabled(clientId, disabled))
    if (!isFound) throw cannotChange(unknownClient)
  }
  return {
    registerClient: async (metadata) => registerClient(await writable(), metadata, offered),
    rotateClientSecret: async (clientId, secret) => rotateClientSecret(await writable(), clientId, secret),
    dropOldClientSecrets: async (clientId) => dropOldClientSecrets(await writable(), clientId),
    changeClient: async (clientId, change) => changeClient(await writable(), clientId, change, offered),
    async disableClient(clientId) {
      await setDisabled(clientId, true)
      await revokeClient?.(clientId)
    },
    enableClient: (clientId) => setDisabled(clientId, false),
    async deleteClient(clientId) {
      const strangers = await strangersWith(clientId)
      if (strangers !== undefined) {
        // First: the store forgets a removed client, and the call may be repeated.
        await setDisabled(clientId, true)
        return strangers.remove(clientId)
      }
      await deleteClient(await writable(), clientId)
      await revokeClient?.(clientId)
    },
  }
}

function cannotWrite(): never {
  const message = 'must be registeredClients(store): a list, and a store of the host, change elsewhere.'
  throw new ConfigurationError('Clients cannot be registered or changed here:', [
    { path: 'clients', message },
  ])
}
