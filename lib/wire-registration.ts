import { offeredGrantTypes } from './offered-grant-types'
import { clientRegistrar, type ClientRegistrar } from './registration/client-registrar'
import type { ServerSettings } from './settings'
import { clientsWithDeadline } from './stores/deadline'
import type { ClientEndpoints } from './wire-client-endpoints'

/** Registration within what this server offers. */
export function wireRegistration(settings: ServerSettings, { grantTypes }: ClientEndpoints): ClientRegistrar {
  const { clientRegistry, capabilities, resourceOwner, storeDeadline } = settings
  const offered = {
    ...capabilities,
    grantTypes: offeredGrantTypes(settings, grantTypes),
    responseTypes: resourceOwner === undefined ? [] : settings.responseTypes,
  }
  const clients = clientRegistry && clientsWithDeadline(clientRegistry, storeDeadline)
  return clientRegistrar(clients, offered)
}
