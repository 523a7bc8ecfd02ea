import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import {
  redisStore,
  type AuthorizationServerOptions,
  type AuthorizationStore,
  type ClientRegistry,
  type AuditEvent,
} from '../../../lib/index'
import { withRedis } from '../with-redis'
import { application, type Application } from './application'

/** A host application whose clients register while it runs; another process of it shares both stores. */
export interface RegistryStage extends Application {
  readonly clients: ClientRegistry
  readonly store: AuthorizationStore
  /** What the server reported of old secrets, in order. */
  readonly oldSecrets: readonly AuditEvent[]
}

export type SetRegistryStage = (options?: Partial<AuthorizationServerOptions>) => RegistryStage

// A machine under load is not a store in trouble.
const patience = 10

interface Stores {
  readonly store: AuthorizationStore
  readonly clients: ClientRegistry
}

/** Tells stories with clients and authorizations on a real Redis; the contract of a registry holds for each. */
export function describeOnRegistry(title: string, stories: (stage: SetRegistryStage) => void): void {
  describe(title, () => {
    const open = onRedis()
    stories((options) => {
      const stores = open()
      const staged = application({ ...stores, storeDeadline: patience, ...options })
      const oldSecrets: AuditEvent[] = []
      staged.oauth.events.on('oldSecretUsed', (use) => oldSecrets.push(use))
      return { ...staged, ...stores, oldSecrets }
    })
  })
}

function onRedis(): () => Stores {
  let client: Redis
  withRedis((started) => {
    client = started.client
  })
  return () => {
    const store = redisStore({ client, prefix: `flow:${randomUUID()}:` })
    return { store, clients: store.clients }
  }
}
