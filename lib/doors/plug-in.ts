import type { ResponseMode } from '../protocol/response-types'
import type { ResponseType } from '../authorization/response-types'
import type { Authorization } from '../authorization/authorization'
import type { OwnerEntry } from '../authorization/owner-record'
import type { FoundAccess } from '../authorization/lookup'
import type { RequestProposal } from '../authorization/requested'
import type { StoredAuthorization } from '../authorization/store'
import type { RecordContext, Transition } from '../authorization/transition'
import type { ClientAuthenticationMethod } from '../client-authentication/method'
import type { DocumentFetch } from '../clients/document-fetch/document-fetch'
import type { OwnPage, OwnPageRequest, PageEndpoint } from './page-endpoint'
import type { Counters } from '../limits/counters'
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
 * A feature: rows, such as a grant type or an endpoint, and functions of the doors. What needs the server, and the
 * state of one server, comes from `open`.
 */
export interface Plugin extends PluginParts {
  /** Unique among the plug-ins of a server. Its data in an authorization stand under it. */
  readonly name: string
  /** Returns the parts for one server, once, when it is made. An error is a mistake in the option `plugins`. */
  open?(server: PluginServer): PluginParts
  /** Returns the parts for one guard of `createBearerGuard`, besides those of the plug-in itself. Default: none. */
  openInGuard?(guard: PluginGuard): GuardParts
}

/** What acts in guards. */
export interface GuardParts extends Pick<
  Extension,
  'admit' | 'describe' | 'exposedHeaders' | 'confirmationMethod'
> {
  /** Besides `bearer`. `token_type` of a registration chooses one. */
  readonly tokenTypes?: readonly TokenType[]
  /** Such as signed JWTs. For a guard, `name` and `decode` suffice. */
  readonly accessTokenFormats?: readonly AccessTokenReader[]
}

export interface PluginParts extends GuardParts, Omit<Extension, 'name'> {
  /** Each at its own path below the issuer: with JSON, or pages for people (`kind: 'page'`). */
  readonly endpoints?: readonly (Endpoint | PageEndpoint | OwnPage)[]
  /** Named by absolute URIs (RFC 6749 4.5). `grant_types` of a registration must name it. */
  readonly grantTypes?: readonly GrantType[]
  /** Besides `code`. `response_types` of a registration must name it, and `grant_types` what it needs. */
  readonly responseTypes?: readonly ResponseType[]
  /**
   * Besides `client_secret_basic`, `client_secret_post` and `none`. `credentials` of a registration must have an entry
   * for the method.
   */
  readonly clientAuthenticationMethods?: readonly ClientAuthenticationMethod[]
  /** New tokens get the first one that issues; each reads its own. Opaque tokens stay good. */
  readonly accessTokenFormats?: readonly AccessTokenFormat[]
  /** Besides `query` and `fragment`. */
  readonly responseModes?: readonly ResponseMode[]
  /** Members of registrations of clients (RFC 7591 2). */
  readonly clientMembers?: readonly ClientMember[]
  /** Resources of the plug-in itself, for a server with the option `resources`. */
  readonly resources?: readonly PluginResource[]
  /**
   * Needs the authorizations of owners ({@link PluginServer.authorizationsOf}). An entry with the scope `openid` stays for
   * these seconds at least, unless its owner or the host ends it. Default: none.
   */
  readonly indexSeconds?: number
  /** Options that work and break a rule of the command `lint`, such as a missing secret. */
  readonly risks?: readonly PluginRisk[]
  /**
   * Gets what the plug-in needs to serve, such as keys: once when the server is made, and at each `oauth.ready()`. A
   * rejection becomes the warning `EAS_PLUG_IN_NOT_READY`, and `ready()` resolves to false.
   */
  ready?(): Promise<unknown>
}

/**
 * Such as an endpoint that takes access tokens. A token of a request without a resource is for it, too, if it
 * has one of the scopes. These scopes are good with every resource.
 */
export interface PluginResource {
  readonly uri: string
  readonly scopes: readonly string[]
}

export interface PluginRisk {
  readonly rule: string
  /** The path of the option, such as `nonces.secret`. Default: the plug-in itself. */
  readonly path?: string
}

/** What a plug-in reads of a guard. */
export interface PluginGuard {
  readonly issuer: string
  /** Seconds since the epoch, by the option `clock`. */
  readonly now: () => number
  /** Random letters of base64url, for every secret. */
  readonly random: (length: number) => string
  /**
   * For requests of this issuer, with the deadline of the store and the limit on single uses.
   *
   * @throws Error before the server is made.
   */
  readonly counters: Counters
  /** With its deadline. Undefined for a guard without a store. */
  readonly storage: Store | undefined
}

/**
 * What a plug-in reads of a server. From `documents` on, what is below throws an `Error` until the server is made. A
 * store that fails causes `temporarily_unavailable`.
 */
