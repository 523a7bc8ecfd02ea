import type { ResponseMode } from '../authorization-endpoint/response-modes'
import type { ResponseType } from '../authorization-endpoint/response-types'
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
import type { PageOptions } from '../http/pages/page-options'
import type { PageLocales } from '../http/pages/texts/locale'
import type { FindClient } from '../protocol/client'
import type { Endpoint } from '../protocol/endpoint'
import type { PageEndpoint } from '../protocol/page-endpoint'
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
import type { ClientRegistry } from '../clients/client-store'
import type { OpenClients } from '../clients/client-source'
import type { Counters } from '../limits/counters'
import type { RegisteredUses } from '../stores/registered-uses'
import type { Storage } from '../stores/storage'
import type { GrantType } from '../token-endpoint/grant-type'
import type { OpenedPlugIns, RunningServer } from './open-plug-ins'
import type { AuthorizationServerOptions } from './options'

/** The options of a guard after validation, with every default filled in. */
export interface GuardSettings {
  readonly issuer: string
  /** Each scope, with what the consent page says of it; undefined if only another process knows the scopes. */
  readonly scopes: ReadonlyMap<string, ScopeDescription> | undefined
  /** The protected resources; undefined if the host names none. */
  readonly resources: Resources | undefined
  /** The resource of every guard that has no table of resources; undefined if the guard does not know it. */
  readonly ownResource?: ResourceReference | undefined
  /** The scopes that each scope implies; undefined if no scope implies another. */
  readonly implied: ImpliedScopes | undefined
  /** All token types, `bearer` first. */
  readonly tokenTypes: readonly TokenType[]
  /** The formats of access tokens that guards read. */
  readonly accessTokenFormats: readonly AccessTokenReader[]
  readonly extensions: readonly Extension[]
  /** What a guard has unless its own options say otherwise. */
  readonly guards: ResolvedGuardDefaults
  /** Undefined if CORS is off. */
  readonly cors: AllowedOrigins
  readonly closeDeadline: number
  /** The URL of the page that explains error codes; undefined if the host has none. */
  readonly errorUri: string | undefined
  /** Whether the server explains refusals. False in production, whatever the option says. */
  readonly explainRefusals: boolean
  /** Milliseconds since the epoch. */
  readonly clock: () => number
}

/** The options of a server after validation, with every default filled in. */
export interface ServerSettings extends GuardSettings, ResolvedAuthorizations {
  /** The formats of access tokens. New tokens get the first one that issues. */
  readonly accessTokenFormats: readonly AccessTokenFormat[]
  /** The path of the issuer without a slash at its end. The host mounts the router at this path. */
  readonly mount: string
  /** Whether the endpoints refuse requests without TLS. False only for an http issuer on a loopback host. */
  readonly tlsRequired: boolean
  readonly findClient: FindClient
  /** Runs when a client of a resource owner gets a code or a token; undefined if the source of clients needs no notes. */
  readonly noteClientUse: OpenClients['noteUse']
  /** The store of clients if it can register and change clients; otherwise undefined. */
  readonly clientRegistry: ClientRegistry | undefined
  /** Notes the use of registered clients; undefined if their registry takes no notes. */
  readonly registeredUses: RegisteredUses | undefined
  /** The registered clients, and the path of the option that names them; undefined if there are none. */
  readonly registered: OpenClients['registered']
  /** Fetches documents of clients. */
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
  /** The endpoints of hosts and plug-ins only. */
  readonly endpoints: readonly Endpoint[]
  readonly pages: readonly PageEndpoint[]
  /** Undefined if no client can register itself. */
  readonly dynamicRegistration: DynamicRegistration | undefined
  readonly lifetimes: Lifetimes
  readonly refreshTokenExpiresIn: boolean
  readonly refreshTokenRotation: boolean
  /** Whether requests may name the scope `offline_access` without effect. */
  readonly offlineAccess: boolean
  /** The grant types of hosts and plug-ins only. */
  readonly grantTypes: readonly GrantType[]
  /** All response types, `code` first. */
  readonly responseTypes: readonly ResponseType[]
  /** The response modes of plug-ins, beside `query` and `fragment`. */
  readonly responseModes: readonly ResponseMode[]
  /** The token type of a client whose registration names none. */
  readonly tokenType: string
  /** The methods of hosts and plug-ins only, without the built-in methods. */
  readonly clientAuthenticationMethods: readonly ClientAuthenticationMethod[]
  /** Which clients must use PKCE. PKCE is the first of `extensions`. */
  readonly pkce: PkceRequirement
  readonly clientAuthenticationLimits: ResolvedClientAuthenticationLimits
  readonly storeDeadline: number
  readonly bodyDeadline: number
  /** Undefined if the limit is off. */
  readonly openRequestLimit: Limit | undefined
  readonly rateLimit: RateLimits
  readonly issueLimits: ResolvedIssueLimits
  /** Undefined if the limit is off. */
  readonly singleUseLimit: Limit | undefined
  /** How many self-registered clients one owner keeps alive; undefined if the share is off. */
  readonly selfRegisteredClients: number | undefined
  readonly maintenance: AuthorizationServerOptions['maintenance']
  readonly skipConsent: AuthorizationServerOptions['skipConsent']
  readonly choices: AuthorizationServerOptions['choices']
  /** How long a consent counts, in seconds; undefined if the server remembers none. */
  readonly rememberConsent: { readonly seconds: number } | undefined
  readonly consentPage: PageOptions['consent']
  readonly errorPage: PageOptions['error']
  readonly connectedPage: PageOptions['connected']
  /** Whether a popup keeps the client that opened it. */
  readonly popups: boolean
  readonly pageLocales: PageLocales
  readonly plugIns: OpenedPlugIns<RunningServer>
}
