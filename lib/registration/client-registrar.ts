import { ConfigurationError } from '../protocol/configuration'
import type { ServerCapabilities } from '../protocol/parse-client'
import type { ClientRegistry } from '../stores/client-store'
import { dropOldClientSecrets, rotateClientSecret, type RotatedCredentials } from './client-secrets'
import { disableClient, enableClient } from './change-registration'
import { registerClient, type ClientMetadata, type IssuedCredentials } from './register-client'

/**
 * Registers and changes clients of one server, whose option `clients` is then a store that can be written to: all of
 * these reject with a ConfigurationError when it is not. None of them asks who calls: that is the host's to settle.
 */
export interface ClientRegistrar {
  /**
   * Registers a client within what this server offers, and issues its identifier and secret.
   *
   * @throws ConfigurationError that lists every mistake, or because the chosen `client_id` is taken.
   */
  registerClient(metadata: ClientMetadata): Promise<IssuedCredentials>
  /**
   * Issues a new secret; the one that was current works on beside it.
   *
   * A rotation that rejects because of trouble, such as `storeDeadline`, may be written all the same. Call it again: this
   * process finishes the rotation with the secret that it began with, and drops no other one. A repetition in another
   * process must pass that `secret`, the `client_secret` of `generateClientSecret()`, from the first call on.
   */
  rotateClientSecret(clientId: string, secret?: string): Promise<RotatedCredentials>
  /** Ends a rotation: from now on only the current secret works. */
  dropOldClientSecrets(clientId: string): Promise<void>
  /** Shuts a client out, at once and on every process. Access tokens that it has already are not asked about. */
  disableClient(clientId: string): Promise<void>
  /** Lets a disabled client in again. */
  enableClient(clientId: string): Promise<void>
}

/** @param clients undefined when the server's clients cannot be written to. */
export function clientRegistrar(
  clients: ClientRegistry | undefined,
  offered: ServerCapabilities,
): ClientRegistrar {
  const writable = async (): Promise<ClientRegistry> => clients ?? cannotWrite()
  return {
    registerClient: async (metadata) => registerClient(await writable(), metadata, offered),
    rotateClientSecret: async (clientId, secret) => rotateClientSecret(await writable(), clientId, secret),
    dropOldClientSecrets: async (clientId) => dropOldClientSecrets(await writable(), clientId),
    disableClient: async (clientId) => disableClient(await writable(), clientId),
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
