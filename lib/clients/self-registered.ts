import { isText } from '../primitives/values'
import { cannotChange, unknownClient } from './change-registration'
import type { DynamicClientStore } from '../stores/dynamic-client-store'

export type SelfRegisteredClients = Pick<DynamicClientStore, 'update' | 'remove'>

export async function disableSelfRegistered(
  clients: SelfRegisteredClients,
  clientId: string,
  disabled = true,
): Promise<void> {
  const found = isText(clientId)
    ? await clients.update(clientId, (client) => {
        const { registration } = client
        if ((registration.disabled === true) === disabled) return client
        return { ...client, registration: { ...registration, disabled } }
      })
    : undefined
  if (found === undefined) throw cannotChange(unknownClient)
}
