import type { Client } from '../protocol/client'
import type { Parameters } from '../protocol/parameters'

/** Where a token request can carry client credentials. */
export interface CredentialSources {
  /** Each `Authorization` header of the request. */
  readonly authorization: readonly string[]
  /** The form body. */
  readonly body: Parameters
  /** The query of the request URI, in which credentials are refused. */
  readonly query: Parameters
}

/** Who a request says it comes from, and what it shows for it; nothing of it is proven. */
export interface Claim {
  readonly clientId: string
  /** The secret or assertion; empty for a client that only names itself. */
  readonly credential: string
}

/** Whether a credential proves a client; it may do so by a secret that a rotation has left behind. */
export type Verification = boolean | 'by an old secret'

/** A claim and the one method by which the request makes it. */
export interface PresentedClient extends Claim {
  readonly method: ClientAuthenticationMethod
}

/** The door for methods of client authentication (RFC 6749 2.3). */
export interface ClientAuthenticationMethod {
  /** The name in the registry of token endpoint authentication methods, such as `client_secret_basic`. */
  readonly name: string
  /** The HTTP authentication scheme in which the method uses the `Authorization` header; left out when it does not. */
  readonly scheme?: string
  /**
   * What the request presents by this method; undefined when it does not use the method.
   *
   * @throws OAuthError when it uses the method wrongly.
   */
  read(sources: CredentialSources): Claim | undefined
  /** Whether the credential proves the client; asked about an unknown client too, so that both cost the same. */
  verify(client: Client | undefined, credential: string): Promise<Verification>
}
