import type { PolledRequests } from '../authorization-endpoint/polled-requests'
import type { ResponseMode } from '../authorization-endpoint/response-modes'
import type { ResponseType } from '../authorization-endpoint/response-types'
import type { Authorization } from '../authorization/authorization'
import type { OwnerEntry } from '../authorization/authorization-index'
import type { FoundAccess } from '../authorization/lookup'
import type { UnclaimedProposal } from '../authorization/claim'
import type { RecordContext, Transition } from '../authorization/transition'
import type { ClientAuthenticationMethod } from '../client-authentication/method'
import type { DocumentFetch } from '../clients/document-fetch/document-fetch'
import type { OwnPage } from '../http/own-page'
import type { KeyStore } from '../jwt/signing-keys/key-store'
import type { Counters } from '../limits/counters'
import type { AccessTokenFormat, AccessTokenReader } from '../protocol/access-token-format'
import type { Client } from '../protocol/client'
import type { ClientMember } from '../protocol/client-member'
import type { Endpoint, EndpointRequest } from '../protocol/endpoint'
import type { Evidence } from '../protocol/evidence'
import type { ConsentFact, Extension } from '../protocol/extension'
import type { PageEndpoint } from '../protocol/page-endpoint'
import type { Parameters } from '../protocol/parameters'
import type { Sender } from '../protocol/sender'
import type { TokenType } from '../protocol/token-type'
import type { Storage } from '../stores/storage'
import type { GrantType } from '../token-endpoint/grant-type'

/**
 * A feature of several parts, such as a grant type with its endpoint. Each server and guard opens the plug-in
 * for itself: state of one server stands inside `open`.
 */
export interface PlugIn {
  /** Unique among the plug-ins of a server. */
  readonly name: string
  /**
   * Returns the parts for one server. Runs once, when the server is made. An error is a mistake in the option
   * `plugIns`.
   */
  open(server: PlugInServer): PlugInParts
  /**
   * Returns the parts for one guard of `createBearerGuard`, `createJwtBearerGuard` or `createIntrospectionGuard`.
   * Default: the guard takes nothing of the plug-in.
   */
  openInGuard?(guard: PlugInGuard): GuardParts
}

/** What a plug-in adds to a guard: each list as the option of the same name. */
export interface GuardParts {
  readonly extensions?: readonly Extension[]
  readonly tokenTypes?: readonly TokenType[]
  readonly accessTokenFormats?: readonly AccessTokenReader[]
}

/** What a plug-in adds to a server: each list as the option of the same name. */
export interface PlugInParts extends GuardParts {
  readonly endpoints?: readonly (Endpoint | PageEndpoint | OwnPage)[]
  readonly grantTypes?: readonly GrantType[]
  readonly responseTypes?: readonly ResponseType[]
  readonly clientAuthenticationMethods?: readonly ClientAuthenticationMethod[]
  readonly accessTokenFormats?: readonly AccessTokenFormat[]
  /** Response modes in addition to `query` and `fragment`. No option has this name. */
  readonly responseModes?: readonly ResponseMode[]
  /** Members of registrations of clients (RFC 7591 2). No option has this name. */
  readonly clientMembers?: readonly ClientMember[]
  /** Resources of the plug-in itself, for a server with the option `resources`. */
  readonly resources?: readonly PlugInResource[]
  /**
   * Needs the index of authorizations ({@link PlugInServer.authorizationsOf}): the server then writes each
   * authorization of a resource owner into `store.index`. An entry with the scope `openid` stays for these
   * seconds at least, even if its authorization ends sooner, unless its owner or the host ends it. Default:
   * needs no index.
   */
  readonly indexSeconds?: number
  /** Options of the plug-in that work and break a rule of the command `lint`, such as a secret that is missing. */
  readonly risks?: readonly PlugInRisk[]
  /**
   * Gets what the plug-in needs to serve, such as keys. The server calls it once when it is made, without
   * waiting, and at each `oauth.ready()`. A rejection becomes the warning `EAS_PLUG_IN_NOT_READY`, and
   * `ready()` resolves to false.
   */
  ready?(): Promise<unknown>
}

/**
 * A resource of a plug-in, such as an endpoint that takes access tokens. A token of a request without a
 * resource is for it, too, if it has one of the scopes. These scopes are good with every resource.
 */
export interface PlugInResource {
  readonly uri: string
  readonly scopes: readonly string[]
}

/** An option of a plug-in that breaks a rule of the command `lint`. */
export interface PlugInRisk {
  readonly rule: string
  /** The path of the option, such as `nonces.secret`. */
  readonly path: string
}

/** What a plug-in reads of a guard. */
export interface PlugInGuard {
  /** The option `issuer`. */
  readonly issuer: string
  /** Seconds since the epoch, by the option `clock`. */
  readonly now: () => number
  /** Random bytes, for every secret. */
  readonly random: (bytes: number) => Buffer
  /**
   * The counters for requests of this issuer, with the deadline of the store and the limit on single uses.
   *
   * @throws Error before the server is made.
   */
  readonly counters: Counters
  /** The option `store`; undefined for a guard without a store. */
  readonly storage: Storage | undefined
}

