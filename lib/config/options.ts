import type { Request, Response } from 'express'
import type { ChoicesQuestion, PriorConsentQuestion } from '../authorization-endpoint/prior-consent'
import type { ResponseType } from '../authorization-endpoint/response-types'
import type { ClientAuthenticationLimits } from '../client-authentication/credential-throttle'
import type { ClientAuthenticationMethod } from '../client-authentication/method'
import type { CorsOption } from '../http/cors'
import type { DynamicRegistrationOptions } from '../clients/dynamic-registration/registration-options'
import type { StillAllowed } from '../extensions/choices'
import type { PkceRequirement } from '../extensions/pkce'
import type { GuardDefaults } from '../http/guard-defaults'
import type { RateLimitOptions } from '../limits/rate-limit-options'
import type { PageOptions } from '../http/pages/page-options'
import type { Endpoint } from '../protocol/endpoint'
import type { PageEndpoint } from '../protocol/page-endpoint'
import type { Extension } from '../protocol/extension'
import type { ScopeImplications } from '../protocol/implied-scope'
import type { RedirectUriRule } from '../protocol/redirect-uri'
import type { Text } from '../protocol/localized-text'
import type { LoginRequest } from '../protocol/login-request'
import type { OwnerQuestion } from '../protocol/owner-question'
import type { ResourceOwner } from '../protocol/resource-owner'
import type { ScopeOptions } from '../protocol/scope-description'
import type { AccessTokenFormat } from '../protocol/access-token-format'
import type { TokenType } from '../protocol/token-type'
import type { IssueLimitOptions } from '../limits/issue-limits'
import type { AuthorizationsOptions } from '../connected-applications/authorizations-options'
import type { LimitOption } from '../limits/limit'
import type { ResourceOptions } from '../extensions/resource-indicators/resources'
import type { ClientSource, RegisteredClients } from '../clients/client-source'
import type { Counters } from '../limits/counters'
import type { Storage } from '../stores/storage'
import type { GrantType } from '../token-endpoint/grant-type'
import type { PlugIn } from './plug-in'

type Eventually<T> = T | Promise<T>

