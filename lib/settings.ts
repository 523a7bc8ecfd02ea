import type { Lifetimes } from './authorization/circumstances'
import type { ResolvedIssueLimits } from './attempts/issue-limits'
import type { Limit } from './attempts/limit'
import type { ResponseType } from './authorization-endpoint/response-type'
import type { ResolvedClientAuthenticationLimits } from './client-authentication/limit-options'
import type { ClientAuthenticationMethod } from './client-authentication/method'
import type { PkceRequirement } from './extensions/pkce'
import type { AuthorizationServerOptions } from './options'
import type { RateLimits } from './resolve-rate-limit'
import type { FindClient } from './protocol/client'
import type { Extension } from './protocol/extension'
import type { ServerCapabilities } from './protocol/parse-client'
import type { Scope } from './protocol/scope'
import type { TokenType } from './protocol/token-type'
import type { AuthorizationStore } from './stores/authorization-store'
import type { Counters } from './stores/counters'
import type { GrantType } from './token-endpoint/grant-type'
import type { ClientRegistry } from './stores/client-registry'

/** The options, complete and proven: what every room is wired from. */
export interface ServerSettings {
  readonly issuer: string
  /** The issuer's path without a slash at its end: where the host mounts the router. */
  readonly mount: string
  readonly tlsRequired: boolean
  readonly findClient: FindClient
  /** The clients once more, when they are where they can be registered and changed. */
  readonly clientRegistry: ClientRegistry | undefined
  /** What a registration may hold. */
  readonly capabilities: ServerCapabilities
  /** Each scope and what it lets a client do. */
  readonly scopes: ReadonlyMap<string, string>
  readonly defaultScope: Scope
  readonly resourceOwner: AuthorizationServerOptions['resourceOwner']
  readonly login: NonNullable<AuthorizationServerOptions['login']>
  readonly store: AuthorizationStore
  readonly counters: Counters
  readonly authorizationPath: string
  readonly tokenPath: string
  readonly revocationPath: string
  readonly introspectionPath: string
  readonly lifetimes: Lifetimes
  /** Those that the host added. */
  readonly grantTypes: readonly GrantType[]
  /** All of them, `code` first. */
  readonly responseTypes: readonly ResponseType[]
  /** All of them, `bearer` first. */
  readonly tokenTypes: readonly TokenType[]
  /** Of a client that names none. */
  readonly tokenType: string
  /** Those of the host, beside the built-in ones. */
  readonly clientAuthenticationMethods: readonly ClientAuthenticationMethod[]
  /** Of whom the first of the extensions asks for a proof. */
  readonly pkce: PkceRequirement
  readonly clientAuthenticationLimits: ResolvedClientAuthenticationLimits
  readonly extensions: readonly Extension[]
  readonly storeDeadline: number
  readonly closeDeadline: number
  readonly bodyDeadline: number
  /** Undefined when it is switched off. */
  readonly openRequestLimit: Limit | undefined
  readonly rateLimit: RateLimits
  readonly issueLimits: ResolvedIssueLimits
  /** Undefined when it is switched off. */
  readonly singleUseLimit: Limit | undefined
  readonly maintenance: AuthorizationServerOptions['maintenance']
  readonly errorUri: string | undefined
  readonly skipConsent: AuthorizationServerOptions['skipConsent']
  readonly consentPage: AuthorizationServerOptions['consentPage']
  readonly errorPage: AuthorizationServerOptions['errorPage']
  readonly clock: () => number
}
