import { ConfigurationError, isText } from '../primitives/options-reader'
import type { ServerCapabilities } from '../protocol/parse-client'
import type { ClientRegistry } from './client-store'
import { dropOldClientSecrets, rotateClientSecret, type RotatedCredentials } from './client-secrets'
import { changeClient, type ClientChange } from './change-client'
import { deleteClient, disableClient, enableClient } from './change-registration'
import { registerClient, type ClientMetadata, type IssuedCredentials } from './register-client'
import { disableSelfRegistered, type SelfRegisteredClients } from './self-registered'

/**
 * Registers and changes the clients of one server. The option `clients` of the server must be a store that can add and
 * change clients; otherwise every function rejects with a ConfigurationError. No function checks who calls: that is up
 * to the host.
 */
export interface ClientRegistrar {
  /**
   * Registers a client within the capabilities of this server, and issues its identifier and, to a confidential client,
   * a secret.
   *
   * @throws ConfigurationError that lists every mistake, or if the chosen `client_id` is taken.
   */
  registerClient(metadata: ClientMetadata): Promise<IssuedCredentials>
  /**
   * Issues a new secret. The previous secret still works; older secrets do not.
   *
   * If the store fails, for example at `storeDeadline`, the rotation rejects, but the store may have written the
   * rotation. Call the function again: this process finishes the same rotation with the same secret, and drops no other
   * secret. To repeat a rotation in another process, pass the same `secret` from the first call on: the `client_secret`
   * of `generateClientSecret()`.
   *
   * @throws ConfigurationError if no client has this identifier, the client authenticates without a secret, or `secret`
   * is malformed.
   */
  rotateClientSecret(clientId: string, secret?: string): Promise<RotatedCredentials>
  /**
   * Ends a rotation: from now on only the current secret works.
   *
   * @throws ConfigurationError if no client has this identifier, the client authenticates without a secret, or a
   * rotation of this process has failed and is not repeated yet.
   */
  dropOldClientSecrets(clientId: string): Promise<void>
  /**
   * Changes members of a registration, within the capabilities of this server. Each member of `change` replaces the
   * member of the registration, undefined and null remove it. The identifier, the type and the secrets stay.
   *
   * @throws ConfigurationError that lists every mistake of the registration as it would be, or if no client has this
   * identifier.
   */
  changeClient(clientId: string, change: ClientChange): Promise<void>
  /**
   * Disables a client, at once and on every process, also one that registered itself. With the option
   * `authorizations`, this also ends what the client has got, as `authorizations.revokeClient()` does: if the store
   * fails in between, call the function again. Without the option, access tokens of the client work until they expire,
   * or until `revoke()` ends their authorization.
   *
   * @throws ConfigurationError if no client has this identifier.
   */
  disableClient(clientId: string): Promise<void>
  /** Enables a disabled client again. @throws ConfigurationError if no client has this identifier. */
  enableClient(clientId: string): Promise<void>
  /**
   * Deletes a client for ever, at once and on every process, also one that registered itself. Its identifier stays
   * taken, and nothing else of it stays. What the client has got ends as with {@link disableClient}. If the call
   * rejects, repeat it.
   *
   * @throws ConfigurationError if no client has this identifier.
   */
  deleteClient(clientId: string): Promise<void>
}

/**
 * Makes the registrar of a server.
 *
 * @param clients undefined if the server cannot add or change clients.
 * @param revokeClient ends what a client has got, after the write that shuts the client out; undefined without marks of
 * clients.
 * @param selfRegistered undefined if no client registers itself.
 */
export function clientRegistrar(
  clients: ClientRegistry | undefined,
  offered: ServerCapabilities,
  revokeClient: ((clientId: string) => Promise<void>) | undefined,
  selfRegistered: SelfRegisteredClients | undefined,
): ClientRegistrar {
  const writable = async (): Promise<ClientRegistry> => clients ?? cannotWrite()
  // A host may have taken over a client that registered itself: the registration of the host counts.
  const ofRegistry = async (clientId: string): Promise<boolean> =>
    selfRegistered === undefined ||
    (clients !== undefined && isText(clientId) && (await clients.find(clientId)) !== undefined)
  const setDisabled = async (clientId: string, disabled: boolean): Promise<void> => {
    if (selfRegistered !== undefined && !(await ofRegistry(clientId)))
      return disableSelfRegistered(selfRegistered, clientId, disabled)
    return disabled ? disableClient(await writable(), clientId) : enableClient(await writable(), clientId)
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
      if (selfRegistered === undefined || (await ofRegistry(clientId))) {
        await deleteClient(await writable(), clientId)
        await revokeClient?.(clientId)
        return
      }
      // The store forgets a removed client, so the removal comes last: until then the call may be repeated.
      await disableSelfRegistered(selfRegistered, clientId)
      await revokeClient?.(clientId)
      await selfRegistered.remove(clientId)
    },
  }
}

function cannotWrite(): never {
  throw new ConfigurationError('Clients cannot be registered or changed here:', [
    {
      path: 'clients',
      message:
        'must be a store with the functions find, add, update and list, as redisStore({ url }).clients and memoryClients() have.',
    },
  ])
}