/**
 * What a plug-in reads of a server. `documents`, `findClient`, `parseAuthorizationRequest`, `findAccess`,
 * `admit`, `find`, `polledRequests`, `authorizationsOf`, `reportFailure`, `begin`, `commit` and `keys` are
 * for requests: they throw an `Error` until the server is made. A store that fails causes
 * `temporarily_unavailable`.
 */
export interface PlugInServer extends PlugInGuard {
  /** The option `store`. Its records have no guard against races here: use `commit`. */
  readonly storage: Storage
  /** The signing keys of the store, with its deadline; undefined if the store has none. */
  readonly keys: KeyStore | undefined
  /** The URIs of the option `resources`, as written there; empty without the option. */
  readonly resources: readonly string[]
  /** The names in the option `scopes`. */
  readonly scopes: readonly string[]
  /** Whether the host has the option `logOut`. */
  readonly canLogOut: boolean
  /** The URL of a path below the issuer. */
  readonly urlOf: (path: string) => string
  /** The time, the random bytes and the lifetimes for a new record. */
  readonly context: () => RecordContext
  /** Fetches documents of clients over https, such as the JWK set at `jwks_uri`. */
  readonly documents: DocumentFetch
  /** Finds a registered client, which may be disabled; undefined if there is none. */
  readonly findClient: (clientId: string) => Promise<Client | undefined>
  /**
   * Checks an authorization request as the authorization endpoint does, for a known client that pushes it
   * (RFC 9126). Extensions replace the request first (`resolveRequest`), and add to it (`atPushedRequest`).
   * The parameter `client_id` must then name this client.
   *
   * @param evidence what the extensions found in the request of the client: `evidence` at the endpoint.
   * @param sender `sender` at the endpoint: the fetches that the request causes count for it.
   * @throws OAuthError every refusal of the authorization endpoint.
   */
  readonly parseAuthorizationRequest: (
    client: Client,
    parameters: Parameters,
    evidence: Evidence | undefined,
    sender: Sender,
  ) => Promise<ParsedRequest>
  /** The requests of clients without a redirection URI, for a plug-in with a page of its own. */
  readonly polledRequests: PolledRequests
  /** Finds an access token of this server; undefined if it is unknown, expired or revoked. */
  readonly findAccess: (accessToken: string) => Promise<FoundAccess | undefined>
  /**
   * Admits a request with an access token to an endpoint of the plug-in, as a guard does: checks the token,
   * its type, its proof and its scope, and asks the extensions.
   *
   * @param scope the scope token that the endpoint needs.
   * @throws OAuthError the refusals of a guard, also for a request without a token.
   */
  readonly admit: (request: EndpointRequest<undefined>, scope: string) => Promise<AdmittedRequest>
  /** Finds a record; undefined if it does not exist, has expired or was revoked. Another writer may be changing it. */
  readonly find: (authorizationId: string) => Promise<Authorization | undefined>
  /**
   * Lists the authorizations of a resource owner, for a plug-in with `indexSeconds`: every live one that
   * began since the server writes the index, and some that have ended.
   */
  readonly authorizationsOf: (subject: string) => Promise<readonly OwnerEntry[]>
  /** Reports a failure outside of a request, by the event `failure`. */
  readonly reportFailure: (failure: LateFailure) => void
  /** Stores a new record. Its id must be new, such as an id of `createUnclaimedAuthorization`. */
  readonly begin: (authorization: Authorization) => Promise<void>
  /**
   * Changes a record, or refuses: reads it, applies the transition and saves the result by compare-and-set. A
   * conflict repeats the transition on the new record, so the transition must be pure.
   *
   * @throws OAuthError the refusal of the transition; `temporarily_unavailable` if other writers win 16
   *   times.
   */
  readonly commit: <Outcome>(authorizationId: string, transition: Transition<Outcome>) => Promise<Outcome>
}

/** A request that an endpoint admits. */
export interface AdmittedRequest extends FoundAccess {
  /** For the response, such as a fresh nonce. */
  readonly headers: Readonly<Record<string, string>>
}

/** A failure outside of a request, such as a message to a client that did not arrive. */
export interface LateFailure {
  /** The part that failed, as the member `endpoint` of the event. */
  readonly endpoint: string
  /** A stable word. */
  readonly reason: string
  readonly clientId: string | undefined
  readonly subject: string | undefined
  readonly cause: unknown
}

/** A valid authorization request of a known client, before the resource owner is known. */
export interface ParsedRequest {
  /** The members of the record that begins with the request. */
  readonly proposal: UnclaimedProposal
  /** What extensions add to the consent page. */
  readonly facts: readonly ConsentFact[]
  /**
   * The parameters that count, in form encoding, without credentials of the client: what `resolveRequest`
   * returns once a browser brings the request.
   */
  readonly parameters: string
}
