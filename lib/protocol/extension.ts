import type { Client } from './client'
import type { KeptData } from './extension-data'
import type { ExtensionMetadata } from './extension-metadata'
import type { Json } from './json'
import type { Parameters } from './parameters'
import type { OwnerQuestion } from './owner-question'
import type { Login, ResourceOwner } from './resource-owner'
import type { ResponseTypeDescription } from './response-types'
import type { Scope } from './scope'
import type { Sender } from './sender'
import type { SingleUse } from './single-use'
import type { ResourceRequest } from './token-type'

export interface ExtensionRequest {
  readonly client: Client
  readonly parameters: Parameters
}

/** At any endpoint for clients, after authentication. */
export interface ClientRequest extends ExtensionRequest, ResourceRequest {
  /** Such as `token`, or an endpoint of the host. */
  readonly endpoint: string
  readonly url: string
  /** Also of a refusal, such as a fresh nonce. */
  setHeader(name: string, value: string): void
  /** Uses something up, such as the proof in a header, once nothing else refuses the request. */
  useLast(use: SingleUse): void
}

export interface ResolvedRequest {
  /**
   * In place of those of the request, in form encoding or by `parameters.with(…)`. `client_id` must name the same
   * client.
   */
  readonly parameters: string | Parameters
  /**
   * The handle of a record of `openRequest`, if the request is good once. The record becomes this request's when an
   * owner sees its page or approves it. One that is claimed, expired or another client's is refused, on a page.
   * Default: nothing is used up.
   */
  readonly claims?: string
}

export interface RequestArrival {
  /** Whether a client pushes now, by `parseAuthorizationRequest`: claims no record, and may lack `client_id`. */
  readonly isPushed: boolean
  /** Of `prepare`, for a pushed request. */
  readonly evidence: unknown
  /** Whether an earlier extension has found the record. */
  readonly hasRecord: boolean
  /** For fetches. */
  readonly sender: Sender
}

/** Valid, before the page or the approval. */
export interface ExtensionAuthorizationRequest extends ExtensionRequest {
  /** For a decision with another login than the page's: those of OAuth and in `authorizationParameters`. */
  readonly parameters: Parameters
  /** For a client without a browser: the grant type of its polls. */
  readonly responseType: ResponseTypeDescription
  /** Undefined for a device. */
  readonly redirectUri: string | undefined
  /** What the owner is asked for: the parameter `scope`, or the default. */
  readonly scope: Scope
  /** Undefined if nobody is logged in, or without a browser, as for a pushed request. */
  readonly owner: ResourceOwner | undefined
  /**
   * In seconds since the epoch, less 5 seconds by which clocks may differ: `authTime` of the owner must not be earlier.
   */
  readonly loginDemandedAt: number | undefined
}

/** For requests that do not say it. */
export interface LoginDefaults {
  /** `max_age`, in whole seconds. Default: any age. */
  readonly maxAge?: number
  /** `acr_values`, the best first. Default none. */
  readonly acrValues?: readonly string[]
}

/** An omitted member changes nothing. */
export interface AuthorizationTerms {
  /** Stored with the authorization: JSON of at most 16 384 characters. */
  readonly data?: Json | undefined
  /** A part of the requested scope. An empty one is `invalid_scope`. */
  readonly scope?: Scope
  /** For the consent page. */
  readonly facts?: readonly ConsentFact[]
  /** Of the registration. The request wins; of two extensions, the first. */
  readonly loginDefaults?: LoginDefaults
  /**
   * Sends even a logged-in owner to the login, which has to meet one of the classes, the best first; any login without
   * them.
   */
  readonly logIn?: { readonly acrValues?: readonly string[] }
  /** `approve` needs no page, where `skipConsent` could do without. `ask` shows the page in any case, and wins. */
  readonly consent?: 'approve' | 'ask'
  /**
   * One question of the consent page, or undefined. Runs if no login is missing, also if the host skips the page, which
   * two answers or more bring back. Two extensions must not ask about one request.
   */
  readonly question?: (request: ExtensionQuestionRequest) => Promise<OwnerQuestion | undefined>
}

