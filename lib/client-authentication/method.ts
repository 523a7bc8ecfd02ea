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
  readonly authorization: readonly string[]
  readonly body: Parameters
  /** The server refuses credentials in it. */
  readonly query: Parameters
  /**
   * Undefined unless this process asked for one in the TLS handshake: no header of a proxy takes its place, because
   * anybody could write it.
   */
  readonly certificate: ClientCertificate | undefined
  /**
   * The `client_id` of the client whose entry in `credentials` fits. Undefined if several fit, and if the option
   * `clients` is no list. Proves nothing.
   */
  readonly clientWith: (method: string, fits: (entry: unknown) => boolean) => string | undefined
}

/** The client that a request names, and its credential. Neither is proven. */
export interface PresentedCredential {
  readonly clientId: string
  /** The secret or the assertion; empty for a client that only names itself. */
  readonly credential: string
}

/** A secret that a rotation has superseded proves the client `by an old secret`. */
export type Verification = boolean | 'by an old secret'

/**
 * Verifies a possible guess. The server counts a failure first, and takes it back after a success.
 *
 * @param status `known` for a credential that this process verified within a day: counts nothing. Over the network's
 * limit, it passes only if the client has authenticated from there before.
 * @throws OAuthError over a limit, or if the counters do not answer; nothing was verified. Do not catch it.
 */
export type Throttle = (verification: () => Promise<Verification>, status?: 'known') => Promise<Verification>

export interface AuthenticatingServer {
  readonly issuer: string
  /** Absolute, as in the metadata. */
  readonly tokenEndpoint: string
  /** A key is good once at this issuer, on all processes. `limits.singleUses` limits each client. */
  readonly counters: Counters
  /** Fetches documents of clients over https, such as the JWK set at `jwks_uri`. */
  readonly documents: DocumentFetch
  /** Whole seconds since the epoch. */
  readonly now: () => number
}

export interface AuthenticatingSender extends Sender {
  /** Of the endpoint, as in the metadata. */
  readonly url: string
  /** Uses something up, such as an assertion, once nothing else refuses the request. */
  readonly useLast: (use: SingleUse) => void
}

/**
 * A method of client authentication (RFC 6749 2.3.2). A client may use it if `credentials` of its registration has an
 * entry of its name. After any error but an `OAuthError`, the client gets `server_error` without detail.
 */
export interface ClientAuthenticationMethod extends AuthenticationMethodDescription {
  /**
   * The HTTP authentication scheme, if the method reads the `Authorization` header; also for the challenge. In any
   * letter case. For endpoints without a form, the metadata lists only methods with a scheme.
   */
  readonly scheme?: string
  /**
   * For what a connection shows whatever its client does, such as a certificate: the method gives way to one that the
   * request uses, and a client without credentials needs none. Default false.
   */
  readonly byConnection?: boolean
  /** For assertions, in the metadata (RFC 8414 2). */
  readonly signingAlgorithms?: readonly string[]
  /** Parameters with a credential. The server refuses them in a query (RFC 6749 2.3.1). */
  readonly credentialParameters?: readonly string[]
  /**
   * Undefined if the request does not use the method. Runs for every request, to notice a second method. Ignore a
   * header of another scheme.
   *
   * @throws OAuthError if the request uses the method wrongly.
   */
  read(sources: CredentialSources): PresentedCredential | undefined
  /**
   * Only `true` and `by an old secret` prove the client. For an unknown client, take as long as for a wrong credential:
   * otherwise the response time shows which clients exist.
   *
   * @param client undefined for an unknown or disabled client.
   * @param withinLimits applies `limits.clientAuthentication`. Use it for credentials that can be guessed (RFC 6749
   * 2.3.1), also for unknown clients; not for signatures, certificates and long random keys.
   * @param server the same object at each call of one server.
   * @param sender give `useLast` what proves the client once. Pass the sender on to
   * `server.documents.fetch(url, size, { sender })`: otherwise one sender can use up a host's limits.
   * @throws OAuthError to refuse the client with a reason of the method, and always the same description. For an
   * unknown client, return false.
   */
  verify(
    client: Client | undefined,
    credential: string,
    withinLimits: Throttle,
    server: AuthenticatingServer,
    sender: AuthenticatingSender,
  ): Promise<Verification>
}

export interface ServedMethod extends ClientAuthenticationMethod {
  // Undefined leaves the credential to `verify`.
  verifyAtOnce?(client: Client | undefined, credential: string): Verification | undefined
}

// RFC 6749 5.2: by the scheme that the client tried, or else every scheme. With one that cannot succeed, the client
// would only try again.
export function challengeOf(schemes: readonly string[], authorization: readonly string[]): string {
  const tried = authorization.map((header) => parseAuthorization(header).scheme)
  const known = schemes.filter((scheme) => tried.some((one) => isSameScheme(one, scheme)))
  return (known.length > 0 ? known : schemes).map(challengeBy).join(', ')
}

// RFC 7617 2.1: only Basic has the parameter charset.
const challengeBy = (scheme: string) =>
  scheme === 'Basic' ? 'Basic realm="oauth", charset="UTF-8"' : `${scheme} realm="oauth"`
