import { ConfigurationError } from '../primitives/options-reader'
import type { ServerCapabilities } from '../protocol/parse-client'
import type { ClientRegistry } from './client-store'
import { dropOldClientSecrets, rotateClientSecret, type RotatedCredentials } from './client-secrets'
import { disableClient, enableClient } from './change-registration'
import { registerClient, type ClientMetadata, type IssuedCredentials } from './register-client'

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
   * Disables a client, at once and on every process. With the option `authorizations`, this also ends what the client
   * has got, as `authorizations.revokeClient()` does: if the store fails in between, call the function again. Without
   * the option, access tokens of the client work until they expire, or until `revoke()` ends their authorization.
   *
   * @throws ConfigurationError if no client has this identifier.
   */
  disableClient(clientId: string): Promise<void>
  /** Enables a disabled client again. @throws ConfigurationError if no client has this identifier. */
  enableClient(clientId: string): Promise<void>
}

/**
 * Makes the registrar of a server.
 *
 * @param clients undefined if the server cannot add or change clients.
 * @param revokeClient ends what a client has got, after the write that shuts the client out; undefined without marks of
 * clients.
 */
export function clientRegistrar(
  clients: ClientRegistry | undefined,
  offered: ServerCapabilities,
  revokeClient: ((clientId: string) => Promise<void>) | undefined,
): ClientRegistrar {
  const writable = async (): Promise<ClientRegistry> => clients ?? cannotWrite()
  return {
    registerClient: async (metadata) => registerClient(await writable(), metadata, offered),
    rotateClientSecret: async (clientId, secret) => rotateClientSecret(await writable(), clientId, secret),
    dropOldClientSecrets: async (clientId) => dropOldClientSecrets(await writable(), clientId),
    disableClient: async (clientId) => {
      await disableClient(await writable(), clientId)
      await revokeClient?.(clientId)
    },
    enableClient: async (clientId) => enableClient(await writable(), clientId),
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
