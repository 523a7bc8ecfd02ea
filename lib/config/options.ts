import type { Request, Response } from 'express'
import type { PriorConsentQuestion } from '../authorization-endpoint/visit'
import type { ClientAuthenticationLimits } from '../client-authentication/credential-throttle'
import type { VerifyDigest } from '../client-authentication/client-secret'
import type { CorsOption } from '../http/cors'
import type { DynamicRegistrationOptions } from '../clients/dynamic-registration/registration-options'
import type { StillAllowed } from '../extensions/choices'
import type { PkceRequirement } from '../extensions/pkce'
import type { GuardDefaults } from '../http/bearer-guard'
import type { LimitOption, RateLimitOptions } from '../limits/limit'
import type { Eventual } from '../primitives/concurrency'
import type { PageOptions } from '../pages/page-options'
import type { ChoicesQuestion } from '../protocol/extension'
import type { ScopeImplications, ScopeOptions } from '../protocol/scope'
import type { RedirectUriRule } from '../protocol/redirect-uri'
import type { Text } from '../protocol/localized-text'
import type { LoginRequest, ResourceOwner } from '../protocol/resource-owner'
import type { OwnerQuestion } from '../protocol/owner-question'
import type { IssueLimitOptions } from '../limits/shares'
import type { AuthorizationsOptions } from '../connected-applications/authorizations-options'
import type { LifetimeOptions } from '../authorization/lifetimes'
import type { ResourceOptions } from '../extensions/resource-indicators/resources'
import type { MetadataDocuments } from '../clients/metadata-documents/metadata-documents'
import type { RegisteredClients } from '../clients/open-clients'
import type { Store } from '../store/store'
import type { Plugin } from '../doors/plug-in'