/** Options of `createAuthorizationServer`. Lifetimes and deadlines are seconds. */
export interface AuthorizationServerOptions {
  /**
   * The URL of this server for clients (RFC 8414 2): https, or http on a loopback host. The host mounts
   * `oauth.router()` at its path. Every absolute URL comes from this option, never from a request.
   */
  readonly issuer: string
  /**
   * The registered clients, or a store that finds them. A {@link ClientRegistry} also registers clients. A
   * {@link ClientSource}, such as `metadataDocuments()`, also finds unregistered ones.
   */
  readonly clients: RegisteredClients | ClientSource
  /**
   * Maps each scope to a text for the consent page: `{ 'photos:read': 'See your photos' }`, or to
   * {@link ScopeOptions}.
   */
  readonly scopes: Readonly<Record<string, Text | ScopeOptions>>
  /**
   * The scope of a request that names none, separated by spaces. Default: such a request gets
   * `invalid_scope`.
   */
  readonly defaultScope?: string
  /**
   * The protected resources that tokens are for (RFC 8707), by their URIs: absolute, without a fragment.
   * Clients name them with the parameter `resource`; a guard refuses tokens for others. Default: tokens name
   * no resource, and guards refuse a token that names one.
   */
  readonly resources?: Readonly<Record<string, ResourceOptions>>
  /**
   * The resource of requests and guards that name none, one of `resources`. Default: the only one of
   * `resources`; if there are several, such a request gets `invalid_target`, and such a guard does not start.
   */
  readonly defaultResource?: string
  /**
   * Maps a scope to the scopes that it covers at guards: with `{ 'notes:write': ['notes:read'] }`, a token
   * with `notes:write` passes `bearerGuard('notes:read')`. Responses, introspection and `req.oauth.scope`
   * still contain only what the owner has approved. Default: no scope covers another.
   */
  readonly implies?: ScopeImplications
  /**
   * Returns who is logged in: a subject or `{ subject, name }`; undefined, null or false if no owner is.
   * Without this option, clients act for themselves only: the server has no authorization endpoint.
   */
  readonly resourceOwner?: (request: Request) => Eventually<ResourceOwner | string | undefined | null | false>
  /**
   * Returns whether the owner has approved this request before, or the host trusts the client without
   * approval (RFC 6749 4.1.1). True skips the consent page. Never called for the implicit grant, nor for a
   * public client whose redirection URI is not https, because another app could pass for such a client (RFC
   * 6749 10.2). The form of the login page then ends at the client: a Content-Security-Policy on the login
   * page must allow this, as for {@link consentPage}. Default: every request gets the consent page.
   */
  readonly skipConsent?: (request: Request, question: PriorConsentQuestion) => Eventually<boolean>
  /**
   * Whether the server remembers, by `store.consents`, what an owner has allowed a client on the page. A
   * request skips the page if all of it was allowed before: its scope, its facts such as resources, and its
   * choice. Never for a public client whose redirection URI is not https, nor for a client that registered
   * itself, because another app could pass for such a client (RFC 6749 10.2). `seconds`: how long a decision
   * counts. Default: `false`; for true, 31 536 000 (a year), at most 10 years.
   */
  readonly rememberConsent?: boolean | { readonly seconds?: number }
  /**
   * Returns one question that the owner answers with the approval, such as for which workspace the access is.
   * Routes, introspection and JWT access tokens get the answer as `choice`. With two answers or more, the
   * page appears even if `skipConsent` says true, unless `rememberConsent` knows which one; the server takes
   * a single answer without a question. Default: no question.
   */
  readonly choices?: (request: Request, question: ChoicesQuestion) => Eventually<OwnerQuestion | undefined>
  /**
   * Returns whether an authorization goes on when its client refreshes. False ends it (`invalid_grant`). If
   * the function throws, the client gets `temporarily_unavailable`, and its refresh token stays good.
   * Default: always.
   */
  readonly stillAllowed?: StillAllowed
  /**
   * The login of the host: a path, which gets the way back in the parameter `return_to`, or a function that
   * sends the user agent to the login. `asked` says what the client or an extension wants of the login;
   * `asked.again` demands the credentials again. A path gets the same as `prompt` (`login`,
   * `select_account`), `login_hint`, `acr_values` and `ui_locales`. Default `/login`.
   */
  readonly login?:
    string | ((request: Request, response: Response, returnTo: string, asked: LoginRequest) => unknown)
  /**
   * Ends the session of the owner at the host; sends no response. Gives `openIdConnect()` its logout
   * endpoint.
   */
  readonly logOut?: (request: Request, response: Response) => unknown
  /**
   * Whether `oauth.authorizations` lists and ends what owners approve, by `store.index`: costs one more
   * write. An object, such as `{}`, also adds the page of connected applications. Default false.
   */
  readonly authorizations?: boolean | AuthorizationsOptions
  /** The store of authorizations. Default `memoryStore()`, which refuses to run in production. */
  readonly store?: Storage
  /**
   * Counts failed attempts and single uses. Default: the `counters` of the store, which `redisStore()` has;
   * else `memoryCounters()`, with a warning in production.
   */
  readonly counters?: Counters
  readonly paths?: PathOptions
  /**
   * Endpoints of the host, each with its own path below the issuer: JSON endpoints, and pages for people
   * (`kind: 'page'`). The metadata names those with JSON, and pages with `listed: true`. Default none.
   */
  readonly endpoints?: readonly (Endpoint | PageEndpoint)[]
  /**
   * The origins whose scripts may call the endpoints for tokens, revocation and registration, read the
   * metadata of the server and of resources, and call the endpoints of the host that have `cors`: `true` for
   * every origin, `false` for none, or `{ origins: ['https://app.example'] }`. The authorization and
   * introspection endpoints never have CORS headers, and no response allows credentials. Default true.
   */
  readonly cors?: CorsOption
  /**
   * Lets clients register themselves (RFC 7591), and confidential clients read, update and delete their
   * registration (RFC 7592). `{}` opens registration to everybody. Default `false`.
   */
  readonly dynamicRegistration?: DynamicRegistrationOptions | false
  readonly lifetimes?: LifetimeOptions
  /**
   * Whether token responses with a refresh token have `refresh_token_expires_in`: the seconds until an unused
   * refresh token ends. Default `false`.
   */
  readonly refreshTokenExpiresIn?: boolean
  /**
   * Whether each refresh gives the client a new refresh token, and ends the one before. With `false`, a
   * refresh token stays good until its end or a revocation, as FAPI 2.0 wants it, for confidential clients
   * and for refresh tokens that an extension has bound to a key. All others rotate in any case (RFC 9700
   * 2.2.2). A registration may say otherwise with `refresh_token_rotation`. Default `true`.
   */
  readonly refreshTokenRotation?: boolean
  /**
   * Whether a request may name the scope `offline_access` without effect, and the metadata list it: hosted AI
   * clients use a refresh token only then. The registration alone decides on refresh tokens. Default false;
   * true by `mcp()`.
   */
  readonly offlineAccess?: boolean
  /**
   * Grant types in addition to `authorization_code`, `refresh_token` and `client_credentials`: those of this
   * suite, such as `password()`, and those of the host, each named by an absolute URI (RFC 6749 4.5). The
   * `grant_types` of a registration must contain the name. Default none.
   */
  readonly grantTypes?: readonly GrantType[]
  /**
   * Response types in addition to `code`, such as `implicit()`. The `response_types` of a registration must
   * contain the name, and its `grant_types` the grant types that the response type needs. Default none.
   */
  readonly responseTypes?: readonly ResponseType[]
  /**
   * Token types in addition to `bearer`, such as `mac({ hosts })`. The `token_type` of a registration chooses
   * one. Default none.
   */
  readonly tokenTypes?: readonly TokenType[]
  /**
   * Formats of access tokens, such as signed JWTs. New tokens get the first one; each format reads its own.
   * Opaque tokens stay good. Default: every token is opaque.
   */
  readonly accessTokenFormats?: readonly AccessTokenFormat[]
  /** The token type of a client whose registration names none. Default `bearer`. */
  readonly tokenType?: string
  /**
   * Methods of client authentication in addition to `client_secret_basic`, `client_secret_post` and `none`.
   * The `credentials` of a registration must have an entry for the method. Default none.
   */
  readonly clientAuthenticationMethods?: readonly ClientAuthenticationMethod[]
  /** Which clients must use PKCE (RFC 7636, method S256); every client may. Default `public`. */
  readonly pkce?: PkceRequirement
  /**
   * Which redirection URIs clients may register. `https or loopback` refuses the schemes of apps, which
   * another app can claim (RFC 8252 7.1 and 8.6), and plain http on other hosts than loopback.
   * `{ schemes: ['com.example.app'] }` admits these schemes too. Default `any`.
   */
  readonly redirectUris?: RedirectUriRule
  /** Extensions of the endpoints and guards, in addition to PKCE. Default none. */
  readonly extensions?: readonly Extension[]
  /**
   * Features of several parts, such as a grant type with its endpoint. Their parts come after those of the
   * options, in the order of this list. Default none.
   */
  readonly plugIns?: readonly PlugIn[]
  /** Defaults for the options of every guard, such as `{ realm: 'photos' }`. Default none. */
  readonly guards?: GuardDefaults
  /**
   * Returns true while the endpoints are closed: they respond with `temporarily_unavailable`; guards continue
   * to work. Default: never closed.
   */
  readonly maintenance?: () => Eventually<boolean>
  /**
   * The URL of a page that explains each error code under its name, such as `docs/errors.md`: sent as
   * `error_uri`. Default: no `error_uri`.
   */
  readonly errorUri?: string
  /** How much one network, one client and one resource owner may ask for. */
  readonly limits?: ServerLimitOptions
  /** How long one call of a store may take. Default 0.5, at most 60. */
  readonly storeDeadline?: number
  /** How long `oauth.close()` waits for requests in flight. Default 10, at most 60. */
  readonly closeDeadline?: number
  /** How long the body of a request may take to arrive. Default 10, at most 60. */
  readonly bodyDeadline?: number
  /** Pages of the host in place of those of the suite; the language and the look of those of the suite. */
  readonly pages?: PageOptions
  /**
   * Whether the warning `EAS_REFUSED` explains refusals to the person who sets the server up, once for each
   * cause: what the server read, which rule decided, and the cure. Never with a credential, and never with
   * `NODE_ENV=production` or `NODE_ENV=test`. Default true.
   */
  readonly explainRefusals?: boolean
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number
}

