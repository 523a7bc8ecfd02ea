import type { ClientRegistration } from '../protocol/client'
import { ConfigurationError, isText } from '../protocol/configuration'
import type { ClientRegistry } from '../stores/client-registry'

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
