import type { Client } from './client'
import type { OAuthError } from './oauth-error'
import type { Parameters } from './parameters'
import type { ResponseTypeDescription } from './response-type'

/** A request as an extension sees it. */
export interface ExtensionRequest {
  readonly client: Client
  readonly parameters: Parameters
}

/** An authorization request as an extension sees it. */
export interface ExtensionAuthorizationRequest extends ExtensionRequest {
  readonly responseType: ResponseTypeDescription
}

/**
 * The door for what adds parameters to the endpoints. What it learns at the authorization request it keeps with the
 * authorization, under its own name; the record never grows a field for one RFC.
 */
export interface Extension {
  /** Unique among the extensions of a server; the name of what it keeps. */
  readonly name: string
  /** Parameters of the authorization request that it reads; repeated ones refuse the request. */
  readonly authorizationParameters?: readonly string[]
  /** Parameters of the token request that it reads; repeated ones refuse the request. */
  readonly tokenParameters?: readonly string[]
  /**
   * Members that it adds to the metadata of the server (RFC 8414 2); members of the suite stay what they are. A server
   * without an authorization endpoint leaves out those of an extension that reads parameters there.
   */
  readonly metadata?: ExtensionMetadata
  /**
   * Looks at an authorization request whose client and destination are settled, and returns what to keep.
   *
   * @throws OAuthError to refuse the request; the client is told by redirect.
   */
  atAuthorizationRequest?(request: ExtensionAuthorizationRequest): Json | undefined
  /** Returns what it holds against a redemption of the code, given what it kept. Five objections burn the code. */
  atRedemption?(request: ExtensionRequest, data: Json | undefined): OAuthError | undefined
  /**
   * What introspection adds about an authorization that keeps something under the name of this extension
   * (RFC 7662 2.2); its own members stay what they are.
   */
  introspect?(data: Json): Readonly<Record<string, Json>>
}

/** Members of the metadata, under their registered names. */
export type ExtensionMetadata = Readonly<Record<string, string | boolean | readonly string[]>>

/** Values that survive a store: what an extension may keep with an authorization. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json }

/** What each extension learned at the authorization request, under the extension's own name. */
export type ExtensionData = Readonly<Record<string, Json>>

// Records are read by every guarded request.
const longestKept = 16_384
const deepest = 32

/** Whether the value comes back from JSON as what it was, and is small enough to be kept with an authorization. */
export function isKeepable(value: unknown): value is Json {
  return isJson(value, deepest) && JSON.stringify(value).length <= longestKept
}

/** What cures a value that cannot be kept, as the rest of a sentence. */
export const keepableCure = `must be JSON (texts, finite numbers, booleans, null, lists and plain objects, ${deepest} deep) of at most ${longestKept} characters.`

function isJson(value: unknown, depth: number): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true
  if (typeof value !== 'object' || depth === 0) return false
  // A hole in a list comes back as null.
  if (Array.isArray(value)) return Array.from(value).every((item) => isJson(item, depth - 1))
  return isPlain(value) && Object.values(value).every((item) => isJson(item, depth - 1))
}

// A Date, a Buffer or a Map comes back as something else.
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return (prototype === Object.prototype || prototype === null) && !('toJSON' in value)
}
