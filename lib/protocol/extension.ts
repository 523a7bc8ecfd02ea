import type { Client } from './client'
import type { KeptData } from './extension-data'
import type { ExtensionMetadata } from './extension-metadata'
import type { DecisionTerms, ExtensionDecision, ExtensionRefresh, RefreshVerdict } from './extension-decision'
import type { Json } from './json'
import type { Parameters } from './parameters'
import type { OwnerQuestion } from './owner-question'
import type { ExtensionPushedRequest, RequestArrival, ResolvedRequest } from './resolved-request'
import type { Login, ResourceOwner } from './resource-owner'
import type { ResponseTypeDescription } from './response-type'
import type { Scope } from './scope'
import type { SingleUse } from './single-use'
import type { ResourceRequest } from './token-type'

export interface ExtensionRequest {
  readonly client: Client
  readonly parameters: Parameters
}

/** A request whose client has authenticated, at any endpoint for clients. */
export interface ClientRequest extends ExtensionRequest, ResourceRequest {
  /** Such as `token`, `revocation`, or that of an endpoint of the host. */
  readonly endpoint: string
  readonly url: string
  /** Also for a refused request, such as a fresh nonce. */
  setHeader(name: string, value: string): void
  /** Uses something up, such as the proof in a header, once nothing else refuses the request. */
  useLast(use: SingleUse): void
}

export interface ExtensionAuthorizationRequest extends ExtensionRequest {
  /** For a client without a browser: the grant type of its polls. */
  readonly responseType: ResponseTypeDescription
  /** Undefined for a client without a browser, such as a device. */
  readonly redirectUri: string | undefined
  /** What the owner is asked for, unless an extension narrows it. */
  readonly scope: Scope
}

/** What a client proposes to the resource owner. */
export interface ExtensionConsentRequest extends ExtensionAuthorizationRequest {
  /** What the request names; undefined if it names none. */
  readonly requestedScope: Scope | undefined
  /** What this extension stored with the authorization. */
  readonly authorizationData: Json | undefined
}

export interface ExtensionOwnerRequest extends ExtensionAuthorizationRequest {
  /**
   * For a device, and for a decision with another login than that of the page: those about the login, and those in
   * `authorizationParameters`.
   */
  readonly parameters: Parameters
  /** What this extension stored with the authorization. */
  readonly authorizationData: Json | undefined
  /**
   * When a login was demanded for this request, in seconds since the epoch, less 5 seconds by which clocks may differ;
   * undefined if none was. `authTime` of the owner must not be earlier.
   */
  readonly loginDemandedAt: number | undefined
  /**
   * Whether the request may be approved without a page: the response is a code, and the client is confidential or at an
   * https URI (RFC 6749 10.2).
   */
  readonly mayApprove: boolean
  /**
   * Whether the owner has approved before: by the option `skipConsent`, or in the server's memory. False unless
   * `mayApprove`.
   */
  readonly hasApproved: () => Promise<boolean>
}

/**
 * `approve` needs no page if the request may be approved so. `ask` shows the page, whatever the option `skipConsent`
 * says. `log in` sends even a logged-in owner to the login, and stores the time of the demand. `{ logIn }` also names
 * classes that the login has to meet, besides those of the request.
 */
export type OwnerVerdict = 'approve' | 'ask' | 'log in' | DemandedLogin

interface DemandedLogin {
  readonly logIn: {
    /** The best one first; none for any login. */
    readonly acrValues: readonly string[]
  }
}

/** What a registration says about the login, for requests that do not say it. */
export interface LoginDefaults {
  /** `max_age`, in whole seconds. Default: any age. */
  readonly maxAge?: number
  /** `acr_values`, the preferred one first. Default none. */
  readonly acrValues?: readonly string[]
}

/** An omitted member changes nothing. */
export interface ConsentTerms {
  /** A part of the scope of the request. An empty scope is `invalid_scope`. */
  readonly scope?: Scope
  /** What the consent page shows besides the scope. */
  readonly facts?: readonly ConsentFact[]
}

