import { type ClientRegistrar, clientRegistrar } from '../clients/client-registrar'
import { anyCapabilities } from '../protocol/parse-client'
import type { CommandAnswer, CommandStore } from './command'
import { endWhatClientGot } from './end-what-client-got'

/** Knows the capabilities of no server. */
export function registrarOf(
  { clients, dynamicClients }: CommandStore,
  revokeClient?: (clientId: string) => Promise<void>,
): ClientRegistrar {
  return clientRegistrar(clients, anyCapabilities, revokeClient, dynamicClients)
}

export async function shutOut(
  store: CommandStore,
  issuers: unknown,
  act: (registrar: ClientRegistrar) => Promise<void>,
): Promise<Pick<CommandAnswer, 'note' | 'trouble'>> {
  let said: Pick<CommandAnswer, 'note' | 'trouble'> = {}
  const revokeClient = async (clientId: string) => {
    said = await endWhatClientGot(store, clientId, issuers)
  }
  await act(registrarOf(store, revokeClient))
  return said
}
