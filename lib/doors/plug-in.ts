import type { PolledRequests } from './polled-requests'
import type { ResponseMode } from '../protocol/response-types'
import type { ResponseType } from '../authorization/response-types'
import type { Authorization } from '../authorization/authorization'
import type { OwnerEntry } from '../authorization/owners'
import type { FoundAccess } from '../authorization/lookup'
import type { RequestProposal } from '../authorization/requested'
import type { RecordContext, Transition } from '../authorization/transition'
import type { ClientAuthenticationMethod } from '../client-authentication/method'
import type { DocumentFetch } from '../clients/document-fetch/document-fetch'
import type { OwnPage, PageEndpoint } from './page-endpoint'
import type { Counters } from '../limits/counters'
import type { AccessTokenFormat, AccessTokenReader } from '../protocol/access-token-format'
import type { Client, ClientMember } from '../protocol/client'
import type { Endpoint, EndpointRequest } from '../protocol/endpoint'
import type { Evidence } from '../protocol/extension-data'
import type { ConsentFact, Extension } from '../protocol/extension'
import type { Parameters } from '../protocol/parameters'
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
   * Needs the authorizations of owners ({@link PluginServer.authorizationsOf}): the server lists them in the record of
   * each owner. An entry with the scope `openid` stays for these seconds at least, even if its
   * authorization ends sooner, unless its owner or the host ends it. Default: none.
   */
  readonly indexSeconds?: number
  /** Options that work and break a rule of the command `lint`, such as a missing secret. */
  readonly risks?: readonly PluginRisk[]
  /**
   * Gets what the plug-in needs to serve, such as keys. Called once when the server is made, without waiting,
   * and at each `oauth.ready()`. A rejection becomes the warning `EAS_PLUG_IN_NOT_READY`, and `ready()`
   * resolves to false.
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
 * What a plug-in reads of a server. `documents`, `findClient`, `parseAuthorizationRequest`, `findAccess`,
 * `admit`, `find`, `polledRequests`, `authorizationsOf`, `reportFailure`, `begin` and `commit` throw an `Error`
 * until the server is made. A store that fails causes `temporarily_unavailable`.
 */
export interface PluginServer extends PluginGuard {
  /**
   * No guard against races here: for authorizations, use `commit`. Keys are as written: begin those of the plug-in with its
   * name.
   */
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
   * Checks an authorization request as the authorization endpoint does, for a known client that pushes it
   * (RFC 9126). Extensions replace the request first (`resolve`).
   * `client_id` must then name this client.
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
  /**
   * Undefined for a record that does not exist, has expired or was revoked. Another writer may be changing
   * it.
   */
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
   * Changes a record, or refuses, by compare-and-set. A conflict repeats the transition on the new record, so
   * it must be pure.
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

/** A valid authorization request of a known client, before the owner is known. */
export interface ParsedRequest {
  /** The members of the record that begins. */
  readonly proposal: RequestProposal
  /** What extensions add to the consent page. */
  readonly facts: readonly ConsentFact[]
  /**
   * The parameters that count, in form encoding, without credentials of the client: what `resolve`
   * returns once a browser brings the request.
   */
  readonly parameters: string
}
