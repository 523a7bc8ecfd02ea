import type { X509Certificate } from 'node:crypto'
import type { AuthenticationMethodDescription, Client } from '../protocol/client'
import type { Parameters } from '../protocol/parameters'

/** The certificate by which the client's end of the TLS connection proved that it holds the key (RFC 8705 2). */
export interface ClientCertificate {
  readonly x509: X509Certificate
  /** Whether it leads to an authority that the TLS server trusts; false for a self-signed one. */
  readonly trusted: boolean
}

/** Where a token request can carry client credentials. */
export interface CredentialSources {
  /** Each `Authorization` header of the request. */
  readonly authorization: readonly string[]
  /** The form body. */
  readonly body: Parameters
  /** The query of the request URI, in which credentials are refused. */
  readonly query: Parameters
  /**
   * What the client showed in the TLS handshake with this process, if that asked for it. Behind a proxy that ends TLS
   * it is undefined: a header in its place could be written by anybody, and so is not read here.
   */
  readonly certificate: ClientCertificate | undefined
}

/** Who a request says it comes from, and what it shows for it; nothing of it is proven. */
export interface PresentedCredential {
  readonly clientId: string
  /** The secret or assertion; empty for a client that only names itself. */
  readonly credential: string
}

/** Whether a credential proves a client; it may do so by a secret that a rotation has left behind. */
export type Verification = boolean | 'by an old secret'

/**
 * Makes a verification of a credential that somebody may have guessed: its failure is counted before it is made, and taken
 * back by a success.
 *
 * @param status `known` for a credential that this process has verified within a day. It is no guess, and nothing is counted;
 * past the limit of its network it still passes where the client has proven itself from that network before.
 * @throws OAuthError over a limit, and when the counters do not answer; no verification was made then. Let it through.
 */
export type Throttle = (verification: () => Promise<Verification>, status?: 'known') => Promise<Verification>

/** A claim and the one method by which the request makes it. */
export interface PresentedClient extends PresentedCredential {
  readonly method: ClientAuthenticationMethod
}

/**
 * The door for methods of client authentication (RFC 6749 2.3.2). A client may use a method that came through it when
 * its registration has an entry in `credentials` under the method's name. What throws something else than an
 * `OAuthError` is answered with `server_error`, without detail.
 */
export interface ClientAuthenticationMethod extends AuthenticationMethodDescription {
  /**
   * The HTTP authentication scheme in which the method uses the `Authorization` header, for its challenge too; left out
   * when it does not. In requests it is recognized in any case of its letters.
   */
  readonly scheme?: string
  /** What signs its assertions, for the metadata (RFC 8414 2); left out when it has none. */
  readonly signingAlgorithms?: readonly string[]
  /**
   * What the request presents by this method; undefined when it does not use the method. It is asked about every
   * request, so that a second method is noticed; a header of another scheme is none of its business.
   *
   * @throws OAuthError when it uses the method wrongly.
   */
  read(sources: CredentialSources): PresentedCredential | undefined
  /**
   * Whether the credential proves the client: true or `by an old secret`, and nothing else, does. It is asked about an unknown client too, and
   * should then take as long as for a wrong credential, so that nobody can tell which clients there are.
   *
   * @param withinLimits for a method whose credentials may be guessed, as passwords are (RFC 6749 2.3.1): a verification
   * that is made through it is held to `clientAuthenticationLimits`. It should be asked to for unknown clients, too. One that
   * does not use it is not limited, which is right for signatures, certificates and long random keys.
   */
  verify(client: Client | undefined, credential: string, withinLimits: Throttle): Promise<Verification>
}

/** The scheme of an `Authorization` header, in lower case: schemes have no case of their own (RFC 9110 11.1). */
export function schemeOf(header: string): string {
  const end = header.indexOf(' ')
  return (end < 0 ? header : header.slice(0, end)).toLowerCase()
}

/**
 * The challenge to a client that did not authenticate (RFC 6749 5.2): by the scheme that it tried. One that tried none,
 * or one that this server does not have, such as Digest, is told all that there are: a challenge by a scheme that can
 * never succeed would only be tried again.
 *
 * @param schemes what is offered, Basic first.
 * @param authorization the `Authorization` headers of the request.
 */
export function challengeOf(schemes: readonly string[], authorization: readonly string[]): string {
  const tried = new Set(authorization.map(schemeOf))
  const known = schemes.filter((scheme) => tried.has(scheme.toLowerCase()))
  return (known.length > 0 ? known : schemes).map(challengeBy).join(', ')
}

// RFC 7617 2.1: Basic alone tells its charset.
const challengeBy = (scheme: string) =>
  scheme === 'Basic' ? 'Basic realm="oauth", charset="UTF-8"' : `${scheme} realm="oauth"`
