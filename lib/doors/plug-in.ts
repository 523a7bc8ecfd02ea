import type { ResponseMode } from '../protocol/response-types'
import type { ResponseType } from '../authorization/response-types'
import type { Authorization } from '../authorization/authorization'
import type { OwnerEntry } from '../authorization/owners'
import type { FoundAccess } from '../authorization/lookup'
import type { RequestProposal } from '../authorization/requested'
import type { StoredAuthorization } from '../authorization/store'
import type { RecordContext, Transition } from '../authorization/transition'
import type { ClientAuthenticationMethod } from '../client-authentication/method'
import type { DocumentFetch } from '../clients/document-fetch/document-fetch'
import type { OwnPage, OwnPageRequest, PageEndpoint } from './page-endpoint'
import type { Counters } from '../limits/counters'
import type { ConsentView } from '../pages/consent-page'
import type { AccessTokenFormat, AccessTokenReader } from '../protocol/access-token-format'
import type { Client, ClientMember } from '../protocol/client'
import type { Endpoint, EndpointRequest } from '../protocol/endpoint'
import type { Evidence } from '../protocol/extension-data'
import type { ConsentFact, Extension } from '../protocol/extension'
import type { Parameters } from '../protocol/parameters'
import type { LoginRequest, ResourceOwner } from '../protocol/resource-owner'
import type { ScopeDescription } from '../protocol/scope'
import type { Sender } from '../protocol/sender'
import type { TokenType } from '../protocol/token-type'
import type { Store } from '../store/store'
import type { GrantType } from '../authorization/grant-type'

/**
 * A feature: rows, such as a grant type or an endpoint, and functions of the doors. What needs the server comes from
 * `open`.
 */
export interface Plugin extends PluginParts {
  /** Unique in a server. Its data in an authorization stand under it. */
  readonly name: string
  /** Returns the parts for one server, once. An error is a mistake in the option `plugins`. */
  open?(server: PluginServer): PluginParts
  /** Returns further parts for one guard of `createBearerGuard`. Default: none. */
  openInGuard?(guard: PluginGuard): GuardParts
}

export interface GuardParts extends Pick<
  Extension,
  'admit' | 'describe' | 'exposedHeaders' | 'confirmationMethod'
> {
  /** Besides `bearer`. `token_type` of a registration chooses one. */
  readonly tokenTypes?: readonly TokenType[]
  /** Such as signed JWTs. A guard needs only `name` and `decode`. */
  readonly accessTokenFormats?: readonly AccessTokenReader[]
}

export interface PluginParts extends GuardParts, Omit<Extension, 'name'> {
  /** Each at a path below the issuer: JSON, or pages for people (`kind: 'page'`). */
  readonly endpoints?: readonly (Endpoint | PageEndpoint | OwnPage)[]
  /** Named by absolute URIs (RFC 6749 4.5), for clients with the name in `grant_types`. */
  readonly grantTypes?: readonly GrantType[]
  /** Besides `code`, for clients with the name in `response_types`, and in `grant_types` what it needs. */
  readonly responseTypes?: readonly ResponseType[]
  /**
   * Besides `client_secret_basic`, `client_secret_post` and `none`. `credentials` of a client must have an entry for
   * the method.
   */
  readonly clientAuthenticationMethods?: readonly ClientAuthenticationMethod[]
  /** New tokens get the first that issues; each reads its own. Opaque tokens stay good. */
  readonly accessTokenFormats?: readonly AccessTokenFormat[]
  /** Besides `query` and `fragment`. */
  readonly responseModes?: readonly ResponseMode[]
  /** Of registrations (RFC 7591 2). */
  readonly clientMembers?: readonly ClientMember[]
  /** Of the plug-in itself, for a server with the option `resources`. */
  readonly resources?: readonly PluginResource[]
  /**
   * Needs the authorizations of owners ({@link PluginServer.authorizationsOf}). An entry with the scope `openid` stays
   * at least these seconds, unless its owner or the host ends it. Default: none.
   */
  readonly indexSeconds?: number
  /** Options that work and break a rule of the command `lint`. */
  readonly risks?: readonly PluginRisk[]
  /**
   * Gets what the plug-in needs, such as keys: when the server is made, and at each `oauth.ready()`. A rejection
   * becomes the warning `EAS_PLUG_IN_NOT_READY`, and `ready()` resolves to false.
   */
  ready?(): Promise<unknown>
}

/**
 * Such as an endpoint that takes access tokens. A token without a resource is for it, too, if it has one of the scopes.
 * These are good with every resource.
 */
export interface PluginResource {
  readonly uri: string
  readonly scopes: readonly string[]
}

export interface PluginRisk {
  readonly rule: string
  /** Of the option, such as `nonces.secret`. Default: the plug-in itself. */
  readonly path?: string
}

export interface PluginGuard {
  readonly issuer: string
  /** Seconds since the epoch, by the option `clock`. */
  readonly now: () => number
  /** Letters of base64url, for every secret. */
  readonly random: (length: number) => string
  /**
   * With the deadline of the store and the limit on single uses.
   *
   * @throws Error before the server is made.
   */
  readonly counters: Counters
  /** With its deadline. Undefined for a guard without a store. */
  readonly storage: Store | undefined
}

