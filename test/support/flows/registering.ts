import request, { type Response } from 'supertest'
import { type AuthorizationServerOptions, memoryStore, type Store } from '../../../lib/index'
import { application, type Application, type Hosting } from './application'
import { Clock } from './clock'
import { type OpenStore, storesHere } from './stores-of-run'

/** Seconds. */
export const hour = 3600
/** Seconds. */
export const day = 24 * hour

/** A host application at which clients register themselves, in a time of its own. */
export interface RegisteringStage extends Application {
  readonly clock: Clock
  readonly store: Store
  /** Registers a client over HTTP. */
  readonly register: (metadata: unknown, headers?: Record<string, string>) => Promise<Response>
}

export type SetRegisteringStage = (
  registration?: NonNullable<AuthorizationServerOptions['dynamicRegistration']>,
  options?: Partial<AuthorizationServerOptions>,
  hosting?: Hosting,
) => RegisteringStage

/** Sets stages on stores that are opened so. */
export function registeringOn(open: OpenStore): SetRegisteringStage {
  return (registration = {}, options, hosting) => {
    const clock = new Clock()
    const store = open(clock.read)
    const always = { store, clock: clock.read, storeDeadline: 10, dynamicRegistration: registration }
    const staged = application({ ...always, ...options }, hosting)
    const register = async (metadata: unknown, headers: Record<string, string> = {}) =>
      request(staged.app)
        .post('/register')
        .set({ 'Content-Type': 'application/json', ...headers })
        .send(typeof metadata === 'string' ? metadata : JSON.stringify(metadata))
    return { ...staged, clock, store, ...(options?.store && { store: options.store }), register }
  }
}

export const inMemory: OpenStore = (clock) => memoryStore({ clock })

/** The record of a client that registered itself, as it is stored; undefined if the client is unknown. */
export async function storedClient({ store }: Pick<RegisteringStage, 'store'>, clientId: string) {
  const found = await store.read(`client:${clientId}`)
  return found && JSON.parse(found.value)
}

/** Tells stories with dynamic clients on the store of the run. */
export function describeRegistration(title: string, stories: (stage: SetRegisteringStage) => void): void {
  describe(title, () => stories(registeringOn(storesHere())))
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
