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

/** A request of a client as an extension sees it. */
export interface ExtensionRequest {
  /** The registration of the client. */
  readonly client: Client
  /** The parameters of the request. */
  readonly parameters: Parameters
}

/** A request at an endpoint that clients call, as an extension sees it. The client has authenticated. */
export interface ClientRequest extends ExtensionRequest, ResourceRequest {
  /** The name of the endpoint, such as `token`, `revocation`, or that of an endpoint of the host. */
  readonly endpoint: string
  readonly url: string
  /** Sets a header of the response, whether the request passes or is refused, such as a fresh nonce. */
  setHeader(name: string, value: string): void
  /** Uses something up, such as the proof in a header, once nothing else refuses the request. */
  useLast(use: SingleUse): void
}

/** An authorization request as an extension sees it. */
export interface ExtensionAuthorizationRequest extends ExtensionRequest {
  /** The response type that the client requests; for a client without a browser, the grant type of its polls. */
  readonly responseType: ResponseTypeDescription
  /** Where the response goes; undefined for a client without a browser, such as a device. */
  readonly redirectUri: string | undefined
  /** The scope that the owner is asked for, unless an extension narrows it. */
  readonly scope: Scope
}

/** What a client proposes to the resource owner, as an extension sees it. */
export interface ExtensionConsentRequest extends ExtensionAuthorizationRequest {
  /** The scope that the request names; undefined if it names none. */
  readonly requestedScope: Scope | undefined
  /** The data that this extension keeps with the authorization; undefined if there is none. */
  readonly authorizationData: Json | undefined
}

/** An authorization request and its resource owner, as an extension sees them. */
export interface ExtensionOwnerRequest extends ExtensionAuthorizationRequest {
  /** For a device, and a decision with another login than that of the page: those about the login, and those in `authorizationParameters`. */
  readonly parameters: Parameters
  /** The data that this extension keeps with the authorization; undefined if there is none. */
  readonly authorizationData: Json | undefined
  /**
   * When a login was demanded for this request, in seconds since the epoch, less 5 seconds by which clocks may differ;
   * undefined if none was. A login satisfies the demand if `authTime` of the owner is not earlier.
   */
  readonly loginDemandedAt: number | undefined
  /**
   * Whether the request may be approved without a page: the response is a code, and the client is confidential or at an
   * https URI (RFC 6749 10.2).
   */
  readonly mayApprove: boolean
  /**
   * Whether the option `skipConsent` says that the owner has approved before, or the server remembers it. False unless
   * `mayApprove`.
   */
  readonly hasApproved: () => Promise<boolean>
}

/**
 * What follows for the resource owner of a request. `approve` approves without a page if the request may be approved so;
 * otherwise the page appears. `ask` shows the page, whatever the option `skipConsent` says. `log in` sends the owner to
 * the login, also an owner who is logged in, and keeps the time of the demand. `{ logIn }` does the same, and names the
 * authentication context classes that the login has to meet, besides those of the request.
 */
export type OwnerVerdict = 'approve' | 'ask' | 'log in' | DemandedLogin

interface DemandedLogin {
  readonly logIn: {
    /** The best one first; none for any login. */
    readonly acrValues: readonly string[]
  }
}

/** What a registration says about the login of an owner, for requests that do not say it. */
export interface LoginDefaults {
  /** `max_age`, in whole seconds. Default: any age. */
  readonly maxAge?: number
  /** `acr_values`, the preferred one first. Default none. */
  readonly acrValues?: readonly string[]
}

/** What the resource owner is asked to approve. An omitted member changes nothing. */
export interface ConsentTerms {
  /**
   * The scope that the owner approves: a part of the scope of the request. An empty scope refuses the request with
   * `invalid_scope`.
   */
  readonly scope?: Scope
  /** What the consent page shows besides the scope. */
  readonly facts?: readonly ConsentFact[]
}

/** One fact that the resource owner sees before the decision, such as the resources that the access is for. */
export interface ConsentFact {
  /** A stable name. For a remembered consent, values of `resource` and `claims` count each, those of others together. */
  readonly name: string
  /** The words before the values on the page of the suite. */
  readonly label: string
  /** `description` is what the page shows; `value` is what the authorization keeps. */
  readonly values: readonly { readonly value: string; readonly description: string }[]
}