/**
 * From `documents` on, everything throws an `Error` until the server is made. A store that fails causes
 * `temporarily_unavailable`.
 */
export interface PluginServer extends PluginGuard {
  /** Keys are as written: begin them with the name of the plug-in. For authorizations, use `commit`. */
  readonly storage: Store
  /** The URIs of the option `resources`. */
  readonly resources: readonly string[]
  readonly scopes: ReadonlyMap<string, ScopeDescription>
  /** By the option `logOut`. */
  readonly canLogOut: boolean
  /** Of a path below the issuer. */
  readonly urlOf: (path: string) => string
  /** For a new record. */
  readonly context: () => RecordContext
  /** Fetches documents of clients over https, such as a JWK set. */
  readonly documents: DocumentFetch
  /** Disabled ones, too. */
  readonly findClient: (clientId: string) => Promise<Client | undefined>
  /**
   * Checks an authorization request that a known client pushes (RFC 9126), after `resolve`; `client_id` must name this
   * client.
   *
   * @param evidence `evidence` at the endpoint.
   * @param sender `sender` at the endpoint: fetches count for it.
   * @throws OAuthError every refusal of the authorization endpoint.
   */
  readonly parseAuthorizationRequest: (
    client: Client,
    parameters: Parameters,
    evidence: Evidence | undefined,
    sender: Sender,
  ) => Promise<ParsedRequest>
  /** For a plug-in with its own page. */
  readonly polledRequests: PolledRequests
  /** Undefined for an access token that is unknown, expired or revoked. */
  readonly findAccess: (accessToken: string) => Promise<FoundAccess | undefined>
  /**
   * Admits a request to an endpoint of the plug-in, as a guard does, by token, type, proof, scope and `admit` of each
   * plug-in.
   *
   * @param scope the scope token that the endpoint needs.
   * @throws OAuthError the refusals of a guard, also without a token.
   */
  readonly admit: (request: EndpointRequest<undefined>, scope: string) => Promise<FoundAccess>
  /** Undefined for a record that is unknown, expired or revoked. */
  readonly find: (authorizationId: string) => Promise<Authorization | undefined>
  /**
   * For a plug-in with `indexSeconds`: every live authorization of a resource owner since the server lists them, and
   * some that have ended.
   */
  readonly authorizationsOf: (subject: string) => Promise<readonly OwnerEntry[]>
  /** By the event `failure`. */
  readonly reportFailure: (failure: LateFailure) => void
  /** Stores a new record, such as one of `openRequest`. */
  readonly begin: (authorization: Authorization) => Promise<void>
  /**
   * Changes a record, or refuses. A conflict repeats the transition on the new record, so it must be pure.
   *
   * @throws OAuthError of the transition; `temporarily_unavailable` if other writers win 16 times.
   */
  readonly commit: <Outcome>(authorizationId: string, transition: Transition<Outcome>) => Promise<Outcome>
}

/** Such as a lost message to a client. */
export interface LateFailure {
  /** `endpoint` of the event. */
  readonly endpoint: string
  readonly reason: string
  readonly clientId: string | undefined
  readonly subject: string | undefined
  readonly cause: unknown
}

/**
 * Requests of clients without a redirection URI, such as devices (RFC 8628): as at the authorization endpoint, with a
 * page before that names the request, and polls in place of a redirect.
 */
export interface PolledRequests {
  /** @throws OAuthError every refusal of the authorization endpoint. */
  parse(client: Client, parameters: Parameters, grantType: string): Promise<ParsedRequest>
  /** Undefined for a request that this owner cannot enter, for whatever reason. */
  find(id: string, owner: ResourceOwner): Promise<FoundRequest | undefined>
  /**
   * The consent page; the login that its owner needs before; undefined if another owner was faster.
   *
   * @throws OAuthError the refusals of the authorization endpoint.
   */
  enter(request: OwnPageRequest, found: FoundRequest, terms: EnteringTerms): Promise<Entered | undefined>
  /** @throws OAuthError the refusals of a decision. */
  decide(request: OwnPageRequest, grantType: string): Promise<Decided>
  /** Frees the request of a form for another account. */
  release(request: OwnPageRequest): Promise<void>
}

/** A valid request of a known client, before the owner is known. */
export interface ParsedRequest {
  readonly proposal: RequestProposal
  /** For an owner who decides elsewhere, too. */
  readonly facts: readonly ConsentFact[]
  /**
   * The parameters that count, in form encoding, without credentials: what `resolve` returns once a browser brings the
   * request, or for `openRequest`.
   */
  readonly parameters: string
}

export interface FoundRequest {
  readonly found: StoredAuthorization
  /** Of this owner; undefined if it is still to come. */
  readonly answer: 'approved' | 'denied' | undefined
}

export interface EnteringTerms {
  readonly grantType: string
  /** For the consent token of the form: a text that only the server knows, the same for one request and owner. */
  readonly secret: string
  readonly device: NonNullable<ConsentView['device']>
  readonly fields: Readonly<Record<string, string>>
}

export type Entered =
  { readonly page: Awaited<ReturnType<OwnPage['handle']>> } | { readonly login: LoginRequest }

type Decided =
  { readonly answer: 'approved' | 'denied'; readonly client: Client } | { readonly login: LoginRequest }