/** Lifetimes and deadlines are seconds. */
export interface AuthorizationServerOptions {
  /**
   * The URL of this server (RFC 8414 2): https, or http on a loopback host. The host mounts `oauth.router()` at its
   * path. A change ends all tokens.
   */
  readonly issuer: string
  /**
   * A list, a store of the host, or `registeredClients(store)`, which registers more; `metadataDocuments()` also
   * finds unregistered ones.
   *
   * @see docs/guides/register-clients.md
   */
  readonly clients: RegisteredClients | MetadataDocuments
  /**
   * Each scope with its text on the consent page: `{ 'photos:read': 'See your photos' }`, or {@link ScopeOptions}.
   *
   * @see docs/guides/ask-the-owner.md
   */
  readonly scopes: Readonly<Record<string, Text | ScopeOptions>>
  /** The scope of a request that names none, separated by spaces. Default: `invalid_scope`. */
  readonly defaultScope?: string
  /**
   * Whether a request for more than its client may have gets what the client may have (RFC 6749 3.3). A refresh is
   * never narrowed. Default `false`.
   */
  readonly narrowScope?: boolean
  /**
   * The protected resources of tokens (RFC 8707), by absolute URIs without a fragment. Clients name them by
   * `resource`; a guard refuses tokens for others. Default: none, and guards refuse tokens that name one.
   *
   * @see docs/guides/resources.md
   */
  readonly resources?: Readonly<Record<string, ResourceOptions>>
  /**
   * The resource of requests and guards that name none. Default: the only one of `resources`; with several,
   * `invalid_target`, and the guard does not start.
   */
  readonly defaultResource?: string
  /**
   * What a scope covers at guards: with `{ 'notes:write': ['notes:read'] }`, a token with `notes:write` passes
   * `bearerGuard('notes:read')`.
   *
   * @see docs/guides/protect-an-api.md
   */
  readonly implies?: ScopeImplications
  /**
   * Returns who is logged in: a subject or `{ subject, name, authTime, acr, amr }`; undefined, null or false if
   * nobody is. Default: no authorization endpoint; clients act for themselves.
   *
   * @see docs/guides/add-to-your-application.md
   */
  readonly resourceOwner?: (request: Request) => Eventual<ResourceOwner | string | undefined | null | false>
  /**
   * Returns true to skip the consent page (RFC 6749 4.1.1): the owner approved this request before, or the host trusts
   * the client. Never called for the implicit grant, nor for a public client without an https redirection URI: another
   * app could pass for it (RFC 6749 10.2).
   *
   * @see docs/guides/add-to-your-application.md
   */
  readonly skipConsent?: (request: Request, question: PriorConsentQuestion) => Eventual<boolean>
  /**
   * Whether the server remembers what an owner allowed a client, and skips the page for the same scope, facts and
   * choice. Never for a public client without an https redirection URI, nor for one that registered itself. Default
   * `false`; `true` is a year, and `seconds` at most 10 years.
   *
   * @see docs/guides/ask-the-owner.md
   */
  readonly rememberConsent?: boolean | { readonly seconds?: number }
  /**
   * Returns one question that the owner answers with the approval, such as which workspace the access is for. Routes,
   * introspection and JWT access tokens get the answer as `choice`. Two answers or more need the page despite
   * `skipConsent`, unless `rememberConsent` knows which.
   *
   * @see docs/guides/ask-the-owner.md
   */
  readonly choices?: (request: Request, question: ChoicesQuestion) => Eventual<OwnerQuestion | undefined>
  /**
   * Returns whether an authorization goes on at a refresh. False ends it (`invalid_grant`); an error causes
   * `temporarily_unavailable`, and the refresh token stays good.
   */
  readonly stillAllowed?: StillAllowed
  /**
   * The login of the host: a path, or a function that sends the user agent there. `asked` says what the client wants;
   * `asked.again` demands the credentials again. A path gets these as `return_to`, `prompt`, `login_hint`, `acr_values`
   * and `ui_locales`. Default `/login`.
   *
   * @see docs/guides/add-to-your-application.md
   */
  readonly login?:
    string | ((request: Request, response: Response, returnTo: string, asked: LoginRequest) => unknown)
  /**
   * Ends the session of the owner at the host, without a response. Gives `openIdConnect()` its logout endpoint.
   *
   * @see docs/guides/openid-connect.md
   */
  readonly logOut?: (request: Request, response: Response) => unknown
  /**
   * Whether `oauth.authorizations` lists and ends what owners approve, at one more read for each consent page, and a
   * read and a write for each approval. With `resourceOwner`, owners have a page for it. Default `false`.
   *
   * @see docs/guides/users-and-their-apps.md
   */
  readonly authorizations?: boolean | AuthorizationsOptions
  /**
   * Where everything is kept. Default `memoryStore()`, which refuses to run in production.
   *
   * @see docs/guides/stores.md
   */
  readonly store?: Store
  /** Counts failed attempts, and keeps single uses. Default: the option `store`. */
  readonly counters?: Store
  /** Of endpoints, below the issuer. */
  readonly paths?: PathOptions
  /**
   * The origins whose scripts may read metadata and call the endpoints for tokens, revocation and registration, and
   * those of the host with `cors`: `true` for all, `false` for none, or `{ origins: ['https://app.example'] }`. Never
   * with credentials. Default `true`.
   *
   * @see docs/guides/single-page-app.md
   */
  readonly cors?: CorsOption
  /**
   * Lets clients register themselves (RFC 7591), and confidential ones change their registration (RFC 7592). `{}`
   * opens it to everybody. Default `false`.
   *
   * @see docs/guides/unregistered-clients.md
   */
  readonly dynamicRegistration?: DynamicRegistrationOptions | false
  /**
   * In seconds, at most 10 years.
   *
   * @see docs/guides/lifetimes.md
   */
  readonly lifetimes?: LifetimeOptions
  /**
   * Whether token responses have `refresh_token_expires_in`: seconds until an unused refresh token ends. Default
   * `false`.
   */
  readonly refreshTokenExpiresIn?: boolean
  /**
   * Whether each refresh replaces the refresh token. `false` keeps those of confidential clients, and those bound to a
   * key, as FAPI 2.0 wants it; others always rotate (RFC 9700 2.2.2). A registration may differ. Default `true`.
   */
  readonly refreshTokenRotation?: boolean
  /**
   * Whether requests may name `offline_access`, without effect, and the metadata list it: hosted AI clients use refresh
   * tokens only then. Default `false`; `true` by `mcp()`.
   */
  readonly offlineAccess?: boolean
  /** For a client whose registration names none. Default `bearer`. */
  readonly tokenType?: string
  /**
   * Returns whether a client secret is right by a digest of another authorization server, such as PBKDF2: an entry of
   * `client_secret_hashes`. With `registeredClients(store)`, the first success replaces it. An error causes
   * `temporarily_unavailable`; the event has only its name, because the message may quote the secret. Default: such
   * registrations are refused.
   *
   * @see docs/guides/register-clients.md
   */
  readonly verifyDigest?: VerifyDigest
  /** Which clients must use PKCE (RFC 7636, S256); every client may. Default `public`. */
  readonly pkce?: PkceRequirement
  /**
   * Which redirection URIs clients may register. `https or loopback` refuses plain http elsewhere, and the schemes of
   * apps, which another app can claim (RFC 8252 7.1 and 8.6); `{ schemes: ['com.example.app'] }` adds these. Default
   * `any`.
   */
  readonly redirectUris?: RedirectUriRule
  /**
   * Features, such as `password({ verify })`, or a grant type, an endpoint and a page of the host. They act in this
   * order.
   *
   * @see docs/guides/extend-the-server.md
   */
  readonly plugins?: readonly Plugin[]
  /** Defaults of every guard, such as `{ realm: 'photos' }`. */
  readonly guards?: GuardDefaults
  /** True closes the endpoints with `temporarily_unavailable`; guards, key set and metadata stay open. */
  readonly maintenance?: () => Eventual<boolean>
  /** The URL of a page like `docs/errors.md`, with each error code as a fragment: sent as `error_uri`. */
  readonly errorUri?: string
  /**
   * `false` switches a limit off. Over a limit: 429 with `Retry-After`.
   *
   * @see docs/bounds.md
   */
  readonly limits?: ServerLimitOptions
  /** For one call of a store. Default 0.5, at most 60. */
  readonly storeDeadline?: number
  /** For requests in flight at `close()`. Default 10, at most 60. */
  readonly closeDeadline?: number
  /** For the body of a request to arrive. Default 10, at most 60. */
  readonly bodyDeadline?: number
  /**
   * Pages of the host; language and look of those of the suite.
   *
   * @see docs/guides/pages-and-languages.md
   */
  readonly pages?: PageOptions
  /**
   * Whether the warning `EAS_REFUSED` explains refusals, once for each cause. Never with a credential, nor in
   * production or tests (`NODE_ENV`). Default `true`.
   *
   * @see docs/warnings.md
   */
  readonly explainRefusals?: boolean
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number
}