/** The paths of the endpoints below the issuer, such as `/oauth/token`. */
export interface PathOptions {
  /** Default `/authorize`. */
  readonly authorization?: string
  /** Default `/token`. */
  readonly token?: string
  /** RFC 7009. Default `/revoke`. */
  readonly revocation?: string
  /** RFC 7662. Default `/introspect`. */
  readonly introspection?: string
}

/** How long requests, codes and tokens live, in seconds. */
export interface LifetimeOptions {
  /** For the owner to decide on the consent page. Default 600, at most 10 years. */
  readonly authorizationRequest?: number
  /** For the client to redeem the code. Default 60, at most 600 (RFC 6749 4.1.2). */
  readonly authorizationCode?: number
  /** Default 3600, at most 10 years. */
  readonly accessToken?: number
  /** Counted from the last refresh. Default 2 592 000 (30 days), at most 10 years. */
  readonly refreshToken?: number
  /**
   * For how long after a rotation the old refresh token gets the same tokens again, so that parallel
   * refreshes and lost responses end no session. Default 30, at most 300. With 0, every repetition counts as
   * theft, and revokes.
   */
  readonly refreshTokenGrace?: number
  /**
   * The absolute end of a grant, counted from the approval of the owner; without an approval, and for a
   * client that polls, from its first tokens. No token outlives it, and no refresh moves it: the owner must
   * approve again. A change applies to a living grant at its next refresh. Default none; at most 10 years.
   */
  readonly grant?: number
}