/** A valid request of a known resource owner, before the page or the approval, as an extension sees it. */
export interface ExtensionQuestionRequest extends ExtensionAuthorizationRequest {
  /** The data that this extension keeps with the authorization; undefined if there is none. */
  readonly authorizationData: Json | undefined
  /** What the option `choices` returns for this request. */
  readonly askHost: () => Promise<unknown>
}

/**
 * A token request as an extension sees it. The grant is proven, and the server has not issued a token yet. The server
 * also asks about a token that the authorization endpoint issues: the grant type is then `implicit`, and there are no
 * parameters.
 */
export interface ExtensionTokenRequest extends ExtensionRequest {
  /** The `grant_type` of the request. */
  readonly grantType: string
  /** The resource owner; undefined when the client acts for itself. */
  readonly subject: string | undefined
  /** The scope that the access token gets unless an extension narrows it. */
  readonly scope: Scope
  /** The scope that the request names; undefined if it names none, and if its grant type does not read the parameter. */
  readonly requestedScope: Scope | undefined
  /** The data that this extension keeps with the authorization; undefined if there is none. */
  readonly authorizationData: Json | undefined
  /** Whether the authorization begins with this request, as it does for client credentials and assertions. */
  readonly begins: boolean
  /**
   * The access token of this server that the request exchanges for the new token (RFC 8693). The new token should not
   * give more than this one. Undefined for every other grant.
   */
  readonly subjectToken: ExchangedToken | undefined
  /** The targets that the grant type has approved for the token, such as the policy of a token exchange. */
  readonly audience: readonly string[]
  /** What `prepare` of this extension resolved to; undefined for a token of the authorization endpoint. */
  readonly evidence: unknown
}

/** An access token that a request exchanges for another one, as an extension sees it. */
export interface ExchangedToken extends KeptData {
  /** The scope of the token. */
  readonly scope: Scope
}

/** A restriction of the access token of one token request. An omitted member changes nothing. */
export interface TokenRestriction {
  /**
   * The scope of the access token: a part of the scope of the request. An empty scope refuses the request with
   * `invalid_scope`.
   */
  readonly scope?: Scope
  /**
   * The longest lifetime of the access token, in whole seconds. The option `lifetimes.accessToken` also bounds the
   * lifetime.
   */
  readonly lifetime?: number
  /** Data that the extension keeps with the access token: JSON of at most 16 384 characters. */
  readonly tokenData?: Json
  /**
   * Data that the extension keeps with the authorization from now on, in place of its earlier data: JSON of at most
   * 16 384 characters. If a client repeats a refresh, the server ignores the member.
   */
  readonly authorizationData?: Json
  /**
   * The name of the token type of the access token. Default: that of the authorization. Two extensions must not name
   * two.
   */
  readonly tokenType?: string
  /**
   * The name of the format of the access token, or `opaque`. Default: the first one of the option `accessTokenFormats`.
   * Two extensions must not name two.
   */
  readonly format?: string
}

/** A response with an access token as an extension sees it. The server has not stored the token yet. */
export interface ExtensionTokenResponse extends KeptData {
  /** The registration of the client. */
  readonly client: Client
  /** The `grant_type` of the request; `implicit` for a token of the authorization endpoint. */
  readonly grantType: string
  /** What `prepare` of this extension resolved to; undefined for a token of the authorization endpoint. */
  readonly evidence: unknown
  /** The access token as the client gets it. */
  readonly accessToken: string
  /** `token_type` of the token. */
  readonly tokenType: string
  /** 22 characters of base64url. */
  readonly authorizationId: string
  /** The resource owner; undefined when the client acts for itself. */
  readonly subject: string | undefined
  /** How the resource owner had logged in; undefined if the host does not say. */
  readonly login: Login | undefined
  /** The scope of the token. */
  readonly scope: Scope
  /** The end of the token, in seconds since the epoch. */
  readonly expiresAt: number
  /** Whether the client repeats a refresh that the server has answered before, and gets the same refresh token again. */
  readonly isRepetition: boolean
}

/** What an extension adds to a response with an access token. */
export interface TokenResponseAddition {
  /**
   * Members of the response, such as `id_token`. A member that the response already has is a mistake. A response of the
   * authorization endpoint carries texts and numbers only.
   */
  readonly members?: Readonly<Record<string, Json>>
  /** Headers of the response, such as a fresh nonce. A response of the authorization endpoint leaves them out. */
  readonly headers?: Readonly<Record<string, string>>
}

