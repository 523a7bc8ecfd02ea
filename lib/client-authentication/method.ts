import type { DocumentFetch } from '../clients/document-fetch/document-fetch'
import type { AuthenticationMethodDescription, Client } from '../protocol/client'
import { isSameScheme, parseAuthorization } from '../protocol/http-authentication'
import type { Parameters } from '../protocol/parameters'
import type { Sender } from '../protocol/sender'
import type { SingleUse } from '../protocol/single-use'
import type { ClientCertificate } from '../protocol/token-type'
import type { Counters } from '../limits/counters'

/** The parts of a request that can carry client credentials. */
export interface CredentialSources {
  /** Each `Authorization` header of the request. */
  readonly authorization: readonly string[]
  /** The form body. */
  readonly body: Parameters
  /** The query of the request URI. The server refuses credentials in it. */
  readonly query: Parameters
  /**
   * The certificate of the client, if this process asked for one in the TLS handshake. Undefined behind a proxy that
   * ends TLS. The server does not read a header in its place, because anybody could write that header.
   */
  readonly certificate: ClientCertificate | undefined
}

/** The client that a request names, and its credential. Neither is proven. */
export interface PresentedCredential {
  /** The identifier of the client. */
  readonly clientId: string
  /** The secret or the assertion; empty for a client that only names itself. */
  readonly credential: string
}

/**
 * The result of a verification: whether the credential proves the client. A valid secret that a rotation has
 * superseded proves the client `by an old secret`.
 */
export type Verification = boolean | 'by an old secret'

/**
 * Runs the verification of a credential that may be a guess. The server counts a failure before the verification, and
 * takes it back after a success.
 *
 * @param status `known` for a credential that this process has verified within a day. It is no guess, and the server
 * counts nothing. If the network is over its limit, the credential passes only if the client has authenticated from
 * this network before.
 * @throws OAuthError over a limit, or if the counters do not answer. The verification did not run. Do not catch this
 * error.
 */
export type Throttle = (verification: () => Promise<Verification>, status?: 'known') => Promise<Verification>

/** The server at which a client authenticates, as a method sees it. */
export interface AuthenticatingServer {
  /** The option `issuer`. */
  readonly issuer: string
  /** The absolute URL of the token endpoint, as the metadata has it. */
  readonly tokenEndpoint: string
  /**
   * The counters of the server. A key is good once at this issuer, across all processes that share the counters. The
   * client of a single use is under `limits.singleUses`.
   */
  readonly counters: Counters
  /** Fetches documents of clients over https, such as the JWK set at `jwks_uri`. */
  readonly documents: DocumentFetch
  /** The time, in whole seconds since the epoch. */
  readonly now: () => number
}

/** The sender of a request, as a method sees it. */
export interface AuthenticatingSender extends Sender {
  /** Uses something up, such as an assertion, once nothing else refuses the request. */
  readonly useLast: (use: SingleUse) => void
}

/**
 * A method of client authentication, of the suite or of a host (RFC 6749 2.3.2). A client may use a method of a host
 * if its registration has an entry in `credentials` under the name of the method. If a function throws anything but
 * an `OAuthError`, the client gets `server_error` without detail.
 */
export interface ClientAuthenticationMethod extends AuthenticationMethodDescription {
  /**
   * The HTTP authentication scheme, if the method reads the `Authorization` header. The challenge names the same
   * scheme. Requests may write it in any letter case. For endpoints without a form, the metadata lists only methods with
   * a scheme.
   */
  readonly scheme?: string
  /**
   * The signature algorithms of the assertions of this method, for the metadata (RFC 8414 2). Leave it out if the
   * method has no assertions.
   */
  readonly signingAlgorithms?: readonly string[]
  /** Parameters that hold a credential. A request that has one of them in its query is refused (RFC 6749 2.3.1). */
  readonly credentialParameters?: readonly string[]
  /**
   * Reads what the request presents by this method; undefined if the request does not use the method. The server
   * calls this function for every request, to notice a second method. Ignore a header of another scheme.
   *
   * @throws OAuthError if the request uses the method wrongly.
   */
  read(sources: CredentialSources): PresentedCredential | undefined
  /**
   * Whether the credential proves the client. Only `true` and `by an old secret` do. The server calls this function
   * for an unknown client, too. The function should then take as long as for a wrong credential: otherwise, the
   * response time shows which clients exist.
   *
   * @param client the registered client; undefined for an unknown or disabled client.
   * @param withinLimits runs a verification under `limits.clientAuthentication`. Use it for credentials that can be
   * guessed, such as passwords (RFC 6749 2.3.1), and for unknown clients, too. Without it, no limit applies, which is
   * right for signatures, certificates and long random keys.
   * @param server the server at which the client authenticates. Each call of one server gets the same object.
   * @param sender the sender of the request. Give its `useLast` what proves the client once, such as an assertion. Pass
   * it on to `server.documents.fetch(url, size, { sender })`: otherwise, one sender can use up the limits of a host for
   * all others.
   * @throws OAuthError to refuse the client with a reason of the method. Give every refusal the same description, and
   * throw none for an unknown client: return false.
   */
  verify(
    client: Client | undefined,
    credential: string,
    withinLimits: Throttle,
    server: AuthenticatingServer,
    sender?: AuthenticatingSender,
  ): Promise<Verification>
}

/**
 * The challenge to a client that did not authenticate (RFC 6749 5.2), by the scheme that the client tried. If the
 * client tried no scheme, or a scheme that this server does not have, such as Digest, the challenge lists every
 * scheme. With a scheme that can never succeed, the client would only try again.
 *
 * @param schemes the schemes of the server, Basic first.
 * @param authorization the `Authorization` headers of the request.
 */
export function challengeOf(schemes: readonly string[], authorization: readonly string[]): string {
  const tried = authorization.map((header) => parseAuthorization(header).scheme)
  const known = schemes.filter((scheme) => tried.some((one) => isSameScheme(one, scheme)))
  return (known.length > 0 ? known : schemes).map(challengeBy).join(', ')
}

// RFC 7617 2.1: only Basic has the parameter charset.
const challengeBy = (scheme: string) =>
  scheme === 'Basic' ? 'Basic realm="oauth", charset="UTF-8"' : `${scheme} realm="oauth"`
