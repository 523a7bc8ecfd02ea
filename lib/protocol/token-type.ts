import type { X509Certificate } from 'node:crypto'
import { isRecord, isText } from '../primitives/values'
import { kind, optional, requireShape, shape } from '../primitives/schema'
import type { Random } from './credential'
import type { Evidence } from './extension-data'
import type { ExtensionMetadata } from './extension-metadata'
import { areAttributes, serverAttributes } from './http-authentication'
import { type Json, keepable } from './json'

/** Members of the token response (RFC 6749 7.1). */
export type TokenProperties = Readonly<Record<string, string | number>>

interface TokenIssue {
  /** Without names of the suite, such as `access_token`. */
  readonly properties: TokenProperties
  /**
   * For the check of the token: JSON of at most 16 384 characters. Must not be enough for a request: other programs may
   * read the store.
   */
  readonly tokenData?: Json | undefined
}

interface IssueMoment {
  /** Seconds since the epoch. */
  readonly now: number
  /** Use it for every secret. */
  readonly random: Random
  /** Of extensions, by name. Empty for a token of the authorization endpoint. */
  readonly evidence: Evidence
}

/** The TLS handshake has proven that the client holds the key (RFC 8705 2). */
export interface ClientCertificate {
  readonly x509: X509Certificate
  /** Leads to an authority of the TLS server; false if self-signed. */
  readonly trusted: boolean
}

export interface ResourceRequest {
  readonly method: string
  /** Of the request line, with the query. */
  readonly target: string
  /** As in the metadata of the server: no header counts. Undefined at a guard, whose routes only the host knows. */
  readonly url?: string | undefined
  /** Over TLS, subject to `trust proxy`. */
  readonly secure: boolean
  /** By name in lower case, one text for each line. */
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>
  /**
   * From the TLS handshake, if this process asked for one. Undefined behind a proxy that ends TLS: no header counts in
   * its place, because anybody could write it.
   */
  readonly certificate: ClientCertificate | undefined
}

/** The token is valid. */
export interface TokenCheck {
  readonly request: ResourceRequest
  /** From `issue`. */
  readonly tokenData: Json | undefined
  /** That the guard protects; undefined if its options name none. */
  readonly resource: string | undefined
  /** Seconds since the epoch. */
  readonly now: number
  /**
   * Uses a key up for `seconds`, across all processes that share the counters. Resolves to whether it was unused. The
   * key must hold no credential in clear.
   *
   * @throws OAuthError `temporarily_unavailable` if the store fails, or the client is over the limit on single uses.
   */
  readonly useOnce: (key: string, seconds: number) => Promise<boolean>
  /** Also of a refusal, such as a fresh nonce. A refusal may have its own headers, too. */
  readonly setHeader: (name: string, value: string) => void
}

export interface PresentedToken {
  readonly accessToken: string
  /**
   * Checks the proof of a valid token of this type. Resolves to a reason to refuse it, a stable word for logs and
   * events. Omit it if the token alone is enough.
   *
   * @throws OAuthError to refuse with another code, status or challenge.
   */
  rejectReason?(check: TokenCheck): Promise<string | undefined>
}

/** RFC 6749 7.1 and 8.1: adds members to the token response, and reads the token from a request. */
export interface TokenType {
  /** `token_type`. Case-sensitive. */
  readonly name: string
  /** The HTTP scheme of the token, unique among token types. Letter case does not count. */
  readonly scheme: string
  /**
   * Whether tokens are opaque whatever the formats: for a type that uses the text of `issue`, such as to
   * encrypt a key. Default false.
   */
  readonly opaque?: boolean
  /** That scripts of other origins may read with CORS, such as `DPoP-Nonce`. */
  readonly exposedHeaders?: readonly string[]
  /**
   * The member of `cnf` (RFC 7800 3.1) that is the `tokenData`, such as `jkt`: the text or object that names the key.
   * Introspection and JWT access tokens show it, and guards without a store find the token type by it. Default: only
   * guards with the store take the tokens.
   */
  readonly confirmationMethod?: string
  /**
   * Omit it for a token type without members and data.
   *
   * @param accessToken the opaque text, which the client gets unless the token has a format.
   */
  issue?(accessToken: string, moment: IssueMoment): TokenIssue
  /** Attributes for guards, such as `{ algs: 'ES256' }`. Default: none. */
  challenge?(): Readonly<Record<string, string>>
  /** With a challenge of the scheme, such as a fresh nonce. Default: none. */
  challengeHeaders?(): Readonly<Record<string, string>>
  /**
   * What a guard lacks to check these tokens: the rest of a sentence that begins with its option `resource`. Runs when
   * a host makes a guard. Default: nothing.
   */
  lackOfGuard?(resource: string | undefined): string | undefined
  /** Guards then refuse tokens of other types that are not required. Default false. */
  readonly isRequired?: boolean
  /** RFC 9728 2. Wins over that of the host. */
  readonly resourceMetadata?: ExtensionMetadata
  /** What follows the scheme in `Authorization`; undefined if malformed. */
  read(credentials: string): PresentedToken | undefined
}

/** RFC 6749 5.1: letter case does not count. */
export const fitsType = (named: unknown, type: string): boolean =>
  named === undefined || (isText(named) && named.toLowerCase() === type.toLowerCase())

/** By name. */
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

/** @throws Error for a member of the server, or a value that it cannot send or store. */
export function issueOfType(tokenType: TokenType, accessToken: string, moment: IssueMoment): TokenIssue {
  if (tokenType.issue === undefined) return plainIssue
  const subject = `The token type "${tokenType.name}" returned a wrong result for a token:`
  const issue = requireShape(issueShape, tokenType.issue(accessToken, moment), subject, undefined)
  const taken = Object.keys(issue.properties).find((name) => responseMembers.has(name))
  if (taken === undefined) return issue
  throw new Error(`The token type "${tokenType.name}" may not set "${taken}", which the server sets.`)
}

/** @throws TypeError for attributes that no challenge can have, or that the server itself sets. */
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