/** A request with a valid access token, as an extension sees it. */
export interface ExtensionResourceRequest extends KeptData {
  /** The request at the guard. */
  readonly request: ResourceRequest
  /** The resource that the guard protects: a URI of the option `resources`; undefined without this option. */
  readonly resource: string | undefined
  /** The client of the token. */
  readonly clientId: string
  /** The resource owner; undefined when the client acts for itself. */
  readonly subject: string | undefined
  /** The scope of the token. */
  readonly scope: Scope
}

/**
 * A plug-in that adds parameters and members to the endpoints and to the guards. An extension keeps its data with the
 * authorization and with each access token, under its own name, so the record needs no field for any RFC.
 *
 * Every function of an extension is pure: a conflict in the store may call the function again. A function is synchronous
 * unless its type says otherwise.
 */
export interface Extension {
  /** The name, unique among the extensions of a server. The server keeps the data of the extension under this name. */
  readonly name: string
  /**
   * Parameters of the authorization request that the extension reads. The server refuses a request that repeats one of
   * them.
   */
  readonly authorizationParameters?: readonly string[]
  /**
   * Parameters of every token request that the extension reads. The server refuses a request that repeats one of them.
   */
  readonly tokenParameters?: readonly string[]
  /**
   * Scope tokens that a request may name without effect if its client does not have them, such as `offline_access`, at
   * every endpoint. Default: none; a scope that the client does not have is `invalid_scope`.
   */
  readonly ignoredScope?: Scope
  /** Parameters that hold a credential. A request of a client that has one of them in its query is refused (RFC 6749 2.3.1). */
  readonly credentialParameters?: readonly string[]
  /**
   * Members that the extension adds to the metadata of the server (RFC 8414 2); the members of the suite win. A server
   * without an authorization endpoint leaves out the members of an extension that reads parameters there.
   */
  readonly metadata?: ExtensionMetadata
  /**
   * Replaces an authorization request before the server reads anything but its client: a pushed request (RFC 9126), or a
   * request object (RFC 9101). Returns undefined to leave the request as it is.
   *
   * @param arrival how the request came, and what the extensions before this one have found.
   * @throws OAuthError to refuse the request. A browser shows it on a page: the server has no redirection URI yet.
   */
  resolveRequest?(
    parameters: Parameters,
    client: Client,
    arrival: RequestArrival,
  ): Promise<ResolvedRequest | undefined>
  /**
   * Returns parameters that a pushed request gets besides its own, such as `dpop_jkt` of the proof that came with it (RFC
   * 9449 10.1). A parameter that the request has already must have the same value: refuse the request if it has another.
   *
   * @throws OAuthError to refuse the request.
   */
  atPushedRequest?(request: ExtensionPushedRequest): Readonly<Record<string, string>> | undefined
  /** Headers that scripts of other origins may read at endpoints and guards with CORS, such as `DPoP-Nonce`. */
  readonly exposedHeaders?: readonly string[]
  /**
   * The member of `cnf` (RFC 7800 3.1) that is the `tokenData` of the extension, such as `x5t#S256` (RFC 8705 3.1). See
   * {@link TokenType.confirmationMethod}. The extension checks it in `atResourceRequest`.
   */
  readonly confirmationMethod?: string
  /**
   * Looks at a request of a client before its endpoint does, such as at the proof in a header. Runs at every endpoint
   * that authenticates clients: those of the suite and those of the host. The other functions for this request get the
   * result as `evidence`.
   *
   * @throws OAuthError to refuse the request. The error may have headers, such as a fresh nonce.
   */
  prepare?(request: ClientRequest): Promise<unknown>
  /**
   * Checks an authorization request whose client and redirection URI are valid. Returns the data to keep with the
   * authorization: JSON of at most 16 384 characters, or undefined.
   *
   * @throws OAuthError to refuse the request; the client gets the error by redirect.
   */
  atAuthorizationRequest?(request: ExtensionAuthorizationRequest): Json | undefined
  /**
   * Returns what the registration of a client says about the login, for each authorization request of the client. What
   * the request itself says wins.
   */
  loginDefaults?(client: Client): LoginDefaults | undefined
  /**
   * Settles what the resource owner is asked to approve: may narrow the scope, and adds facts to the consent page. Runs
   * after `atAuthorizationRequest`, also if the host skips the page. May wait, such as for a database.
   *
   * @throws OAuthError to refuse the request; the client gets the error by redirect.
   */
  atConsent?(request: ExtensionConsentRequest): ConsentTerms | undefined | Promise<ConsentTerms | undefined>
  /**
   * Decides what follows for the resource owner of a valid request: a login, a page or neither. Of several extensions,
   * `log in` counts before `ask`, and `ask` before `approve`. Returns undefined to leave it to the server: the login if
   * no owner is logged in, then the option `skipConsent`, then the page. Runs once more for an owner who decides with
   * another login than that of the page.
   *
   * @param owner the owner who is logged in; undefined if none is. Without an owner, the server always sends to the login.
   * @throws OAuthError to refuse the request, such as `login_required`; the client gets the error by redirect.
   */
  atResourceOwner?(
    owner: ResourceOwner | undefined,
    request: ExtensionOwnerRequest,
  ): Promise<OwnerVerdict | undefined>
  /**
   * Asks the resource owner one question on the consent page. Runs once the owner is known and no login is demanded, also
   * if the host skips the page: with two answers or more, the page appears. Two extensions must not ask about one
   * request. A client without a redirection URI, such as a device, has another page: the question does not appear there.
   *
   * @throws OAuthError to refuse the request; the client gets the error by redirect.
   */
  askOwner?(owner: ResourceOwner, request: ExtensionQuestionRequest): Promise<OwnerQuestion | undefined>
  /**
   * Settles what an approval gives, with and without a page, before the write: may narrow the scope, and keep the answer.
   *
   * @throws OAuthError to refuse the request; the client gets the error by redirect.
   */
  atDecision?(decision: ExtensionDecision): DecisionTerms | undefined
  /**
   * Decides whether an authorization goes on when its client refreshes. `end` ends it, with all its tokens. Runs before
   * the server stores a new access token; a repeated refresh that gets the same tokens again issues none. Whatever the
   * function throws but an `OAuthError` is `temporarily_unavailable`, and uses nothing up.
   */
  atRefresh?(refresh: ExtensionRefresh): Promise<RefreshVerdict>
  /**
   * Checks a token request of any grant type whose grant is proven, and may narrow the access token. An extension can
   * never widen the grant. If a client repeats a refresh, the server calls the function again.
   *
   * @throws OAuthError to refuse the request. A refusal does not use up a refresh token. Five refusals of one code burn
   * the code, unless they are `invalid_target` or `invalid_scope`.
   */
  atTokenRequest?(request: ExtensionTokenRequest): TokenRestriction | undefined
  /** Whether the data binds the refresh token to a key that `atTokenRequest` demands of each refresh (RFC 9700 2.2.2). Default: no. */
  bindsRefreshToken?(authorizationData: Json): boolean
  /**
   * Adds members and headers to a response with an access token. Runs before the server stores the token, so a function
   * that fails uses nothing up, and again if another process changes the record meanwhile.
   *
   * @throws OAuthError to refuse the request.
   */
  atTokenResponse?(response: ExtensionTokenResponse): Promise<TokenResponseAddition | undefined>
  /**
   * Checks a request that a guard is about to let pass. Returns undefined to let the request pass, or a reason to
   * refuse the token, a stable word for events. The client learns only that the token is not valid (401).
   *
   * @throws OAuthError to refuse the request with another code, status or challenge.
   */
  atResourceRequest?(request: ExtensionResourceRequest): string | undefined
  /**
   * Returns the identifier of a resource owner for a client: the `sub` of access tokens in a format and of introspection.
   * It must always be the same for the same arguments. Records, guards that look a token up and functions of the host
   * keep the subject of the host. One extension of a server may have the function.
   */
  publishedSubject?(subject: string, client: Client): string
  /** Returns members that introspection adds about an access token (RFC 7662 2.2). The members of the suite win. */
  introspect?(data: KeptData): Readonly<Record<string, Json>>
  /**
   * Returns claims that an access token in a format has about itself, such as `aud`. Clients can read them in a JWT. The
   * claims of the suite win.
   */
  claims?(data: KeptData): Readonly<Record<string, Json>>
  /** Returns members that a guard adds to `req.oauth`. The members of the suite win. */
  access?(data: KeptData): Readonly<Record<string, Json>>
}