/** The limits of a server. `false` switches a limit off. */
export interface ServerLimitOptions {
  /**
   * How many authorization requests, and how many failed requests of clients, may come from one network.
   * Default 600 of each per minute.
   */
  readonly networks?: RateLimitOptions | false
  /**
   * How many attempts at client secrets may fail (RFC 6749 2.3.1). Default, in 15 minutes: 20 failures of one
   * client from one address, 1000 of one client, 500 from one address. `false` switches off all three.
   */
  readonly clientAuthentication?: ClientAuthenticationLimits | false
  /**
   * How often this process may issue tokens to one client, and to one client for one resource owner. Default
   * 30 000 and 600 per minute.
   */
  readonly issuing?: IssueLimitOptions | false
  /**
   * How many authorization requests of one resource owner may wait for a decision in this process. Beyond,
   * the owner gets a page with status 429. Default: 100 `attempts`, with `lifetimes.authorizationRequest` as
   * `seconds`.
   */
  readonly openRequests?: LimitOption
  /**
   * How many single-use values, such as nonces of signed requests, one client may use in this process.
   * Beyond, the response is 429 with `Retry-After`. Default: 60 000 `attempts` in 60 `seconds`.
   */
  readonly singleUses?: LimitOption
  /**
   * How many clients that registered themselves, or are known by their metadata documents, one resource owner
   * keeps alive, with the option `authorizations`. Beyond, the approval of one more shows a page with status
   * 429; clients in use pass. Counts ten times as many within the lifetime of such a client, also if the
   * owner removes them. Default 50, 1 to 1000.
   */
  readonly selfRegisteredClients?: number | false
}
