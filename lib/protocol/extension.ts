import type { Json } from './bindings'
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
   * Looks at an authorization request whose client and destination are settled, and returns what to keep.
   *
   * @throws OAuthError to refuse the request; the client is told by redirect.
   */
  atAuthorizationRequest?(request: ExtensionAuthorizationRequest): Json | undefined
  /** Returns what it holds against a redemption of the code, given what it kept. Five objections burn the code. */
  atRedemption?(request: ExtensionRequest, data: Json | undefined): OAuthError | undefined
}
