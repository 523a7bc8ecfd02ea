import type { Client } from './client'
import { isRecord, isText, isTexts } from './configuration'
import type { Parameters } from './parameters'
import type { ResponseTypeDescription } from './response-type'
import type { Scope } from './scope'
import type { ResourceRequest } from './token-type'

/** A request of a client as an extension sees it. */
export interface ExtensionRequest {
  readonly client: Client
  readonly parameters: Parameters
}

/** An authorization request as an extension sees it. */
export interface ExtensionAuthorizationRequest extends ExtensionRequest {
  readonly responseType: ResponseTypeDescription
}

/** A token request as an extension sees it: the grant is proven, and no token is issued yet. */
export interface ExtensionTokenRequest extends ExtensionRequest {
  /** `grant_type` of the request. */
  readonly grantType: string
  /** The resource owner; undefined when the client acts for itself. */
  readonly subject: string | undefined
  /** The scope of the access token, unless an extension narrows it. */
  readonly scope: Scope
  /** What this extension keeps with the authorization; undefined for nothing. */
  readonly authorizationData: Json | undefined
  /** Whether the authorization begins with this request, as for client credentials and assertions. */
  readonly begins: boolean
}

/** How an extension narrows the access token of one token request. A member that is left out changes nothing. */
export interface TokenRestriction {
  /** The scope of the access token: a part of the scope of the request. An empty one refuses the request. */
  readonly scope?: Scope
  /** The longest lifetime of the access token, in whole seconds. The server's own lifetime still bounds it. */
  readonly lifetime?: number
  /** What the extension keeps with the access token. */
  readonly tokenData?: Json
  /** What the extension keeps with the authorization. Only for an authorization that begins with the request. */
  readonly authorizationData?: Json
}

/** What one extension keeps of an access token; undefined for nothing. */
export interface KeptData {
  /** Kept with the authorization of the token. */
  readonly authorizationData: Json | undefined
  /** Kept with the token itself. */
  readonly tokenData: Json | undefined
}

/** A request with a good access token as an extension sees it. */
export interface ExtensionResourceRequest extends KeptData {
  readonly request: ResourceRequest
  readonly clientId: string
  /** The resource owner; undefined when the client acts for itself. */
  readonly subject: string | undefined
  readonly scope: Scope
}

/**
 * A plug-in that adds parameters and members to the endpoints and to the guards. An extension keeps its data with the
 * authorization and with each access token, under its own name, so the record needs no field for any RFC.
 *
 * Every function of an extension is synchronous and pure: a conflict in the store calls the function again.
 */
export interface Extension {
  /** Unique among the extensions of a server. The data of the extension is kept under this name. */
  readonly name: string
  /** Parameters of the authorization request that the extension reads. A repeated one refuses the request. */
  readonly authorizationParameters?: readonly string[]
  /** Parameters of every token request that the extension reads. A repeated one refuses the request. */
  readonly tokenParameters?: readonly string[]
  /** Parameters that hold a credential. A request of a client that has one of them in its query is refused (RFC 6749 2.3.1). */
  readonly credentialParameters?: readonly string[]
  /**
   * Members that the extension adds to the metadata of the server (RFC 8414 2); the members of the suite win. A server
   * without an authorization endpoint leaves out the members of an extension that reads parameters there.
   */
  readonly metadata?: ExtensionMetadata
  /**
   * Checks an authorization request whose client and redirection URI are good, and returns what to keep with the
   * authorization.
   *
   * @throws OAuthError to refuse the request; the client learns it by redirect.
   */
  atAuthorizationRequest?(request: ExtensionAuthorizationRequest): Json | undefined
  /**
   * Checks a token request whose grant is proven, of any grant type, and may narrow the access token. It can never widen
   * what was granted. A refresh that a client repeats calls it again.
   *
   * @throws OAuthError to refuse the request. No refresh token is used up then. Five refusals of one code burn the code.
   */
  atTokenRequest?(request: ExtensionTokenRequest): TokenRestriction | undefined
  /**
   * Checks a request that a guard is about to let pass. Returns a reason to refuse the token, a stable word for events; the
   * client learns only that the token is not valid (401). Returns undefined to let the request pass.
   */
  atResourceRequest?(request: ExtensionResourceRequest): string | undefined
  /** Members that introspection adds about an access token (RFC 7662 2.2); the members of the suite win. */
  introspect?(data: KeptData): Readonly<Record<string, Json>>
  /** Members that a guard adds to `req.oauth`; the members of the suite win. */
  access?(data: KeptData): Readonly<Record<string, Json>>
}

/** Members of the metadata, under their registered names. */
export type ExtensionMetadata = Readonly<Record<string, string | boolean | readonly string[]>>

/** Whether the value holds members that metadata can have. */
export function isExtensionMetadata(value: unknown): value is ExtensionMetadata {
  return (
    isRecord(value) &&
    Object.values(value).every((member) => isText(member) || typeof member === 'boolean' || isTexts(member))
  )
}

/** Values that survive a store. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json }

/** The data of extensions, each under the name of its extension. */
export type ExtensionData = Readonly<Record<string, Json>>

/** What one extension keeps of an access token. */
export function keptBy(name: string, { extensionData, tokenExtensionData }: KeptExtensionData): KeptData {
  return { authorizationData: dataOf(name, extensionData), tokenData: dataOf(name, tokenExtensionData) }
}

/** What all extensions keep of an access token. */
export interface KeptExtensionData {
  /** With the authorization. */
  readonly extensionData: ExtensionData
  /** With the token itself. */
  readonly tokenExtensionData: ExtensionData
}

/** The data under this name; undefined for none. An extension may have the name of a member of every object. */
export function dataOf(name: string, data: ExtensionData): Json | undefined {
  return Object.hasOwn(data, name) ? data[name] : undefined
}

// Every guarded request reads a record.
const longestKept = 16_384
const deepest = 32

/** Whether JSON brings the value back unchanged, and the value is small enough for a record. */
export function isKeepable(value: unknown): value is Json {
  return isJson(value, deepest) && JSON.stringify(value).length <= longestKept
}

/** The message about a value that cannot be kept, as the rest of a sentence. */
export const keepableCure = `must be JSON (texts, finite numbers, booleans, null, lists and plain objects, ${deepest} deep) of at most ${longestKept} characters.`

function isJson(value: unknown, depth: number): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true
  if (typeof value !== 'object' || depth === 0) return false
  // JSON turns a hole in a list into null.
  if (Array.isArray(value)) return Array.from(value).every((item) => isJson(item, depth - 1))
  return isPlain(value) && Object.values(value).every((item) => isJson(item, depth - 1))
}

// JSON turns a Date, a Buffer or a Map into something else.
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return (prototype === Object.prototype || prototype === null) && !('toJSON' in value)
}
