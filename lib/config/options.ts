import type { Request, Response } from 'express'
import type { PriorConsentQuestion } from '../authorization-endpoint/authorize'
import type { ResponseType } from '../authorization-endpoint/response-types'
import type { Lifetimes } from '../authorization/transition'
import type {
  ClientAuthenticationLimits,
  ResolvedClientAuthenticationLimits,
} from '../client-authentication/credential-throttle'
import type { ClientAuthenticationMethod } from '../client-authentication/method'
import type { PkceRequirement } from '../extensions/pkce'
import type { RateLimitOptions, RateLimits } from '../http/network-limit'
import type { ConsentView } from '../http/pages/consent-page'
import type { ErrorView } from '../http/pages/pages'
import type { ClientRegistration, FindClient } from '../protocol/client'
import type { Endpoint } from '../protocol/endpoint'
import type { Extension } from '../protocol/extension'
import type { ServerCapabilities } from '../protocol/parse-client'
import type { ResourceOwner } from '../protocol/resource-owner'
import type { Scope } from '../protocol/scope'
import type { TokenType } from '../protocol/token-type'
import type { IssueLimitOptions, ResolvedIssueLimits } from '../rate-limit/issue-limits'
import type { Limit, LimitOption } from '../rate-limit/limit'
import type { AuthorizationStore } from '../stores/authorization-store'
import type { ClientRegistry, ClientStore } from '../stores/client-store'
import type { Counters } from '../stores/counters'
import type { GrantType } from '../token-endpoint/grant-type'

type Eventually<T> = T | Promise<T>

