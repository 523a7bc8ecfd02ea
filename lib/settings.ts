import type { Lifetimes } from './authorization/circumstances'
import type { ResponseType } from './authorization-endpoint/response-type'
import type { AuthorizationServerOptions } from './options'
import type { FindClient } from './protocol/client'
import type { Extension } from './protocol/extension'
import type { Vocabulary } from './protocol/parse-client'
import type { Scope } from './protocol/scope'
import type { AuthorizationStore } from './stores/authorization-store'
import type { ClientRegistry } from './stores/client-registry'

/** The options, complete and proven: what every room is wired from. */
export interface Settings {
  readonly issuer: string
  /** The issuer's path without a slash at its end: where the host mounts the router. */
  readonly mount: string
  readonly tlsRequired: boolean
  readonly findClient: FindClient
  /** The clients once more, when they are where they can be registered and changed. */
  readonly clientRegistry: ClientRegistry | undefined
  /** What a registration may hold. */
  readonly vocabulary: Vocabulary
  /** Each scope and what it lets a client do. */
  readonly scopes: ReadonlyMap<string, string>
  readonly defaultScope: Scope
  readonly resourceOwner: AuthorizationServerOptions['resourceOwner']
  readonly login: NonNullable<AuthorizationServerOptions['login']>
  readonly store: AuthorizationStore
  readonly authorizationPath: string
  readonly tokenPath: string
  readonly revocationPath: string
  readonly introspectionPath: string
  readonly lifetimes: Lifetimes
  /** All of them, `code` first. */
  readonly responseTypes: readonly ResponseType[]
  readonly extensions: readonly Extension[]
  readonly storeDeadline: number
  readonly maintenance: AuthorizationServerOptions['maintenance']
  readonly errorUri: string | undefined
  readonly consentPage: AuthorizationServerOptions['consentPage']
  readonly errorPage: AuthorizationServerOptions['errorPage']
  readonly clock: () => number
}