/** What the owner sees before the decision, such as the resources of the access. */
export interface ConsentFact {
  /**
   * A stable name. For a remembered consent, values of `resource` and `claims` count each, those of others together.
   */
  readonly name: string
  /** The words before the values. */
  readonly label: string
  /** `description` is what the page shows; `value` is what the authorization stores. */
  readonly values: readonly { readonly value: string; readonly description: string }[]
}

/** A valid request of a known owner, before the page or the approval. */
export interface ExtensionQuestionRequest extends ExtensionAuthorizationRequest {
  /** What this extension stored with the authorization. */
  readonly authorizationData: Json | undefined
  /** What the option `choices` returns for this request. */
  readonly askHost: () => Promise<unknown>
}

/**
 * A token request whose grant is proven, before a token is issued. Also for a token of the authorization endpoint: with
 * the grant type `implicit`, and without parameters.
 */
export interface ExtensionTokenRequest extends ExtensionRequest {
  readonly grantType: string
  /** Undefined when the client acts for itself. */
  readonly subject: string | undefined
  /** What the access token gets unless an extension narrows it. */
  readonly scope: Scope
  /** What the request names; undefined if it names none, or its grant type does not read the parameter. */
  readonly requestedScope: Scope | undefined
  /** What this extension stored with the authorization. */
  readonly authorizationData: Json | undefined
  /** Whether the authorization begins here, as for client credentials and assertions. */
  readonly begins: boolean
  /**
   * The token of this server that the request exchanges (RFC 8693): the new one should give no more. Undefined for
   * every other grant.
   */
  readonly subjectToken: ExchangedToken | undefined
  /** The targets that the grant type has approved, such as by the policy of a token exchange. */
  readonly audience: readonly string[]
  /** What `prepare` of this extension resolved to; undefined for a token of the authorization endpoint. */
  readonly evidence: unknown
}

export interface ExchangedToken extends KeptData {
  readonly scope: Scope
}

/** Of one access token. An omitted member changes nothing. */
export interface TokenRestriction {
  /** A part of the scope of the request. An empty scope is `invalid_scope`. */
  readonly scope?: Scope
  /** The longest lifetime, in whole seconds. `lifetimes.accessToken` bounds it, too. */
  readonly lifetime?: number
  /** Stored with the access token: JSON of at most 16 384 characters. */
  readonly tokenData?: Json
  /**
   * Stored with the authorization from now on, in place of earlier data: JSON of at most 16 384 characters. Ignored if
   * a client repeats a refresh.
   */
  readonly authorizationData?: Json
  /** A token type by name. Default: that of the authorization. Two extensions must not name two. */
  readonly tokenType?: string
  /**
   * A format by name, or `opaque`. Default: the first one of the option `accessTokenFormats`. Two extensions must not
   * name two.
   */
  readonly format?: string
}

/** A response whose access token is not stored yet. */
export interface ExtensionTokenResponse extends KeptData {
  readonly client: Client
  /** `implicit` for a token of the authorization endpoint. */
  readonly grantType: string
  /** What `prepare` of this extension resolved to; undefined for a token of the authorization endpoint. */
  readonly evidence: unknown
  /** As the client gets it. */
  readonly accessToken: string
  readonly tokenType: string
  /** 22 characters of base64url. */
  readonly authorizationId: string
  /** Undefined when the client acts for itself. */
  readonly subject: string | undefined
  /** Undefined if the host does not say. */
  readonly login: Login | undefined
  readonly scope: Scope
  /** In seconds since the epoch. */
  readonly expiresAt: number
  /** Whether the client repeats a refresh that was answered before, and gets the same refresh token again. */
  readonly isRepetition: boolean
}

export interface TokenResponseAddition {
  /**
   * Such as `id_token`. A member that the response already has is a mistake. The authorization endpoint carries texts
   * and numbers only.
   */
  readonly members?: Readonly<Record<string, Json>>
  /** Such as a fresh nonce. The authorization endpoint leaves them out. */
  readonly headers?: Readonly<Record<string, string>>
}