/** Such as the resources of the access. */
export interface ConsentFact {
  /** Stable. A remembered consent counts each value of `resource` and `claims`, and those of others together. */
  readonly name: string
  /** The words before the values. */
  readonly label: string
  /** The page shows `description`; the authorization stores `value`. */
  readonly values: readonly { readonly value: string; readonly description: string }[]
}

export interface ChoicesQuestion {
  readonly clientId: string
  readonly subject: string
  readonly scope: readonly string[]
  /** What extensions add to the consent page. */
  readonly facts: readonly ConsentFact[]
  /** Undefined for a device. */
  readonly redirectUri: string | undefined
}

export interface ExtensionQuestionRequest extends ChoicesQuestion {
  /** The result of the option `choices`. */
  readonly askHost: () => Promise<unknown>
}

/**
 * The grant is proven, no token issued. At the authorization endpoint, the grant type is `implicit`, without
 * parameters.
 */
export interface ExtensionTokenRequest extends ExtensionRequest {
  readonly grantType: string
  /** Undefined when the client acts for itself. */
  readonly subject: string | undefined
  /** What the access token gets. */
  readonly scope: Scope
  /** Undefined if the request names none. */
  readonly requestedScope: Scope | undefined
  /** What this extension stored. */
  readonly authorizationData: Json | undefined
  /** Whether the authorization begins here. */
  readonly begins: boolean
  /** The exchanged token of this server (RFC 8693): give no more than it has. */
  readonly subjectToken: ExchangedToken | undefined
  /** Targets that the grant type approves. */
  readonly audience: readonly string[]
  /** Of `prepare`; undefined at the authorization endpoint. */
  readonly evidence: unknown
}

export interface ExchangedToken extends KeptData {
  readonly scope: Scope
}

/** Of one access token. An omitted member changes nothing. */
export interface TokenRestriction {
  /** A part of the requested scope. An empty one is `invalid_scope`. */
  readonly scope?: Scope
  /** At most, in whole seconds, within `lifetimes.accessToken`. */
  readonly lifetime?: number
  /** JSON of at most 16 384 characters. */
  readonly tokenData?: Json
  /** Replaces earlier data of the extension: JSON of at most 16 384 characters. A repeated refresh ignores it. */
  readonly authorizationData?: Json
  /** By name. Default: that of the authorization. Two extensions must not name two. */
  readonly tokenType?: string
  /**
   * At a refresh: whether the request proves the key of the refresh token, which then need not rotate (RFC 9700 2.2.2).
   * Needs `bindsRefreshTokens`. Default: no.
   */
  readonly provesKey?: boolean
  /** By name, or `opaque`. Default: the first that issues. Two extensions must not name two. */
  readonly format?: string
}

/** The access token is not stored yet. */
export interface ExtensionTokenResponse extends KeptData {
  readonly client: Client
  /** `implicit` at the authorization endpoint. */
  readonly grantType: string
  /** Of `prepare`; undefined at the authorization endpoint. */
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
  /** All of the authorization. */
  readonly grantedScope: Scope
  /** Seconds since the epoch. */
  readonly grantedAt: number
  /** Seconds since the epoch. */
  readonly expiresAt: number
  /** Whether a client repeats an answered request, and gets the same tokens. */
  readonly isRepetition: boolean
}

export interface TokenResponseAddition {
  /** Must not be there already. The authorization endpoint carries texts and numbers only. */
  readonly members?: Readonly<Record<string, Json>>
  /** The authorization endpoint leaves them out. */
  readonly headers?: Readonly<Record<string, string>>
}

/** The access token is valid. */
export interface ExtensionResourceRequest extends KeptData {
  readonly request: ResourceRequest
  /** Of the option `resources` of the guard; undefined without it. */
  readonly resource: string | undefined
  readonly clientId: string
  /** Undefined when the client acts for itself. */
  readonly subject: string | undefined
  readonly scope: Scope
}

/**
 * The doors of a plug-in: it adds parameters and members to endpoints and guards, and stores data with the
 * authorization and each access token, under its own name.
 *
 * Every function is pure, because a conflict in the store calls it again, and synchronous unless its type says
 * otherwise.
 */