/** Below the issuer, such as `/oauth/token`. */
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

/** `false` switches a limit off. */
export interface ServerLimitOptions {
  /**
   * Authorization requests, and failed requests of clients, from one network. Default 600 of each per minute.
   */
  readonly networks?: RateLimitOptions | false
  /**
   * Failed client secrets (RFC 6749 2.3.1). Default, in 15 minutes: 20 of one client from one address, 1000 of one
   * client, 500 from one address.
   */
  readonly clientAuthentication?: ClientAuthenticationLimits | false
  /**
   * Tokens that this process issues to one client, and to one client for one owner. Default 30 000 and 600 per minute.
   */
  readonly issuing?: IssueLimitOptions | false
  /**
   * Authorization requests of one owner that wait for a decision in this process. Default: 100 `attempts` in
   * `lifetimes.authorizationRequest`.
   */
  readonly openRequests?: LimitOption
  /**
   * Single-use values, such as nonces, of one client in this process. Default: 60 000 `attempts` in 60 `seconds`.
   */
  readonly singleUses?: LimitOption
  /**
   * With `authorizations`: how many clients that registered themselves, or have documents, one owner may use. One more
   * ends the approval of the one used longest ago. Default 50, 1 to 1000.
   */
  readonly selfRegisteredClients?: number | false
}
