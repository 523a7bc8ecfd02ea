import { type ClientRegistrar, clientRegistrar } from '../clients/client-registrar'
import { anyCapabilities } from '../protocol/parse-client'
import type { CommandStore } from './command'

/** The registrar of a store, which knows the capabilities of no server. */
export function registrarOf({ clients, dynamicClients }: CommandStore): ClientRegistrar {
  return clientRegistrar(clients, anyCapabilities, undefined, dynamicClients)
}
