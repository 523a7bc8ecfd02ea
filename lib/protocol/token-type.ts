import { isKeepable, keepableCure, type Json } from './extension'
import { isRecord } from './configuration'
import type { Random } from './credential'

/** Members that a token type adds to the answer that brings a token (RFC 6749 7.1). */
export type TokenProperties = Readonly<Record<string, string | number>>

/** What a token type makes of a new access token. */
export interface TokenIssue {
  /** Go to the client beside the token. The framework's own members are not to be had. */
  readonly properties: TokenProperties
  /** Stored with the token, for its check. Nothing in it may be good for a request by itself: stores are read by others. */
  readonly tokenData?: Json | undefined
}

/** The moment at which a token is issued. */
export interface IssueMoment {
  /** Seconds since the epoch. */
  readonly now: number
  readonly random: Random
}

/** A request for a protected resource, as a token type sees it. */
export interface ResourceRequest {
  readonly method: string
  /** The request target as it came in the request line, query included. */
  readonly target: string
  /** Whether it came over TLS. */
  readonly secure: boolean
  /** By lower-case name; each header line by itself. */
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>
}

/** What a request is checked against, once its token has turned out to be good. */
export interface TokenCheck {
  readonly request: ResourceRequest
  /** What the token type kept when it issued the token. */
  readonly tokenData: Json | undefined
  /** Seconds since the epoch. */
  readonly now: number
  /**
   * Whether nobody has used the key within the last `seconds`, in any process; from now on it is used. The key must hold
   * no credential in clear.
   *
   * @throws OAuthError `temporarily_unavailable` when the store is in trouble.
   */
  useOnce(key: string, seconds: number): Promise<boolean>
}

/** What a request shows of a token. */
export interface PresentedToken {
  readonly accessToken: string
  /**
   * What the token type holds against the request, as a stable word for logs and events; undefined when the request proves
   * what it must. Left out where the token by itself is enough. It is asked only about a live token of this type.
   */
  rejectReason?(check: TokenCheck): Promise<string | undefined>
}

/** The door for token types (RFC 6749 7.1 and 8.1): what comes with a token, and how a request carries it. */
export interface TokenType {
  /** `token_type` on the wire; case-sensitive. */
  readonly name: string
  /** The HTTP authentication scheme that carries the token; compared without regard to case, and no other type's. */
  readonly scheme: string
  /** Left out where nothing comes with a token. */
  issue?(accessToken: string, moment: IssueMoment): TokenIssue
  /** Reads what stands behind the scheme in `Authorization`; undefined when it is malformed. */
  read(credentials: string): PresentedToken | undefined
}

/** Token types by their name. */
export type TokenTypes = ReadonlyMap<string, TokenType>

// RFC 6749 5.1, 4.1.2 and 4.2.2, RFC 9207: what the endpoints write beside a token.
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
 * What the token type makes of a new access token.
 *
 * @throws Error when it takes a member that is the framework's, or returns what cannot be sent or kept.
 */
export function issueOfType(tokenType: TokenType, accessToken: string, moment: IssueMoment): TokenIssue {
  if (tokenType.issue === undefined) return { properties: {} }
  const issue = tokenType.issue(accessToken, moment)
  requireIssue(issue, tokenType.name)
  const taken = Object.keys(issue.properties).find((name) => framework.has(name))
  if (taken === undefined) return issue
  throw new Error(`The token type "${tokenType.name}" may not set "${taken}", which is the framework's own.`)
}

function requireIssue(issue: unknown, name: string): void {
  const { properties, tokenData } = isRecord(issue) ? issue : {}
  if (!isRecord(properties) || !Object.values(properties).every(isProperty))
    throw new TypeError(`The token type "${name}" must issue properties that are texts or finite numbers.`)
  if (tokenData !== undefined && !isKeepable(tokenData))
    throw new TypeError(`What the token type "${name}" keeps ${keepableCure}`)
}

const isProperty = (value: unknown) => typeof value === 'string' || Number.isFinite(value)
