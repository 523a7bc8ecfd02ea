import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import request, { type Response } from 'supertest'
import {
  type AuthorizationServerOptions,
  type DynamicClient,
  type DynamicClientStore,
  memoryDynamicClients,
  memoryStore,
  redisStore,
} from '../../../lib/index'
import { withRedis } from '../with-redis'
import { application, type Application } from './application'
import { Clock } from './clock'

/** Seconds. */
export const hour = 3600
/** Seconds. */
export const day = 24 * hour

/** A host application at which clients register themselves, in a time of its own. */
export interface RegisteringStage extends Application {
  readonly clock: Clock
  readonly clients: DynamicClientStore
  readonly store: NonNullable<AuthorizationServerOptions['store']>
  /** Registers a client over HTTP. */
  readonly register: (metadata: unknown, headers?: Record<string, string>) => Promise<Response>
}

export type SetRegisteringStage = (
  registration?: NonNullable<AuthorizationServerOptions['dynamicRegistration']>,
  options?: Partial<AuthorizationServerOptions>,
) => RegisteringStage

type OpenStores = (
  clock: () => number,
) => Required<Pick<AuthorizationServerOptions, 'store'>> & { readonly clients: DynamicClientStore }

/** Sets stages on stores that are opened so. */
export function registeringOn(open: OpenStores): SetRegisteringStage {
  return (registration, options) => {
    const clock = new Clock()
    const { store, clients } = open(clock.read)
    const staged = application({
      store,
      clock: clock.read,
      storeDeadline: 10,
      dynamicRegistration: { store: clients, ...registration },
      ...options,
    })
    const register = async (metadata: unknown, headers: Record<string, string> = {}) =>
      request(staged.app)
        .post('/register')
        .set({ 'Content-Type': 'application/json', ...headers })
        .send(typeof metadata === 'string' ? metadata : JSON.stringify(metadata))
    return { ...staged, clock, clients, store, register }
  }
}

export const inMemory: OpenStores = (clock) => ({
  store: memoryStore({ clock }),
  clients: memoryDynamicClients({ clock }),
})

/** A store of clients that has its verbs from the present one. */
export const clientsOf = (present: () => DynamicClientStore): DynamicClientStore => ({
  find: (id) => present().find(id),
  add: (addition) => present().add(addition),
  update: (id, change) => present().update(id, change),
  remove: (id) => present().remove(id),
  extend: (...words) => present().extend(...words),
})

/** What a host writes that disables a client. */
export const disabled = (found: DynamicClient): DynamicClient => ({
  ...found,
  registration: { ...found.registration, disabled: true },
})

/** Tells stories with dynamic clients on a real Redis; the contract of a store holds for each store. */
export function describeRegistration(title: string, stories: (stage: SetRegisteringStage) => void): void {
  describe(title, () => {
    let client: Redis
    withRedis((started) => {
      client = started.client
    })
    stories(
      registeringOn((clock) => {
        const store = redisStore({ client, prefix: `flow:${randomUUID()}:`, clock })
        return { store, clients: store.dynamicClients }
      }),
    )
  })
}

/** Metadata of a public client, as an app sends them. */
export const notesApp = {
  client_name: 'Notes',
  redirect_uris: ['https://notes.example/callback'],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
  scope: 'photos:read',
}

/** Metadata of a confidential client. */
export const notesService = { ...notesApp, token_endpoint_auth_method: 'client_secret_basic' }
