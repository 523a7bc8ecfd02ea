import { clientRegistrar, type ClientRegistrar } from './registration/client-registrar'
import type { Settings } from './settings'
import { clientsWithDeadline } from './stores/deadline'

// Without a resource owner there is no authorization endpoint, and so nothing that begins there.
const withoutResourceOwner = { grantTypes: ['client_credentials'], responseTypes: [] }

/** Registration within what this server offers. */
export function wireRegistration(settings: Settings): ClientRegistrar {
  const { clientRegistry, vocabulary, resourceOwner, storeDeadline } = settings
  const offered = resourceOwner === undefined ? { ...vocabulary, ...withoutResourceOwner } : vocabulary
  const clients = clientRegistry && clientsWithDeadline(clientRegistry, storeDeadline)
  return clientRegistrar(clients, offered)
}