export interface Extension {
  readonly name: string
  /** Of authorization requests. A request that repeats one is refused. */
  readonly authorizationParameters?: readonly string[]
  /** Of every token request. A request that repeats one is refused. */
  readonly tokenParameters?: readonly string[]
  /**
   * Scope tokens, such as `offline_access`, without effect for a client that does not have them. Default: none; such a
   * scope is `invalid_scope`.
   */
  readonly ignoredScope?: Scope
  /** They hold a credential: refused in a query (RFC 6749 2.3.1). */
  readonly credentialParameters?: readonly string[]
  /** Of the server (RFC 8414 2); members of the suite win. */
  readonly metadata?: ExtensionMetadata
  /** Only of a server with an authorization endpoint. */
  readonly authorizationMetadata?: ExtensionMetadata
  /**
   * Replaces an authorization request before the server reads anything but its client, such as by a pushed request (RFC
   * 9126). Undefined leaves it as it is. Each extension gets what the one before left; those with `prepare` come last,
   * because what they add by `evidence` counts.
   *
   * @throws OAuthError to refuse, on a page: the server has no redirection URI yet.
   */
  resolve?(
    parameters: Parameters,
    client: Client,
    arrival: RequestArrival,
  ): Promise<ResolvedRequest | undefined>
  /** Whether `issue` binds refresh tokens of public clients to a key, and demands it. Default: no. */
  readonly bindsRefreshTokens?: boolean
  /** Readable for other origins by CORS, such as `DPoP-Nonce`. */
  readonly exposedHeaders?: readonly string[]
  /**
   * The member of `cnf` (RFC 7800 3.1) that is the `tokenData`, such as `x5t#S256` (RFC 8705 3.1); `admit` checks it.
   * See {@link TokenType.confirmationMethod}.
   */
  readonly confirmationMethod?: string
  /**
   * Runs before the endpoint, wherever clients authenticate, also at endpoints of the host. The result is the
   * `evidence` of the other functions.
   *
   * @throws OAuthError to refuse, perhaps with headers such as a fresh nonce.
   */
  prepare?(request: ClientRequest): Promise<unknown>
  /**
   * Judges a request, with or without its owner: when a browser brings it, when a client pushes it, and again if its
   * owner decides with another login than the page's, where only a demand of a login or a refusal counts. Gets the
   * scope that earlier extensions left.
   *
   * @throws OAuthError to refuse; the client gets it by redirect.
   */
  authorize?(
    request: ExtensionAuthorizationRequest,
  ): AuthorizationTerms | undefined | Promise<AuthorizationTerms | undefined>
  /**
   * For any proven grant. May narrow the access token, never widen the grant. Runs again for a repeated refresh.
   *
   * @throws OAuthError to refuse. Uses up no refresh token. Five refusals of one code burn it, except `invalid_target`
   * and `invalid_scope`.
   */
  issue?(request: ExtensionTokenRequest): TokenRestriction | undefined
  /**
   * Runs before the server stores the access token, so a failure uses nothing up, and again if another process changes
   * the record. `end` at a refresh that is no repetition ends the authorization, with all its tokens.
   *
   * @throws OAuthError to refuse.
   */
  respond?(response: ExtensionTokenResponse): Promise<TokenResponseAddition | 'end' | undefined>
  /**
   * Runs before a guard, or `PluginServer.admit`, lets a token pass. Returns a reason to refuse it, a stable word for
   * events; the client learns only that the token is not valid (401).
   *
   * @throws OAuthError to refuse with another code, status or challenge.
   */
  admit?(request: ExtensionResourceRequest): string | undefined
  /** Members about an access token, such as `aud`. Those of the suite win. */
  describe?(data: KeptData, to: DescribedTo): Readonly<Record<string, Json>> | undefined
}

/**
 * Who reads the members: `introspection` (RFC 7662 2.2), a `token` in a format, such as a JWT, or the `access` of a
 * route, `req.oauth`. Clients can read the second.
 */
export type DescribedTo = 'introspection' | 'token' | 'access'
