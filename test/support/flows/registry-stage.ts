import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import {
  redisStore,
  registeredClients,
  type AuthorizationServerOptions,
  type ClientRegistry,
  type AuditEvent,
  type Store,
} from '../../../lib/index'
import { withRedis } from '../with-redis'
import { application, type Application } from './application'

/** A host application whose clients register while it runs; another process of it shares both stores. */
export interface RegistryStage extends Application {
  readonly clients: Required<ClientRegistry>
  readonly store: Store
  /** What the server reported of old secrets, in order. */
  readonly oldSecrets: readonly AuditEvent[]
}

export type SetRegistryStage = (options?: Partial<AuthorizationServerOptions>) => RegistryStage

/** Tells stories with clients and authorizations on a real Redis; the contract of a registry holds for each. */
export function describeOnRegistry(title: string, stories: (stage: SetRegistryStage) => void): void {
  describe(title, () => {
    let client: Redis
    withRedis((started) => {
      client = started.client
    })
    stories((options) => {
      const store = redisStore({ client, prefix: `flow:${randomUUID()}:` })
      const clients = registeredClients(store)
      const staged = application({ store, clients, ...options })
      const oldSecrets: AuditEvent[] = []
      staged.oauth.events.on('oldSecretUsed', (use) => oldSecrets.push(use))
      return { ...staged, store, clients, oldSecrets }
    })
  })
}
