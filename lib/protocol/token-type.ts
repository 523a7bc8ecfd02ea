import { isKeepable, keepableCure, type Json } from './extension'
import { isRecord } from './configuration'
import type { Random } from './credential'

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
}

/** A request for a protected resource, as a token type sees it. */
export interface ResourceRequest {
  /** The HTTP method, such as `GET`. */
  readonly method: string
  /** The request target of the request line, including the query. */
  readonly target: string
  /** Whether the request came over TLS, subject to the `trust proxy` setting of the host. */
  readonly secure: boolean
  /** Each header by its name in lower case, with one text for each header line. */
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>
}

/** The values for the check of a request whose token is valid. */
export interface TokenCheck {
  /** The request at the guard. */
  readonly request: ResourceRequest
  /** The data that the token type returned when the server issued the token. */
  readonly tokenData: Json | undefined
  /** Seconds since the epoch. */
  readonly now: number
  /**
   * Marks a key as used for the next `seconds`, in all processes that share the counters. Resolves to whether the key
   * was unused. The key must not contain a credential in clear.
   *
   * @throws OAuthError `temporarily_unavailable` if the store fails, or if the client is over the limit on single uses.
   */
  useOnce(key: string, seconds: number): Promise<boolean>
}

/** A token as a request presents it. */
export interface PresentedToken {
  /** The access token. */
  readonly accessToken: string
  /**
   * Checks the proof of the request. Resolves to a reason to refuse it, a stable word for logs and events, or to
   * undefined. Omit the function if the token alone is enough. The guard calls the function only for a valid token of
   * this type.
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
  /** Returns the members and data that accompany a new token. Omit the function for a token type without either. */
  issue?(accessToken: string, moment: IssueMoment): TokenIssue
  /** Reads the credentials after the scheme in `Authorization`; undefined if they are malformed. */
  read(credentials: string): PresentedToken | undefined
}

/** Token types by name. */
export type TokenTypes = ReadonlyMap<string, TokenType>

// RFC 6749 5.1, 4.1.2 and 4.2.2, RFC 9207: the members that the endpoints write next to a token.
const framework: ReadonlySet<string> = new Set([
  'access_token',
  'token_type',
  'expires_in',
  'refresh_token',
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
 * @throws Error if the token type sets a member of the suite, or returns a value that the server cannot send or keep.
 */
export function issueOfType(tokenType: TokenType, accessToken: string, moment: IssueMoment): TokenIssue {
  if (tokenType.issue === undefined) return { properties: {} }
  const issue = tokenType.issue(accessToken, moment)
  requireIssue(issue, tokenType.name)
  const taken = Object.keys(issue.properties).find((name) => framework.has(name))
  if (taken === undefined) return issue
  throw new Error(
    `The token type "${tokenType.name}" may not set "${taken}", which is a member of the suite.`,
  )
}

function requireIssue(issue: unknown, name: string): void {
  const { properties, tokenData } = isRecord(issue) ? issue : {}
  if (!isRecord(properties) || !Object.values(properties).every(isProperty))
    throw new TypeError(`The token type "${name}" must issue properties that are texts or finite numbers.`)
  if (tokenData !== undefined && !isKeepable(tokenData))
    throw new TypeError(`The data that the token type "${name}" keeps ${keepableCure}`)
}

const isProperty = (value: unknown) => typeof value === 'string' || Number.isFinite(value)
