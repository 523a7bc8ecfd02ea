import type { AuthorizationServerOptions, AuditEvent, Store } from '../../../lib/index'
import { registeredClients, type ClientRegistry } from '../../../lib/paths/registration'
import { application, type Application } from './application'
import { storesHere } from './stores-of-run'

/** A host application whose clients register while it runs; another process of it shares both stores. */
export interface RegistryStage extends Application {
  readonly clients: ClientRegistry
  readonly store: Store
  /** What the server reported of old secrets, in order. */
  readonly oldSecrets: readonly AuditEvent[]
}

export type SetRegistryStage = (options?: Partial<AuthorizationServerOptions>) => RegistryStage

/** Tells stories with clients and authorizations on the store of the run; the contract of a registry holds for each. */
export function describeOnRegistry(title: string, stories: (stage: SetRegistryStage) => void): void {
  describe(title, () => {
    const open = storesHere()
    stories((options) => {
      const store = open(Date.now)
      const clients = registeredClients(store)
      const staged = application({ store, clients, ...options })
      const oldSecrets: AuditEvent[] = []
      staged.oauth.events.on('oldSecretUsed', (use) => oldSecrets.push(use))
      return { ...staged, store, clients, oldSecrets }
    })
  })
}
