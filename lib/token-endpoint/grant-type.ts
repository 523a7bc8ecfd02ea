import type { DirectAuthorization, Issued } from '../authorization/issue'
import type { FoundAccess } from '../authorization/lookup'
import type { IssueContext, Transition } from '../authorization/transition'
import type { Client } from '../protocol/client'
import type { Json } from '../protocol/extension'
import type { Parameters } from '../protocol/parameters'
import type { Scope } from '../protocol/scope'
import type { Counters } from '../stores/counters'

/** A token request of an authenticated (or, if public, named) client. */
export interface TokenRequest {
  readonly client: Client
  readonly parameters: Parameters
  readonly context: IssueContext
  /** What a request asks for that names no scope. */
  readonly defaultScope: Scope
  /** Where the request came from, by the host's `trust proxy`; undefined when the connection is gone. */
  readonly address: string | undefined
  /** For failed attempts. What the grant uses up belongs into `oneTimeUse` of the grant: the write that brings tokens spends it. */
  readonly counters: Counters
  /** What an access token of this server stands for right now; undefined when it is unknown, expired or revoked. */
  readonly findAccess: (accessToken: string) => Promise<FoundAccess | undefined>
}

/**
 * What a grant type proves. It issues nothing: tokens come from one place for all of them.
 *
 * `transition` is a move of an authorization that exists; `grant` begins one. `members` join the token response
 * (RFC 6749 5.1); those of the framework stay what they are.
 */
export type GrantResult = { readonly members?: Readonly<Record<string, string>> } & (
  | { readonly authorizationId: string; readonly transition: Transition<Issued> }
  | { readonly grant: DirectGrant }
)

/** An authorization to begin. */
export interface DirectGrant extends Omit<DirectAuthorization, 'clientId' | 'tokenType' | 'subject'> {
  /**
   * The resource owner. Left out: the client acts for itself. It must not be there and undefined, which is what a look-up
   * says that found nobody.
   */
  readonly subject?: string
}

/** The door for grant types (RFC 6749 4.5 and 1.3). */
export interface GrantType {
  /** `grant_type` on the wire: a registered name or, for an extension, an absolute URI. */
  readonly name: string
  /** The parameters it reads; repeated ones refuse the request. */
  readonly parameters: readonly string[]
  /**
   * What it returns is checked: anything else than a `GrantResult` is a fault of the server, and gives no token.
   *
   * @throws OAuthError when the request proves nothing.
   */
  handle(request: TokenRequest): Promise<GrantResult>
  /**
   * What introspection adds about an authorization that keeps something under the name of this grant type
   * (RFC 7662 2.2); its own members stay what they are.
   */
  introspect?(data: Json): Readonly<Record<string, Json>>
}

/** Whether a grant to this client comes with a refresh token: there is no magic scope for it. */
export function mayRefresh(client: Client): boolean {
  return client.grant_types.includes('refresh_token')
}