/** Options of `createAuthorizationServer`. Lifetimes are seconds. */
export interface AuthorizationServerOptions {
  /**
   * The URL by which clients know this server (RFC 8414 2): https, or http on a loopback host. Its path is where the
   * host mounts `oauth.router()`. Every absolute URL comes from it, never from a request.
   */
  readonly issuer: string
  /** The registered clients, or where to find them. With a {@link ClientRegistry} the server can register them, too. */
  readonly clients: readonly ClientRegistration[] | ClientStore | ClientRegistry
  /** Each scope and, for the consent page, what it lets a client do: `{ 'photos:read': 'See your photos' }`. */
  readonly scopes: Readonly<Record<string, string>>
  /** What a request asks for that names no scope, space separated. Default: such a request is refused. */
  readonly defaultScope?: string
  /**
   * Who is logged in: a subject or `{ subject, name }`, or undefined for nobody. Without this option the server has no
   * authorization endpoint and serves clients that act for themselves.
   */
  readonly resourceOwner?: (request: Request) => Eventually<ResourceOwner | string | undefined | null | false>
  /**
   * Whether this owner's approval is established already (RFC 6749 4.1.1): for a client that is the host's own, or because
   * the owner approved the same before. Then no consent page is shown. It is not asked about the implicit grant, nor about
   * public clients at anything but https, which another app could pass for (RFC 6749 10.2). Default: every request is shown.
   */
  readonly skipConsent?: (request: Request, question: PriorConsentQuestion) => Eventually<boolean>
  /**
   * The host's login: a path, which gets the way back as `?return_to=`, or a function that sends the user agent there.
   * Default `/login`.
   */
  readonly login?: string | ((request: Request, response: Response, returnTo: string) => unknown)
  /** Where authorizations live. Default `memoryStore()`, which refuses production. */
  readonly store?: AuthorizationStore
  /**
   * Where failed attempts and single uses are counted. Default: the `counters` of the store, as `redisStore()` has them;
   * for a store without any, `memoryCounters()`, with a warning in production.
   */
  readonly counters?: Counters
  /** Path of the authorization endpoint below the issuer. Default `/authorize`. */
  readonly authorizationPath?: string
  /** Path of the token endpoint below the issuer. Default `/token`. */
  readonly tokenPath?: string
  /** Path of the revocation endpoint (RFC 7009) below the issuer. Default `/revoke`. */
  readonly revocationPath?: string
  /** Path of the introspection endpoint (RFC 7662) below the issuer. Default `/introspect`. */
  readonly introspectionPath?: string
  /**
   * Endpoints beside those of the suite, each with a path of its own below the issuer. The router serves them, and the
   * metadata names them.
   */
  readonly endpoints?: readonly Endpoint[]
  /** How long a resource owner may look at the consent page. Default 600. */
  readonly authorizationRequestLifetime?: number
  /** Default 60, at most 600 (RFC 6749 4.1.2). */
  readonly authorizationCodeLifetime?: number
  /** Default 3600. */
  readonly accessTokenLifetime?: number
  /** Counted from the last refresh. Default 2 592 000: 30 days. */
  readonly refreshTokenLifetime?: number
  /**
   * How long after a rotation the old refresh token gets the same tokens again, so that parallel refreshes and lost
   * answers log nobody out. Default 30; 0 takes every repetition for theft.
   */
  readonly refreshTokenGrace?: number
  /**
   * Grant types beside `authorization_code`, `refresh_token` and `client_credentials`: those of this suite, such as
   * `password()`, and the host's own, each named by an absolute URI (RFC 6749 4.5). A client may use one when its
   * registration has it in `grant_types`.
   */
  readonly grantTypes?: readonly GrantType[]
  /**
   * Response types beside `code`, such as `implicit()`. A client may use one when its registration has it in
   * `response_types` and what it needs in `grant_types`.
   */
  readonly responseTypes?: readonly ResponseType[]
  /** Token types beside `bearer`, such as `mac({ hosts })`. A client gets the one that its `token_type` names. */
  readonly tokenTypes?: readonly TokenType[]
  /** The token type of clients whose registration names none. Default `bearer`. */
  readonly tokenType?: string
  /**
   * Methods of client authentication beside `client_secret_basic`, `client_secret_post` and `none`. A client may use one
   * when its registration has an entry for it in `credentials`.
   */
  readonly clientAuthenticationMethods?: readonly ClientAuthenticationMethod[]
  /**
   * How many attempts at client secrets may fail (RFC 6749 2.3.1). Default: in 15 minutes 20 of a client and an address,
   * 1000 of a client, 500 of an address. `false` switches all of them off.
   */
  readonly clientAuthenticationLimits?: ClientAuthenticationLimits | false
  /** Which clients must use PKCE (RFC 7636, S256). Default `public`; any client may. */
  readonly pkce?: PkceRequirement
  /** Extensions of the endpoints and guards, beside PKCE. */
  readonly extensions?: readonly Extension[]
  /** Says that the endpoints are closed for now: they answer `temporarily_unavailable`. Guards go on. Default never. */
  readonly maintenance?: () => Eventually<boolean>
  /** A page that explains error codes, each under its name, such as `docs/errors.md`: sent as `error_uri`. */
  readonly errorUri?: string
  /** How long one call of a store may take. Default 0.5. */
  readonly storeDeadline?: number
  /** How long `oauth.close()` waits for requests in flight. Default 10. */
  readonly closeDeadline?: number
  /** How long the body of a request may take to arrive. Default 10. */
  readonly bodyDeadline?: number
  /**
   * How many authorization requests of one resource owner may wait for a decision, in this process; one more is answered
   * with a page and 429. Default: 100 `attempts` in `authorizationRequestLifetime` as `seconds`; false switches it off.
   */
  readonly openRequestLimit?: LimitOption
  /** How much may come from one network; false switches it off. */
  readonly rateLimit?: RateLimitOptions | false
  /** How often tokens may be issued to one client, and for one resource owner, in this process; false switches it off. */
  readonly issueLimits?: IssueLimitOptions | false
  /**
   * What one client may use up once in the counters, in this process: nonces of signed requests. Beyond it the answer is 429
   * with `Retry-After`. Default: 60 000 `attempts` in 60 `seconds`; false switches it off.
   */
  readonly singleUseLimit?: LimitOption
  /**
   * Renders a consent page of the host's own: a form that posts `view.fields` and `decision` to `view.action`. A
   * Content-Security-Policy of the host must have `form-action 'self' https:`, and the scheme of `view.redirectTo`.
   */
  readonly consentPage?: (request: Request, response: Response, view: ConsentView) => unknown
  /** Renders an error page of the host's own. */
  readonly errorPage?: (request: Request, response: Response, view: ErrorView) => unknown
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number
}

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
  /** Those of the host. */
  readonly endpoints: readonly Endpoint[]
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
