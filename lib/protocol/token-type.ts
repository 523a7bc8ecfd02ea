import type { X509Certificate } from 'node:crypto'
import { isRecord, isText } from '../primitives/options-reader'
import { optional, required, requireShape, shape } from '../primitives/shape'
import type { Random } from './credential'
import type { Evidence } from './evidence'
import type { ExtensionMetadata } from './extension-metadata'
import { isQuotable, isToken, serverAttributes } from './http-authentication'
import { isKeepable, keepableExpectation, type Json } from './json'

/** Members that a token type adds to the token response (RFC 6749 7.1). */
export type TokenProperties = Readonly<Record<string, string | number>>

/** The result of a token type for a new access token. */
export interface TokenIssue {
  /** Members of the token response. The names of members of the suite, such as `access_token`, are not allowed. */
  readonly properties: TokenProperties
  /**
   * Data that the store keeps with the token, for its check: JSON of at most 16 384 characters. The data alone must not
   * be enough for a request, because other programs may read the store.
   */
  readonly tokenData?: Json | undefined
}

/** The context in which the server issues a token. */
export interface IssueMoment {
  /** Seconds since the epoch. */
  readonly now: number
  /** A source of random bytes. Use it for every secret. */
  readonly random: Random
  /**
   * What the extensions found in the token request, each under its name. Empty for a token of the authorization
   * endpoint.
   */
  readonly evidence: Evidence
}

/** The certificate of a client in the TLS handshake. The client has proven that it holds the key (RFC 8705 2). */
export interface ClientCertificate {
  /** The certificate, as Node parses it. */
  readonly x509: X509Certificate
  /**
   * Whether the certificate leads to an authority that the TLS server trusts; false for a self-signed certificate.
   */
  readonly trusted: boolean
}

/** A request for a protected resource, as a token type sees it. */
export interface ResourceRequest {
  /** The HTTP method, such as `GET`. */
  readonly method: string
  /** The request target of the request line, including the query. */
  readonly target: string
  /**
   * The URL of the endpoint, as the metadata of the server name it: no header of the request counts. Undefined at a
   * guard, whose routes only the host knows.
   */
  readonly url?: string | undefined
  /** Whether the request came over TLS, subject to the `trust proxy` setting of the host. */
  readonly secure: boolean
  /** Each header by its name in lower case, with one text for each header line. */
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>
  /**
   * The certificate of the client, if this process asked for one in the TLS handshake. Undefined behind a proxy that
   * ends TLS. The server does not read a header in its place, because anybody could write that header.
   */
  readonly certificate: ClientCertificate | undefined
}

/** The values for the check of a request whose token is valid. */
export interface TokenCheck {
  /** The request at the guard. */
  readonly request: ResourceRequest
  /** The data that the token type returned when the server issued the token. */
  readonly tokenData: Json | undefined
  /** The URI of the resource that the guard protects; undefined if its options name none. */
  readonly resource: string | undefined
  /** Seconds since the epoch. */
  readonly now: number
  /**
   * Marks a key as used for the next `seconds`, in all processes that share the counters. Resolves to whether the key
   * was unused. The key must not contain a credential in clear.
   *
   * @throws OAuthError `temporarily_unavailable` if the store fails, or if the client is over the limit on single uses.
   */
  readonly useOnce: (key: string, seconds: number) => Promise<boolean>
  /**
   * Sets a header of the response, whether the request passes or is refused, such as a fresh nonce. A refusal may also
   * have headers of its own.
   */
  readonly setHeader: (name: string, value: string) => void
}

/** A token as a request presents it. */
export interface PresentedToken {
  /** The access token. */
  readonly accessToken: string
  /**
   * Checks the proof of the request. Resolves to a reason to refuse it, a stable word for logs and events, or to
   * undefined. Omit the function if the token alone is enough. The guard calls the function only for a valid token of
   * this type.
   *
   * @throws OAuthError to refuse the request with another code, status or challenge.
   */
  rejectReason?(check: TokenCheck): Promise<string | undefined>
}

/**
 * A token type, of the suite or of a host (RFC 6749 7.1 and 8.1): it adds members to the token response, and reads the
 * token from a request.
 */
