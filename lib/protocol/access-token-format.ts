import { isBoolean, isRecord, isText, isTexts } from '../primitives/options-reader'
import { optional, required, requireShape, shape } from '../primitives/shape'
import type { Client } from './client'
import { credentialId } from './credential'
import type { Json } from './json'
import type { Login } from './resource-owner'
import type { Scope } from './scope'

/**
 * A way to write access tokens as texts, such as signed JWTs (RFC 9068). The record of the authorization still holds each
 * token: it ends with the record, and a revocation ends it at once.
 */
export interface AccessTokenFormat extends AccessTokenReader {
  /**
   * Writes an access token: a `b64token` (RFC 6750 2.1) of at most 8192 characters. The server calls the function before
   * it stores the token. If the function rejects, the request has used up nothing. It may run twice for one response,
   * because another process may change the record meanwhile. A repeated refresh gives it the same claims again.
   *
   * @throws OAuthError to answer the client with this error. Any other error becomes `server_error`.
   */
  encode(claims: AccessTokenClaims, request: AccessTokenRequest): Promise<string>
  /**
   * Whether new tokens may get this format without a choice of their resource or of an extension. With false, the server
   * only reads it, as the first step of an upgrade. Default true.
   */
  readonly issues?: boolean
}

/** The request that an access token answers. */
export interface AccessTokenRequest {
  /** The registration of the client. */
  readonly client: Client
  /** The `grant_type` of the request; `implicit` for a token of the authorization endpoint. */
  readonly grantType: string
  /** The resource owner as the host knows them, not for the token; undefined if the client acts for itself. */
  readonly subject: string | undefined
}

/** The part of a format that a resource server needs: it reads access tokens, and needs no key to sign them. */
export interface AccessTokenReader {
  /** The name, unique among the formats of a server. The record of a token holds it. Not `opaque`. */
  readonly name: string
  /**
   * Reads an access token that a request presents. Resolves to undefined for a text that this format has not written,
   * such as one with a wrong signature. The server then looks up the record: it knows whether the token is valid. So a
   * token that has expired is read as well: its client may revoke it.
   *
   * @throws OAuthError if the format cannot tell at present. Any other error becomes `server_error`.
   */
  decode(text: string): Promise<TokenReference | undefined>
  /**
   * Reads what a token says, for guards that do not ask the store. Default: guards always ask the store. Resolves to
   * undefined for a text that this format has not written.
   *
   * @throws OAuthError if the format cannot tell at present. Any other error becomes `server_error`.
   */
  read?(text: string): Promise<AccessTokenContent | undefined>
}

/** What an access token says by itself. */
export interface AccessTokenContent extends TokenReference {
  readonly clientId: string
  /** The resource owner; undefined if the client acts for itself. */
  readonly subject: string | undefined
  readonly scope: Scope
  /** Seconds since the epoch. */
  readonly expiresAt: number
  /** How the resource owner had logged in; undefined if the token does not say. */
  readonly login: Login | undefined
  /** The data of extensions that the text holds, each under its name, such as the resources of the token. */
  readonly tokenExtensionData: Readonly<Record<string, Json>>
  /** Whether the token is a bearer token without a proof. */
  readonly isPlain: boolean
  /**
   * The member `cnf` (RFC 7800 3.1) of a token that is bound to a key, if the text has all that the proof needs. A guard
   * that knows each of its members checks the proof without the store. Default: such a token is looked up in the store.
   */
  readonly cnf?: unknown
}

/** Names one access token of an authorization. The reference is no credential: nobody can make a token of it. */
export interface TokenReference {
  /** 22 characters of base64url. */
  readonly authorizationId: string
  /** 43 characters of base64url. */
  readonly tokenId: string
  /** When the text itself ends, in seconds since the epoch (RFC 9068 4). Undefined: when its record says. */
  readonly expiresAt?: number
}

/** What an access token says. */
export interface AccessTokenClaims extends TokenReference {
  /** The option `issuer` of the server. */
  readonly issuer: string
  /**
   * The resource owner as this client knows them: what an extension publishes, such as a pairwise identifier, or else the
   * subject of the host. Undefined if the client acts for itself.
   */
  readonly subject: string | undefined
  readonly clientId: string
  readonly scope: Scope
  /** `token_type` of the token. */
  readonly tokenType: string
  /** Seconds since the epoch. */
  readonly issuedAt: number
  /** Seconds since the epoch. */
  readonly expiresAt: number
  /** How the resource owner had logged in; undefined if the host does not say. */
  readonly login: Login | undefined
  /** The data that the token type keeps with the token. */
  readonly tokenData: Json | undefined
  /** The data that extensions keep with the authorization, each under its name. */
  readonly extensionData: Readonly<Record<string, Json>>
  /** The claims that extensions add (`Extension.claims`), such as `aud` with the resources of the token. */
  readonly members: Readonly<Record<string, Json>>
  /** The data that extensions keep with this token, each under its name. */
  readonly tokenExtensionData: Readonly<Record<string, Json>>
}

/** The name that stands for no format: the text is a random value. */
export const opaqueFormat = 'opaque'

// In characters. A request carries its token in a header, and all its headers have 16 KiB (docs/bounds.md).
const longestToken = 8192
const b64token = /^[A-Za-z0-9._~+/-]+=*$/

/** Whether a text could be an access token in a format. A text with the form of an opaque credential never is. */
export function mayBeFormatted(text: unknown): text is string {
  return (
    typeof text === 'string' &&
    text.length <= longestToken &&
    b64token.test(text) &&
    credentialId('accessToken', text) === undefined &&
    credentialId('refreshToken', text) === undefined
  )
}

/** Writes an access token. @throws TypeError if the format of a host returns a text that no request can carry. */
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

/**
 * Reads an access token; undefined if the format has not written it.
 *
 * @throws TypeError if the format of a host returns anything but a reference or undefined.
 */
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

/**
 * Reads what an access token says; undefined if the format has not written it.
 *
 * @throws TypeError if the format of a host returns anything but a content or undefined.
 */
export async function readToken(
  format: AccessTokenReader,
  text: string,
): Promise<AccessTokenContent | undefined> {
  const content: unknown = await format.read?.(text)
  if (content === undefined) return undefined
  const subject = `The access token format "${format.name}" returned a wrong content:`
  requireContent(content, subject)
  return content
}

function requireContent(content: unknown, subject: string): asserts content is AccessTokenContent {
  requireShape(contentShape, content, subject, undefined)
}

const contentShape = shape<AccessTokenContent>({
  authorizationId: required((value) => isBase64url(value, 22), 'must be 22 characters of base64url.'),
  tokenId: required((value) => isBase64url(value, 43), 'must be 43 characters of base64url.'),
  clientId: required(isText, 'must be a text.'),
  subject: optional(isText, 'must be a text, or undefined.'),
  scope: required(isTexts, 'must be a list of scope tokens.'),
  expiresAt: required(Number.isFinite, 'must be seconds since the epoch.'),
  login: optional(isRecord, 'must be { authTime, acr, amr }, or undefined.'),
  tokenExtensionData: required(isRecord, 'must be an object.'),
  isPlain: required(isBoolean, 'must be true or false.'),
  cnf: optional(() => true, 'may be anything.'),
})

const isReference = (value: unknown): value is TokenReference =>
  isRecord(value) &&
  isBase64url(value['authorizationId'], 22) &&
  isBase64url(value['tokenId'], 43) &&
  (value['expiresAt'] === undefined || Number.isFinite(value['expiresAt']))

const isBase64url = (value: unknown, length: number) =>
  typeof value === 'string' && value.length === length && /^[\w-]+$/.test(value)