/** A request with a valid access token. */
export interface ExtensionResourceRequest extends KeptData {
  readonly request: ResourceRequest
  /** Of the guard: a URI of the option `resources`; undefined without this option. */
  readonly resource: string | undefined
  readonly clientId: string
  /** Undefined when the client acts for itself. */
  readonly subject: string | undefined
  readonly scope: Scope
}

/**
 * A plug-in that adds parameters and members to endpoints and guards. It stores data with the authorization and with
 * each access token, under its own name, so the record needs no field for any RFC.
 *
 * Every function is pure, because a conflict in the store may call it again, and synchronous unless its type says
 * otherwise.
 */
export interface Extension {
  /** Unique among the extensions of a server. Its data is stored under this name. */
  readonly name: string
  /** Parameters of authorization requests that it reads. A request that repeats one is refused. */
  readonly authorizationParameters?: readonly string[]
  /** Parameters of every token request that it reads. A request that repeats one is refused. */
  readonly tokenParameters?: readonly string[]
  /**
   * Scope tokens that a request may name without effect if its client does not have them, such as `offline_access`, at
   * every endpoint. Default: none; such a scope is `invalid_scope`.
   */
  readonly ignoredScope?: Scope
  /** Parameters that hold a credential: refused in a query (RFC 6749 2.3.1). */
  readonly credentialParameters?: readonly string[]
  /**
   * Metadata of the server (RFC 8414 2); members of the suite win. A server without an authorization endpoint leaves
   * out those of an extension that reads parameters there.
   */
  readonly metadata?: ExtensionMetadata
  /**
   * Replaces an authorization request before the server reads anything but its client: a pushed request (RFC 9126), or
   * a request object (RFC 9101). Undefined leaves it as it is.
   *
   * @param arrival how the request came, and what earlier extensions have found.
   * @throws OAuthError to refuse the request, on a page: the server has no redirection URI yet.
   */
  resolveRequest?(
    parameters: Parameters,
    client: Client,
    arrival: RequestArrival,
  ): Promise<ResolvedRequest | undefined>
  /**
   * Returns parameters that a pushed request gets besides its own, such as `dpop_jkt` of its proof (RFC 9449 10.1).
   * Refuse a request that has the parameter with another value.
   *
   * @throws OAuthError to refuse the request.
   */
  atPushedRequest?(request: ExtensionPushedRequest): Readonly<Record<string, string>> | undefined
  /** Headers that scripts of other origins may read with CORS, such as `DPoP-Nonce`. */
  readonly exposedHeaders?: readonly string[]
  /**
   * The member of `cnf` (RFC 7800 3.1) that is the `tokenData` of the extension, such as `x5t#S256` (RFC 8705 3.1). The
   * extension checks it in `atResourceRequest`. See {@link TokenType.confirmationMethod}.
   */
  readonly confirmationMethod?: string
  /**
   * Looks at a request before its endpoint does, such as at the proof in a header: at every endpoint that authenticates
   * clients, of the suite and of the host. The result is the `evidence` of the other functions.
   *
   * @throws OAuthError to refuse the request. It may have headers, such as a fresh nonce.
   */
  prepare?(request: ClientRequest): Promise<unknown>
  /**
   * Checks a request whose client and redirection URI are valid. Returns the data to store with the authorization: JSON
   * of at most 16 384 characters, or undefined.
   *
   * @throws OAuthError to refuse the request; the client gets the error by redirect.
   */
  atAuthorizationRequest?(request: ExtensionAuthorizationRequest): Json | undefined
  /** What the registration says about the login, for each authorization request. The request itself wins. */
  loginDefaults?(client: Client): LoginDefaults | undefined
  /**
   * May narrow the scope that the owner approves, and adds facts to the consent page. Runs after
   * `atAuthorizationRequest`, also if the host skips the page. May wait, such as for a database.
   *
   * @throws OAuthError to refuse the request; the client gets the error by redirect.
   */
  atConsent?(request: ExtensionConsentRequest): ConsentTerms | undefined | Promise<ConsentTerms | undefined>
  /**
   * Decides on a login, a page or neither. Of several extensions, `log in` counts before `ask`, and `ask` before
   * `approve`. Undefined leaves it to the server: the login if no owner is logged in, then the option `skipConsent`,
   * then the page. Runs again for an owner who decides with another login than that of the page.
   *
   * @param owner undefined if none is logged in: then the server always sends to the login.
   * @throws OAuthError to refuse the request, such as `login_required`; the client gets the error by redirect.
   */
  atResourceOwner?(
    owner: ResourceOwner | undefined,
    request: ExtensionOwnerRequest,
  ): Promise<OwnerVerdict | undefined>
  /**
   * Asks the owner one question on the consent page. Runs once the owner is known and no login is demanded, also if the
   * host skips the page: with two answers or more, the page appears. Two extensions must not ask about one request. Not
   * for a client without a redirection URI, such as a device, which has another page.
   *
   * @throws OAuthError to refuse the request; the client gets the error by redirect.
   */
  askOwner?(owner: ResourceOwner, request: ExtensionQuestionRequest): Promise<OwnerQuestion | undefined>
  /**
   * Settles what an approval gives, with and without a page, before the write: may narrow the scope, and store the
   * answer.
   *
   * @throws OAuthError to refuse the request; the client gets the error by redirect.
   */
  atDecision?(decision: ExtensionDecision): DecisionTerms | undefined
  /**
   * `end` ends an authorization, with all its tokens, when its client refreshes. Runs before the server stores a new
   * access token, so not for a repeated refresh that gets the same tokens again. Anything thrown but an `OAuthError` is
   * `temporarily_unavailable`, and uses nothing up.
   */
  atRefresh?(refresh: ExtensionRefresh): Promise<RefreshVerdict>
  /**
   * Checks a token request of any grant type whose grant is proven. May narrow the access token, never widen the grant.
   * Runs again if a client repeats a refresh.
   *
   * @throws OAuthError to refuse the request. A refusal does not use up a refresh token. Five refusals of one code burn
   * the code, unless they are `invalid_target` or `invalid_scope`.
   */
  atTokenRequest?(request: ExtensionTokenRequest): TokenRestriction | undefined
  /**
   * Whether the data binds the refresh token to a key that `atTokenRequest` demands of each refresh (RFC 9700 2.2.2).
   * Default: no.
   */
  bindsRefreshToken?(authorizationData: Json): boolean
  /**
   * Adds to a response with an access token. Runs before the server stores the token, so a failure uses nothing up, and
   * again if another process changes the record meanwhile.
   *
   * @throws OAuthError to refuse the request.
   */
  atTokenResponse?(response: ExtensionTokenResponse): Promise<TokenResponseAddition | undefined>
  /**
   * Checks a request that a guard is about to let pass. Returns undefined, or a reason to refuse the token: a stable
   * word for events. The client learns only that the token is not valid (401).
   *
   * @throws OAuthError to refuse the request with another code, status or challenge.
   */
  atResourceRequest?(request: ExtensionResourceRequest): string | undefined
  /**
   * The identifier of an owner for a client: the `sub` of access tokens in a format and of introspection. Always the
   * same for the same arguments. Records, guards that look a token up and functions of the host use the subject of the
   * host. Only one extension may have the function.
   */
  publishedSubject?(subject: string, client: Client): string
  /** Members of introspection about an access token (RFC 7662 2.2). Those of the suite win. */
  introspect?(data: KeptData): Readonly<Record<string, Json>>
  /** Claims of an access token in a format, such as `aud`. Clients can read them in a JWT. Those of the suite win. */
  claims?(data: KeptData): Readonly<Record<string, Json>>
  /** Members of `req.oauth` at a guard. Those of the suite win. */
  access?(data: KeptData): Readonly<Record<string, Json>>
}