export interface TokenType {
  /** The value of `token_type`. Case-sensitive. */
  readonly name: string
  /**
   * The HTTP authentication scheme that carries the token. Letter case does not count. Two token types must not have
   * one scheme.
   */
  readonly scheme: string
  /**
   * Whether the tokens are opaque whatever the option `accessTokenFormats` says: true for a token type that uses the
   * text of `issue`, such as to encrypt a key. Default false.
   */
  readonly opaque?: boolean
  /**
   * Headers of responses that scripts of other origins may read at endpoints and at guards with CORS, such as
   * `DPoP-Nonce`.
   */
  readonly exposedHeaders?: readonly string[]
  /**
   * The member of `cnf` (RFC 7800 3.1) that is the `tokenData` of a token, such as `jkt`: the text or object that names
   * the key. Introspection and JWT access tokens then show it, and guards without a store find the type of a token by
   * it. Default: the data stays in the store, so only guards with the store take the tokens.
   */
  readonly confirmationMethod?: string
  /**
   * Returns the members and data that accompany a new token. Omit the function for a token type without either.
   *
   * @param accessToken the opaque text of the token. A client gets this text unless the token has a format.
   */
  issue?(accessToken: string, moment: IssueMoment): TokenIssue
  /** Returns attributes for the challenge of the scheme at guards, such as `{ algs: 'ES256' }`. Default: none. */
  challenge?(): Readonly<Record<string, string>>
  /** Returns headers of each response with a challenge of the scheme, such as a fresh nonce. Default: none. */
  challengeHeaders?(): Readonly<Record<string, string>>
  /**
   * Returns what a guard lacks to check tokens of this type, as the rest of a sentence that begins with its option
   * `resource`; undefined if nothing. Runs when a host makes a guard. Default: a guard lacks nothing.
   *
   * @param resource as in {@link TokenCheck}.
   */
  lackOfGuard?(resource: string | undefined): string | undefined
  /** Whether guards refuse the tokens of every other type that is not required. Default false. */
  readonly isRequired?: boolean
  /** Members that the type adds to the metadata of resources (RFC 9728 2). They win over those of the host. */
  readonly resourceMetadata?: ExtensionMetadata
  /** Reads the credentials after the scheme in `Authorization`; undefined if they are malformed. */
  read(credentials: string): PresentedToken | undefined
}

/** Whether a member `token_type`, which may be missing, fits a type. RFC 6749 5.1: letter case does not count. */
export function fitsType(named: unknown, type: string): boolean {
  return named === undefined || (isText(named) && named.toLowerCase() === type.toLowerCase())
}

/** Token types by name. */
export type TokenTypes = ReadonlyMap<string, TokenType>

/** RFC 6749 5.1, 4.1.2 and 4.2.2, RFC 9207: the members that the endpoints write next to a token. */
export const responseMembers: ReadonlySet<string> = new Set([
  'access_token',
  'token_type',
  'expires_in',
  'refresh_token',
  'refresh_token_expires_in',
  'scope',
  'state',
  'code',
  'iss',
  'error',
  'error_description',
  'error_uri',
])

/**
 * Lets a token type add its members and data to a new access token.
 *
 * @throws Error if the token type sets a member that the server sets, or returns a value that the server cannot send or keep.
 */
export function issueOfType(tokenType: TokenType, accessToken: string, moment: IssueMoment): TokenIssue {
  if (tokenType.issue === undefined) return { properties: {} }
  const issue = tokenType.issue(accessToken, moment)
  requireIssue(issue, tokenType.name)
  const taken = Object.keys(issue.properties).find((name) => responseMembers.has(name))
  if (taken === undefined) return issue
  throw new Error(`The token type "${tokenType.name}" may not set "${taken}", which the server sets.`)
}

function requireIssue(issue: unknown, name: string): void {
  requireShape(issueShape, issue, `The token type "${name}" returned a wrong result for a token:`, undefined)
}

/**
 * The attributes that a token type adds to the challenge of its scheme.
 *
 * @throws TypeError if no challenge can have these attributes, or the server itself sets one of them.
 */
export function challengeOfType(tokenType: TokenType): Readonly<Record<string, string>> {
  if (tokenType.challenge === undefined) return {}
  const attributes: unknown = tokenType.challenge()
  if (areOwnAttributes(attributes)) return attributes
  throw new TypeError(
    `The challenge of the token type "${tokenType.name}" must be an object of names and texts without quotes and backslashes. The server itself sets ${serverAttributes.join(', ')} and scope.`,
  )
}

const reservedAttributes: ReadonlySet<string> = new Set([...serverAttributes, 'scope'])
const areOwnAttributes = (value: unknown): value is Readonly<Record<string, string>> =>
  isRecord(value) &&
  Object.entries(value).every(
    ([key, text]) => isToken(key) && !reservedAttributes.has(key.toLowerCase()) && isQuotable(text),
  )

const isProperty = (value: unknown) => typeof value === 'string' || Number.isFinite(value)

const issueShape = shape<TokenIssue>(
  {
    properties: required(
      (value) => isRecord(value) && Object.values(value).every(isProperty),
      'must be an object of texts and finite numbers.',
    ),
    tokenData: optional(isKeepable, keepableExpectation),
  },
  'ignored',
)
