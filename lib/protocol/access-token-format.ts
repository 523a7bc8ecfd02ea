import { isRecord, isTexts } from '../primitives/values'
import { anything, aText, yesOrNo } from '../primitives/fields'
import { exactShape, kind, optional, requireShape } from '../primitives/schema'
import type { Client } from './client'
import { credentialId } from './credential'
import type { Json } from './json'
import type { Login } from './resource-owner'
import type { Scope } from './scope'

/**
 * Access tokens as texts, such as signed JWTs (RFC 9068). The record still holds each token, so a revocation ends it at
 * once.
 */
export interface AccessTokenFormat extends AccessTokenReader {
  /**
   * Returns a `b64token` (RFC 6750 2.1) of at most 8192 characters, before the server stores the token. May run twice
   * for one response, if another process changes the record. A repeated refresh gives the same claims.
   *
   * @throws OAuthError for the client. Any other error becomes `server_error`.
   */
  encode(claims: AccessTokenClaims, request: AccessTokenRequest): Promise<string>
  /**
   * Whether new tokens get this format unless their resource or an extension chooses another. With false, the server
   * only reads it: the first step of an upgrade. Default true.
   */
  readonly issues?: boolean
}

export interface AccessTokenRequest {
  readonly client: Client
  /** `implicit` for a token of the authorization endpoint. */
  readonly grantType: string
  /** As the host knows them; undefined if the client acts for itself. */
  readonly subject: string | undefined
}

/** What resource servers need of a format, without a key to sign. */
export interface AccessTokenReader {
  /** Unique among the formats of a server, and not `opaque`. */
  readonly name: string
  /**
   * Undefined for a text that this format has not written, such as one with a wrong signature. Reads expired tokens
   * too: a client may revoke them.
   *
   * @throws OAuthError if the format cannot tell now. Any other error becomes `server_error`.
   */
  decode(text: string): Promise<TokenReference | undefined>
  /** For guards that do not ask the store; undefined and errors as in {@link decode}. Default: guards always ask. */
  read?(text: string): Promise<AccessTokenContent | undefined>
  /**
   * Finds a token of another server, which no record holds, by a text that no other format claims; undefined and errors
   * as in {@link decode}.
   */
  find?(text: string): Promise<AccessTokenContent | undefined>
}

export interface AccessTokenContent extends TokenReference {
  readonly clientId: string
  /** Undefined if the client acts for itself. */
  readonly subject: string | undefined
  readonly scope: Scope
  /** Seconds since the epoch. */
  readonly expiresAt: number
  /** Undefined if the token does not say. */
  readonly login: Login | undefined
  /** By extension. */
  readonly tokenExtensionData: Readonly<Record<string, Json>>
  /** For `Extension.describe`. Default none. */
  readonly claims?: Readonly<Record<string, unknown>>
  /** A bearer token without a proof. */
  readonly isPlain: boolean
  /**
   * RFC 7800 3.1: of a token bound to a key, if the text has all that the proof needs. A guard that knows each member
   * checks the proof without the store. Default: the store decides.
   */
  readonly cnf?: unknown
}

/** No credential. */
export interface TokenReference {
  /** 22 characters of base64url. */
  readonly authorizationId: string
  /** 43 characters of base64url. */
  readonly tokenId: string
  /** In seconds since the epoch (RFC 9068 4). Default: when the record says. */
  readonly expiresAt?: number
}

export interface AccessTokenClaims extends TokenReference {
  /** The option `issuer`. */
  readonly issuer: string
  /** As this client knows them, such as a pairwise identifier. Undefined if the client acts for itself. */
  readonly subject: string | undefined
  readonly clientId: string
  readonly scope: Scope
  readonly tokenType: string
  /** Seconds since the epoch. */
  readonly issuedAt: number
  /** Seconds since the epoch. */
  readonly expiresAt: number
  /** Undefined if the host does not say. */
  readonly login: Login | undefined
  /** Of the token type. */
  readonly tokenData: Json | undefined
  /** Of the authorization, by extension. */
  readonly extensionData: Readonly<Record<string, Json>>
  /** Of `Extension.describe`, such as `aud`. */
  readonly members: Readonly<Record<string, Json>>
  /** Of this token, by extension. */
  readonly tokenExtensionData: Readonly<Record<string, Json>>
}

export const opaqueFormat = 'opaque'

// In characters: all headers of a request have 16 KiB (docs/bounds.md).
export const longestToken = 8192
const b64token = /^[A-Za-z0-9._~+/-]+=*$/

export function mayBeFormatted(text: unknown): text is string {
  return (
    typeof text === 'string' &&
    text.length <= longestToken &&
    b64token.test(text) &&
    credentialId('accessToken', text) === undefined &&
    credentialId('refreshToken', text) === undefined
  )
}

export async function encodeToken(
  format: AccessTokenFormat,
  claims: AccessTokenClaims,
  request: AccessTokenRequest,
): Promise<string> {
  const text: unknown = await format.encode(claims, request)
  if (mayBeFormatted(text)) return text
  throw new TypeError(
    `The access token format "${format.name}" must write a text of 1 to ${longestToken} letters, digits and -._~+/, perhaps with = at its end, and not of the form of an opaque token.`,
  )
}

export async function decodeToken(
  format: AccessTokenReader,
  text: string,
): Promise<TokenReference | undefined> {
  const reference: unknown = await format.decode(text)
  if (reference === undefined || isReference(reference)) return reference
  throw new TypeError(
    `The access token format "${format.name}" must read { authorizationId, tokenId } as it got them to write, or undefined.`,
  )
}

export async function readToken(
  format: AccessTokenReader,
  text: string,
  verb: 'read' | 'find' = 'read',
): Promise<AccessTokenContent | undefined> {
  const content: unknown = await format[verb]?.(text)
  if (content === undefined) return undefined
  const subject = `The access token format "${format.name}" returned a wrong content:`
  return requireShape(contentShape, content, subject, undefined)
}

const contentShape = exactShape<AccessTokenContent>({
  authorizationId: kind((value) => isBase64url(value, 22), 'must be 22 characters of base64url.'),
  tokenId: kind((value) => isBase64url(value, 43), 'must be 43 characters of base64url.'),
  clientId: aText,
  subject: optional(aText),
  scope: kind(isTexts, 'must be a list of scope tokens.'),
  expiresAt: kind(Number.isFinite, 'must be seconds since the epoch.'),
  login: optional(kind(isRecord, 'must be { authTime, acr, amr }, or undefined.')),
  tokenExtensionData: kind(isRecord, 'must be an object.'),
  claims: optional(kind(isRecord, 'must be an object, or undefined.')),
  isPlain: yesOrNo,
  cnf: anything,
})

const isReference = (value: unknown): value is TokenReference =>
  isRecord(value) &&
  isBase64url(value['authorizationId'], 22) &&
  isBase64url(value['tokenId'], 43) &&
  (value['expiresAt'] === undefined || Number.isFinite(value['expiresAt']))

const isBase64url = (value: unknown, length: number) =>
  typeof value === 'string' && value.length === length && /^[\w-]+$/.test(value)
