import type { X509Certificate } from 'node:crypto'
import { isRecord, isText } from '../primitives/values'
import { kind, optional, requireShape, shape } from '../primitives/schema'
import type { Random } from './credential'
import type { Evidence } from './extension-data'
import type { ExtensionMetadata } from './extension-metadata'
import { areAttributes, serverAttributes } from './http-authentication'
import { type Json, keepable } from './json'

/** RFC 6749 7.1. */
export type TokenProperties = Readonly<Record<string, string | number>>

interface TokenIssue {
  /** Without names of the suite, such as `access_token`. */
  readonly properties: TokenProperties
  /**
   * For the check of the token: JSON of at most 16 384 characters. Must not be enough for a request, because others may
   * read the store.
   */
  readonly tokenData?: Json | undefined
}

interface IssueMoment {
  /** Seconds since the epoch. */
  readonly now: number
  /** For every secret. */
  readonly random: Random
  /** Of extensions, by name; not at the authorization endpoint. */
  readonly evidence: Evidence
}

/** The client has proven in the TLS handshake that it holds the key (RFC 8705 2). */
export interface ClientCertificate {
  readonly x509: X509Certificate
  /** False if self-signed. */
  readonly trusted: boolean
}

export interface ResourceRequest {
  readonly method: string
  /** Of the request line, with the query. */
  readonly target: string
  /** As in the metadata of the server: no header counts. Undefined at a guard. */
  readonly url?: string | undefined
  /** Over TLS, subject to `trust proxy`. */
  readonly secure: boolean
  /** By name in lower case, one text for each line. */
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>
  /** From the TLS handshake. Undefined behind a proxy that ends TLS: anybody could write a header. */
  readonly certificate: ClientCertificate | undefined
}

/** The token is valid. */
export interface TokenCheck {
  readonly request: ResourceRequest
  /** From `issue`. */
  readonly tokenData: Json | undefined
  /** Of the guard; undefined if its options name none. */
  readonly resource: string | undefined
  /** Seconds since the epoch. */
  readonly now: number
  /**
   * Uses a key up for `seconds`, in all processes that share the store. Resolves to whether it was unused. The key must
   * hold no credential in clear.
   *
   * @throws OAuthError `temporarily_unavailable` if the store fails, or the client is over the limit on single uses.
   */
  readonly useOnce: (key: string, seconds: number) => Promise<boolean>
  /** Also of a refusal, such as a fresh nonce. */
  readonly setHeader: (name: string, value: string) => void
}

export interface PresentedToken {
  readonly accessToken: string
  /**
   * Checks the proof of a valid token. Resolves to a reason to refuse it, a stable word for logs and events. Default:
   * the token alone is enough.
   *
   * @throws OAuthError to refuse with another code, status or challenge.
   */
  rejectReason?(check: TokenCheck): Promise<string | undefined>
}

/** How a token comes in a response and in a request (RFC 6749 7.1 and 8.1). */
export interface TokenType {
  /** `token_type`. Case-sensitive. */
  readonly name: string
  /** The HTTP scheme, unique among token types. Letter case does not count. */
  readonly scheme: string
  /** Whether tokens are opaque whatever the formats, because `issue` uses the text. Default false. */
  readonly opaque?: boolean
  /** That scripts of other origins may read with CORS, such as `DPoP-Nonce`. */
  readonly exposedHeaders?: readonly string[]
  /**
   * The member of `cnf` (RFC 7800 3.1) that is the `tokenData`, such as `jkt`: it names the key. Introspection and JWTs
   * show it, and guards without a store find the token type by it. Default: only guards with the store take the tokens.
   */
  readonly confirmationMethod?: string
  /**
   * Omit it without members and data.
   *
   * @param accessToken the opaque text, which the client gets unless the token has a format.
   */
  issue?(accessToken: string, moment: IssueMoment): TokenIssue
  /** Attributes for guards, such as `{ algs: 'ES256' }`. Default: none. */
  challenge?(): Readonly<Record<string, string>>
  /** With a challenge of the scheme, such as a fresh nonce. Default: none. */
  challengeHeaders?(): Readonly<Record<string, string>>
  /**
   * What a guard lacks to check these tokens: the rest of a sentence that begins with its option `resource`. Default:
   * nothing.
   */
  lackOfGuard?(resource: string | undefined): string | undefined
  /** Whether guards refuse tokens of other types. Default false. */
  readonly isRequired?: boolean
  /** RFC 9728 2. Wins over that of the host. */
  readonly resourceMetadata?: ExtensionMetadata
  /** What follows the scheme in `Authorization`; undefined if malformed. */
  read(credentials: string): PresentedToken | undefined
}

export const fitsType = (named: unknown, type: string): boolean =>
  named === undefined || (isText(named) && named.toLowerCase() === type.toLowerCase())

export type TokenTypes = ReadonlyMap<string, TokenType>

/** RFC 6749 5.1, 4.1.2 and 4.2.2, RFC 9207. */
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

const plainIssue: TokenIssue = { properties: {} }

/** @throws Error for a member of the server. */
export function issueOfType(tokenType: TokenType, accessToken: string, moment: IssueMoment): TokenIssue {
  if (tokenType.issue === undefined) return plainIssue
  const subject = `The token type "${tokenType.name}" returned a wrong result for a token:`
  const issue = requireShape(issueShape, tokenType.issue(accessToken, moment), subject, undefined)
  const taken = Object.keys(issue.properties).find((name) => responseMembers.has(name))
  if (taken === undefined) return issue
  throw new Error(`The token type "${tokenType.name}" may not set "${taken}", which the server sets.`)
}

export function challengeOfType(tokenType: TokenType): Readonly<Record<string, string>> {
  if (tokenType.challenge === undefined) return {}
  const attributes: unknown = tokenType.challenge()
  if (areAttributes(attributes, reservedAttributes)) return attributes
  throw new TypeError(
    `The challenge of the token type "${tokenType.name}" must be an object of names and texts without quotes and backslashes. The server itself sets ${serverAttributes.join(', ')} and scope.`,
  )
}

export const reservedAttributes: readonly string[] = [...serverAttributes, 'scope']

const isProperty = (value: unknown) => typeof value === 'string' || Number.isFinite(value)

const issueShape = shape<TokenIssue>({
  properties: kind(
    (value) => isRecord(value) && Object.values(value).every(isProperty),
    'must be an object of texts and finite numbers.',
  ),
  tokenData: optional(keepable),
})
