import type { Client } from './client'
import { isRecord, isText, isTexts } from './configuration'
import type { Parameters } from './parameters'
import type { ResponseTypeDescription } from './response-type'
import type { Scope } from './scope'
import type { ResourceRequest } from './token-type'

/** A request of a client as an extension sees it. */
export interface ExtensionRequest {
  /** The registration of the client. */
  readonly client: Client
  /** The parameters of the request. */
  readonly parameters: Parameters
}

/** An authorization request as an extension sees it. */
export interface ExtensionAuthorizationRequest extends ExtensionRequest {
  /** The response type that the client requests. */
  readonly responseType: ResponseTypeDescription
}

/** What a client proposes to the resource owner, as an extension sees it. */
export interface ExtensionConsentRequest extends ExtensionAuthorizationRequest {
  /** The scope that the owner is asked for, unless an extension narrows it. */
  readonly scope: Scope
  /** The scope that the request names; undefined if it names none. */
  readonly requestedScope: Scope | undefined
  /** The data that this extension keeps with the authorization; undefined if there is none. */
  readonly authorizationData: Json | undefined
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
  /** A stable name for code of the host, such as `resource`. */
  readonly name: string
  /** The words before the values on the page of the suite. */
  readonly label: string
  /** `description` is what the page shows; `value` is what the authorization keeps. */
  readonly values: readonly { readonly value: string; readonly description: string }[]
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
   * The longest lifetime of the access token, in whole seconds. The option `accessTokenLifetime` also bounds the
   * lifetime.
   */
  readonly lifetime?: number
  /** Data that the extension keeps with the access token: JSON of at most 16 384 characters. */
  readonly tokenData?: Json
  /**
   * Data that the extension keeps with the authorization: JSON of at most 16 384 characters. Only allowed if the
   * authorization begins with the request.
   */
  readonly authorizationData?: Json
}

/** The data that one extension keeps for an access token. Undefined if there is none. */
export interface KeptData {
  /** The data that belongs to the authorization of the token. */
  readonly authorizationData: Json | undefined
  /** The data that belongs to the token itself. */
  readonly tokenData: Json | undefined
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
 * Every function of an extension is synchronous and pure: a conflict in the store calls the function again.
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
  /** Parameters that hold a credential. A request of a client that has one of them in its query is refused (RFC 6749 2.3.1). */
  readonly credentialParameters?: readonly string[]
  /**
   * Members that the extension adds to the metadata of the server (RFC 8414 2); the members of the suite win. A server
   * without an authorization endpoint leaves out the members of an extension that reads parameters there.
   */
  readonly metadata?: ExtensionMetadata
  /**
   * Checks an authorization request whose client and redirection URI are valid. Returns the data to keep with the
   * authorization: JSON of at most 16 384 characters, or undefined.
   *
   * @throws OAuthError to refuse the request; the client gets the error by redirect.
   */
  atAuthorizationRequest?(request: ExtensionAuthorizationRequest): Json | undefined
  /**
   * Settles what the resource owner is asked to approve: may narrow the scope, and adds facts to the consent page. Runs
   * after `atAuthorizationRequest`, also if the host skips the page.
   *
   * @throws OAuthError to refuse the request; the client gets the error by redirect.
   */
  atConsent?(request: ExtensionConsentRequest): ConsentTerms | undefined
  /**
   * Checks a token request of any grant type whose grant is proven, and may narrow the access token. An extension can
   * never widen the grant. If a client repeats a refresh, the server calls the function again.
   *
   * @throws OAuthError to refuse the request. A refusal does not use up a refresh token. Five refusals of one code burn
   * the code, unless they are `invalid_target` or `invalid_scope`.
   */
  atTokenRequest?(request: ExtensionTokenRequest): TokenRestriction | undefined
  /**
   * Checks a request that a guard is about to let pass. Returns undefined to let the request pass, or a reason to
   * refuse the token, a stable word for events. The client learns only that the token is not valid (401).
   */
  atResourceRequest?(request: ExtensionResourceRequest): string | undefined
  /** Returns members that introspection adds about an access token (RFC 7662 2.2). The members of the suite win. */
  introspect?(data: KeptData): Readonly<Record<string, Json>>
  /** Returns members that a guard adds to `req.oauth`. The members of the suite win. */
  access?(data: KeptData): Readonly<Record<string, Json>>
}

/** Whether no extension keeps data. */
export function isEmpty(data: ExtensionData): boolean {
  return Object.keys(data).length === 0
}

/** Members of the metadata, under the registered names. */
export type ExtensionMetadata = Readonly<Record<string, string | boolean | readonly string[]>>

/** Whether the value is an object of members that the metadata may have. */
export function isExtensionMetadata(value: unknown): value is ExtensionMetadata {
  return (
    isRecord(value) &&
    Object.values(value).every((member) => isText(member) || typeof member === 'boolean' || isTexts(member))
  )
}

/** Values that a store can keep and return unchanged. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json }

/** The data of extensions, each under the name of its extension. */
export type ExtensionData = Readonly<Record<string, Json>>

/** Picks the data that one extension keeps for an access token. */
export function keptBy(name: string, { extensionData, tokenExtensionData }: KeptExtensionData): KeptData {
  return { authorizationData: dataOf(name, extensionData), tokenData: dataOf(name, tokenExtensionData) }
}

/** The data that all extensions keep for an access token. */
export interface KeptExtensionData {
  /** The data that belongs to the authorization. */
  readonly extensionData: ExtensionData
  /** The data that belongs to the token itself. */
  readonly tokenExtensionData: ExtensionData
}

/**
 * The data under this name; undefined if there is none. Reads own members only, because an extension may have a name
 * such as `constructor`.
 */
export function dataOf(name: string, data: ExtensionData): Json | undefined {
  return Object.hasOwn(data, name) ? data[name] : undefined
}

// In characters of JSON. The bound is small, because every guarded request reads a record.
const longestKept = 16_384
const deepest = 32

/** Whether JSON brings the value back unchanged, and the value is small enough for a record. */
export function isKeepable(value: unknown): value is Json {
  return isJson(value) && JSON.stringify(value).length <= longestKept
}

/** Says what a value must be that a store can keep, as the rest of a sentence. */
export const keepableCure = `must be JSON (texts, finite numbers, booleans, null, lists and plain objects, ${deepest} deep) of at most ${longestKept} characters.`

/** Whether JSON brings the value back unchanged. */
export function isJson(value: unknown, depth = deepest): value is Json {
  if (typeof value === 'number') return Number.isFinite(value)
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true
  if (typeof value !== 'object' || depth === 0) return false
  // JSON turns a hole in a list into null.
  if (Array.isArray(value)) return Array.from(value).every((item) => isJson(item, depth - 1))
  return isPlain(value) && Object.values(value).every((item) => isJson(item, depth - 1))
}

// JSON turns a Date, a Buffer or a Map into something else. Object.prototype alone has no prototype: compared so, an
// object of another realm is plain too, such as a JWK of node:crypto in a test that jest runs.
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  const isPlainPrototype = prototype === null || Object.getPrototypeOf(prototype) === null
  return isPlainPrototype && !('toJSON' in value)
}
