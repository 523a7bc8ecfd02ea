import type { ResponseMode } from '../protocol/response-types'
import type { ResponseType } from '../authorization/response-types'
import type { ClientAuthenticationMethod } from '../client-authentication/method'
import type { Edge, EdgeSettings } from '../http/edge'
import type { DynamicRegistration } from '../clients/dynamic-registration/registration-options'
import type { PkceRequirement } from '../extensions/pkce'
import type { ResolvedAuthorizations } from '../connected-applications/authorizations-options'
import type { PageOptions } from '../pages/page-options'
import type { PageEndpoint } from '../doors/page-endpoint'
import type { ExtensionMetadata } from '../protocol/extension-metadata'
import type { ServerCapabilities } from '../protocol/parse-client'
import type { ClientRegistry } from '../stores/clients'
import type { OpenClients } from '../clients/open-clients'
import type { TimelyStore } from '../store/deadline'
import type { Store } from '../store/store'
import type { OpenedPlugins } from './open-plug-ins'
import type { AuthorizationServerOptions } from './options'
import type { ServerLimits } from './resolve-limits'

export interface ServerSettings extends EdgeSettings, ResolvedAuthorizations {
  /** Undefined if the clients are not those of `registeredClients(store)`. */
  readonly clientRegistry: ClientRegistry | undefined
  /** With the path of the option that names them. */
  readonly registered: OpenClients['registered']
  readonly clientMetadata: ExtensionMetadata
  readonly capabilities: ServerCapabilities
  readonly givenStore: Store
  readonly store: TimelyStore
  /** With its deadline. */
  readonly counters: Store
  readonly tokenPath: string
  readonly revocationPath: string
  readonly introspectionPath: string
  readonly pages: readonly PageEndpoint[]
  readonly dynamicRegistration: DynamicRegistration | undefined
  readonly offlineAccess: boolean
  readonly narrowScope: boolean
  /** `code` first. */
  readonly responseTypes: readonly ResponseType[]
  /** Of plug-ins, beside `query` and `fragment`. */
  readonly responseModes: readonly ResponseMode[]
  /** Of hosts and plug-ins only. */
  readonly clientAuthenticationMethods: readonly ClientAuthenticationMethod[]
  readonly verifyDigest: AuthorizationServerOptions['verifyDigest']
  /** The first one is PKCE. */
  readonly pkce: PkceRequirement
  readonly limits: ServerLimits
  readonly maintenance: AuthorizationServerOptions['maintenance']
  readonly connectedPage: PageOptions['connected']
  readonly plugins: OpenedPlugins<Edge>
}

export interface ServerContext extends Edge {
  readonly settings: ServerSettings
}