export interface PluginServer extends PluginGuard {
  /** Keys are as written: begin those of the plug-in with its name. For authorizations, use `commit`. */
  readonly storage: Store
  /** The URIs of the option `resources`, as written there; else empty. */
  readonly resources: readonly string[]
  readonly scopes: ReadonlyMap<string, ScopeDescription>
  /** Whether the host has the option `logOut`. */
  readonly canLogOut: boolean
  /** The URL of a path below the issuer. */
  readonly urlOf: (path: string) => string
  /** For a new record: the time, the random bytes and the lifetimes. */
  readonly context: () => RecordContext
  /** Fetches documents of clients over https, such as a JWK set. */
  readonly documents: DocumentFetch
  /** Finds a registered client, perhaps a disabled one; else undefined. */
  readonly findClient: (clientId: string) => Promise<Client | undefined>
  /**
   * Checks an authorization request that a known client pushes (RFC 9126), as the authorization endpoint does.
   * Extensions replace it first (`resolve`); `client_id` must then name this client.
   *
   * @param evidence `evidence` at the endpoint: what the extensions found in the request.
   * @param sender `sender` at the endpoint: the fetches of the request count for it.
   * @throws OAuthError every refusal of the authorization endpoint.
   */
  readonly parseAuthorizationRequest: (
    client: Client,
    parameters: Parameters,
    evidence: Evidence | undefined,
    sender: Sender,
  ) => Promise<ParsedRequest>
  /** The requests of clients without a redirection URI, for a plug-in with its own page. */
  readonly polledRequests: PolledRequests
  /** Undefined for an access token that is unknown, expired or revoked. */
  readonly findAccess: (accessToken: string) => Promise<FoundAccess | undefined>
  /**
   * Admits a request to an endpoint of the plug-in, as a guard does: checks the token, its type, its proof
   * and its scope, and asks each plug-in with a function `admit`.
   *
   * @param scope the scope token that the endpoint needs.
   * @throws OAuthError the refusals of a guard, also without a token.
   */
  readonly admit: (request: EndpointRequest<undefined>, scope: string) => Promise<FoundAccess>
  /** Undefined for a record that does not exist, has expired or was revoked. */
  readonly find: (authorizationId: string) => Promise<Authorization | undefined>
  /**
   * For a plug-in with `indexSeconds`: every live authorization of a resource owner that began since the
   * server lists them, and some that have ended.
   */
  readonly authorizationsOf: (subject: string) => Promise<readonly OwnerEntry[]>
  /** By the event `failure`. */
  readonly reportFailure: (failure: LateFailure) => void
  /** Stores a new record, with a new id, such as one of `openRequest`. */
  readonly begin: (authorization: Authorization) => Promise<void>
  /**
   * Changes a record, or refuses. A conflict repeats the transition on the new record, so it must be pure.
   *
   * @throws OAuthError the refusal of the transition; `temporarily_unavailable` if other writers win 16
   *   times.
   */
  readonly commit: <Outcome>(authorizationId: string, transition: Transition<Outcome>) => Promise<Outcome>
}

/** Such as a message to a client that did not arrive. */
export interface LateFailure {
  /** The part that failed: `endpoint` of the event. */
  readonly endpoint: string
  /** A stable word. */
  readonly reason: string
  readonly clientId: string | undefined
  readonly subject: string | undefined
  readonly cause: unknown
}

/**
 * Requests of clients without a redirection URI, such as devices (RFC 8628): each rule and each page of the
 * authorization endpoint, with a page before it that names the request, and polls in place of a redirect.
 */
export interface PolledRequests {
  /** @throws OAuthError every refusal of the authorization endpoint. */
  parse(client: Client, parameters: Parameters, grantType: string): Promise<ParsedRequest>
  /** Undefined for a request that this owner cannot enter: all reasons look alike. */
  find(id: string, owner: ResourceOwner): Promise<FoundRequest | undefined>
  /**
   * The consent page of a request; the login that its owner needs before; undefined if another owner was faster.
   *
   * @throws OAuthError the refusals of the authorization endpoint.
   */
  enter(request: OwnPageRequest, found: FoundRequest, terms: EnteringTerms): Promise<Entered | undefined>
  /** @throws OAuthError the refusals of a decision. */
  decide(request: OwnPageRequest, grantType: string): Promise<Decided>
  /** Opens the request of a form for another account of its owner. */
  release(request: OwnPageRequest): Promise<void>
}

/** A valid authorization request of a known client, before the owner is known. */
export interface ParsedRequest {
  /** The members of the record that begins. */
  readonly proposal: RequestProposal
  /** What extensions add to the consent page, such as the resources: also for an owner who decides elsewhere. */
  readonly facts: readonly ConsentFact[]
  /**
   * The parameters that count, in form encoding, without credentials of the client: what `resolve` returns once a browser
   * brings the request, or for `openRequest`.
   */
  readonly parameters: string
}

export interface FoundRequest {
  readonly found: StoredAuthorization
  /** The decision of this owner; undefined if it is still to come. */
  readonly answer: 'approved' | 'denied' | undefined
}

export interface EnteringTerms {
  readonly grantType: string
  /** Derives the consent token of the form: a text that only the server knows, the same for one request and owner. */
  readonly secret: string
  /** What the owner compares with the device. */
  readonly device: DeviceOfRequest
  /** Hidden fields of the form besides the consent token. */
  readonly fields: Readonly<Record<string, string>>
}

/** The device from which a request comes. */
interface DeviceOfRequest {
  readonly userCode: string
  /** The device's address; undefined if it is not known. */
  readonly requestedFrom: string | undefined
  /** When the device asked, in seconds since the epoch. */
  readonly requestedAt: number
  /** The time of the page, in seconds since the epoch. */
  readonly now: number
}

export type Entered =
  { readonly page: Awaited<ReturnType<OwnPage['handle']>> } | { readonly login: LoginRequest }

type Decided =
  { readonly answer: 'approved' | 'denied'; readonly client: Client } | { readonly login: LoginRequest }
