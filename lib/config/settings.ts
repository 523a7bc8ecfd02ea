import type { ResponseMode } from '../protocol/response-modes'
import type { ResponseType } from '../authorization/response-types'
import type { Lifetimes } from '../authorization/lifetimes'
import type { ResolvedClientAuthenticationLimits } from '../client-authentication/credential-throttle'
import type { ClientAuthenticationMethod } from '../client-authentication/method'
import type { AllowedOrigins } from '../http/cors'
import type { DynamicRegistration } from '../clients/dynamic-registration/registration-options'
import type { ResourceReference } from '../endpoints/protected-resource-metadata'
import type { PkceRequirement } from '../extensions/pkce'
import type { ResolvedGuardDefaults } from '../http/guard-defaults'
import type { RateLimits } from '../limits/rate-limit-options'
import type { ResolvedAuthorizations } from '../connected-applications/authorizations-options'
import type { PageOptions } from '../pages/page-options'
import type { PageLocales } from '../pages/texts/locale'
import type { FindClient } from '../protocol/client'
import type { Endpoint } from '../protocol/endpoint'
import type { PageEndpoint } from '../doors/page-endpoint'
import type { Extension } from '../protocol/extension'
import type { ExtensionMetadata } from '../protocol/extension-metadata'
import type { ImpliedScopes } from '../protocol/implied-scope'
import type { ServerCapabilities } from '../protocol/parse-client'
import type { Scope } from '../protocol/scope'
import type { ScopeDescription } from '../protocol/scope-description'
import type { AccessTokenFormat, AccessTokenReader } from '../protocol/access-token-format'
import type { TokenType } from '../protocol/token-type'
import type { ResolvedIssueLimits } from '../limits/issue-limits'
import type { Limit } from '../limits/limit'
import type { Resources } from '../extensions/resource-indicators/resources'
import type { ClientRegistry } from '../stores/client-store'
import type { OpenClients } from '../clients/client-source'
import type { Counters } from '../limits/counters'
import type { RegisteredUses } from '../stores/registered-uses'
import type { Storage } from '../stores/storage'
import type { GrantType } from '../authorization/grant-type'
import type { OpenedPlugIns, RunningServer } from './open-plug-ins'
import type { AuthorizationServerOptions } from './options'

export interface GuardSettings {
  readonly issuer: string
  /** Undefined if only another process knows the scopes. */
  readonly scopes: ReadonlyMap<string, ScopeDescription> | undefined
  readonly resources: Resources | undefined
  readonly ownResource?: ResourceReference | undefined
  readonly implied: ImpliedScopes | undefined
  /** `bearer` first. */
  readonly tokenTypes: readonly TokenType[]
  readonly accessTokenFormats: readonly AccessTokenReader[]
  readonly extensions: readonly Extension[]
  readonly guards: ResolvedGuardDefaults
  /** Undefined if CORS is off. */
  readonly cors: AllowedOrigins
  readonly closeDeadline: number
  readonly errorUri: string | undefined
  /** False in production, whatever the option says. */
  readonly explainRefusals: boolean
  /** Milliseconds since the epoch. */
  readonly clock: () => number
}

export interface ServerSettings extends GuardSettings, ResolvedAuthorizations {
  /** New tokens get the first one that issues. */
  readonly accessTokenFormats: readonly AccessTokenFormat[]
  /** The path of the issuer without a slash at its end. */
  readonly mount: string
  /** False only for an http issuer on a loopback host. */
  readonly tlsRequired: boolean
  readonly findClient: FindClient
  /** Runs when a client of a resource owner gets a code or a token. */
  readonly noteClientUse: OpenClients['noteUse']
  /** Undefined if the store of clients cannot change them. */
  readonly clientRegistry: ClientRegistry | undefined
  readonly registeredUses: RegisteredUses | undefined
  /** With the path of the option that names them. */
  readonly registered: OpenClients['registered']
  readonly clientDocuments: NonNullable<OpenClients['documents']>
  readonly clientMetadata: ExtensionMetadata
  readonly capabilities: ServerCapabilities
  readonly scopes: ReadonlyMap<string, ScopeDescription>
  readonly defaultScope: Scope
  readonly resourceOwner: AuthorizationServerOptions['resourceOwner']
  readonly login: NonNullable<AuthorizationServerOptions['login']>
  readonly logOut: AuthorizationServerOptions['logOut']
  readonly store: Storage
  readonly counters: Counters
  readonly authorizationPath: string
  readonly tokenPath: string
  readonly revocationPath: string
  readonly introspectionPath: string
  /** Of hosts and plug-ins only. */
  readonly endpoints: readonly Endpoint[]
  readonly pages: readonly PageEndpoint[]
  readonly dynamicRegistration: DynamicRegistration | undefined
  readonly lifetimes: Lifetimes
  readonly refreshTokenExpiresIn: boolean
  readonly refreshTokenRotation: boolean
  readonly offlineAccess: boolean
  /** Of hosts and plug-ins only. */
  readonly grantTypes: readonly GrantType[]
  /** `code` first. */
  readonly responseTypes: readonly ResponseType[]
  /** Of plug-ins, beside `query` and `fragment`. */
  readonly responseModes: readonly ResponseMode[]
  readonly tokenType: string
  /** Of hosts and plug-ins only. */
  readonly clientAuthenticationMethods: readonly ClientAuthenticationMethod[]
  /** PKCE is the first of `extensions`. */
  readonly pkce: PkceRequirement
  readonly clientAuthenticationLimits: ResolvedClientAuthenticationLimits
  readonly storeDeadline: number
  readonly bodyDeadline: number
  readonly openRequestLimit: Limit | undefined
  readonly rateLimit: RateLimits
  readonly issueLimits: ResolvedIssueLimits
  readonly singleUseLimit: Limit | undefined
  readonly selfRegisteredClients: number | undefined
  readonly maintenance: AuthorizationServerOptions['maintenance']
  readonly skipConsent: AuthorizationServerOptions['skipConsent']
  readonly choices: AuthorizationServerOptions['choices']
  readonly rememberConsent: { readonly seconds: number } | undefined
  readonly consentPage: PageOptions['consent']
  readonly errorPage: PageOptions['error']
  readonly connectedPage: PageOptions['connected']
  readonly popups: boolean
  readonly pageLocales: PageLocales
  readonly plugIns: OpenedPlugIns<RunningServer>
}
