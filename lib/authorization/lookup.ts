import {
  type AccessTokenReader,
  type AccessTokenContent,
  decodeToken,
  mayBeFormatted,
  readToken,
  type TokenReference,
} from '../protocol/access-token-format'
import { type Confirmation, type Confirming, readConfirmation } from '../protocol/confirmation'
import { credentialId, digest, hasDigest } from '../protocol/credential'
import type { KeptExtensionData } from '../protocol/extension-data'
import type { Login } from '../protocol/resource-owner'
import type { Json } from '../protocol/json'
import type { Scope } from '../protocol/scope'
import { endOfGrant, type IssueTime } from './lifetimes'
import type { AuthorizationStore } from './store'
import type { AccessToken, Authorization } from './authorization'

/** A valid access token of this server: the access, and the data that plug-ins keep with the token. */
export interface FoundAccess extends KeptExtensionData {
  readonly access: Access
  /** The data that the token type keeps with the token. */
  readonly tokenData: Json | undefined
}

/** The access that a token gives: for which client and resource owner, with which scope, and until when. */
export interface Access {
  /** 22 characters of base64url. To revoke the token, pass the id to `oauth.revoke()`. */
  readonly authorizationId: string
  readonly clientId: string
  /** The resource owner; undefined if the client acts for itself. */
  readonly subject: string | undefined
  readonly scope: Scope
  /** `token_type` of the access tokens (RFC 6749 7.1). */
  readonly tokenType: string
  /** Seconds since the epoch. */
  readonly expiresAt: number
  /** How the resource owner had logged in; undefined if the host does not say. */
  readonly login?: Login | undefined
}

/** Finds an access token at a time, in seconds since the epoch; undefined if the token is not valid. */
export type FindAccess = (accessToken: string, now: number) => Promise<FoundAccess | undefined>

/** Names the access token that a text in a format is. Only the record knows whether the token is valid. */
export interface FormattedToken extends TokenReference {
  /** The name of the format that has read the text. */
  readonly format: string
  readonly expiresAt: number
}

/**
 * The access tokens that a text may be: one for each format that claims the text. Resolves to none for an opaque token,
 * and for a text that no format has written.
 *
 * @throws OAuthError if a format cannot tell at present.
 */
export async function readFormatted(
  formats: readonly AccessTokenReader[],
  text: string,
): Promise<readonly FormattedToken[]> {
  const claimed: FormattedToken[] = []
  if (!mayBeFormatted(text)) return claimed
  for (const format of formats) {
    const reference = await decodeToken(format, text)
    if (reference === undefined) continue
    const { authorizationId, tokenId, expiresAt = Infinity } = reference
    claimed.push({ authorizationId, tokenId, expiresAt, format: format.name })
  }
  return claimed
}

/** Makes a look-up of access tokens for the endpoints of the server: it reads the store for each token. */
export function accessFinder(store: AuthorizationStore, formats: readonly AccessTokenReader[]): FindAccess {
  const findOpaque: FindAccess = (accessToken, now) => findAccess(store, accessToken, now)
  return withFormats(formats, findOpaque, async (token, now) =>
    findFormattedIn((await store.find(token.authorizationId))?.authorization, token, now),
  )
}

/** Makes a look-up of access tokens for guards: a cached record is enough to accept a token, and not to refuse it. */
export function guardFinder(store: AuthorizationStore, formats: readonly AccessTokenReader[]): FindAccess {
  const findOpaque: FindAccess = (accessToken, now) => findAccessToken(store, accessToken, now)
  return withFormats(formats, findOpaque, async (token, now) => {
    const { authorizationId: id } = token
    const cached = findFormattedIn(store.getCached?.(id)?.authorization, token, now)
    return cached ?? findFormattedIn((await store.find(id))?.authorization, token, now)
  })
}

/**
 * Makes a look-up for guards that trust signatures: a token that says everything itself is not looked up, so a revocation
 * does not end it. Undefined if no format writes such tokens.
 *
 * @param find looks up every other token.
 * @param confirming the plug-ins of the guard that check proofs.
 */
export function signatureFinder(
  formats: readonly AccessTokenReader[],
  find: FindAccess,
  confirming: Confirming,
): FindAccess | undefined {
  const signed = formats.filter((format) => format.read !== undefined)
  if (signed.length === 0) return undefined
  return async (text, now) => {
    if (mayBeFormatted(text))
      for (const format of signed) {
        const content = await readToken(format, text)
        const confirmation = content && confirmationOf(content, confirming)
        if (confirmation === undefined || content === undefined) continue
        return content.expiresAt > now ? accessOf(content, confirmation) : undefined
      }
    return find(text, now)
  }
}

/** What the text itself says of the proof of its token; undefined if only the record knows. */
function confirmationOf(
  { isPlain, cnf }: AccessTokenContent,
  confirming: Confirming,
): Confirmation | undefined {
  return isPlain || cnf !== undefined ? readConfirmation(confirming, cnf) : undefined
}

function accessOf(content: AccessTokenContent, { tokenType, tokenData, ...kept }: Confirmation): FoundAccess {
  const { authorizationId, clientId, subject, scope, expiresAt, login } = content
  return {
    access: { authorizationId, clientId, subject, scope, tokenType, expiresAt, ...(login && { login }) },
    tokenData,
    extensionData: {},
    tokenExtensionData: { ...content.tokenExtensionData, ...kept.tokenExtensionData },
  }
}

type FindFormatted = (token: FormattedToken, now: number) => Promise<FoundAccess | undefined>

function withFormats(
  formats: readonly AccessTokenReader[],
  findOpaque: FindAccess,
  findFormatted: FindFormatted,
): FindAccess {
  if (formats.length === 0) return findOpaque
  return async (text, now) => {
    if (credentialId('accessToken', text) !== undefined) return findOpaque(text, now)
    for (const token of await readFormatted(formats, text)) {
      // RFC 9068 4: a token ends by what its text says, too.
      const found = token.expiresAt > now ? await findFormatted(token, now) : undefined
      if (found !== undefined) return found
    }
    return undefined
  }
}

/** Finds an access token of this server; undefined if the token is unknown, expired or revoked. */
export async function findAccess(
  store: AuthorizationStore,
  accessToken: string,
  now: number,
): Promise<FoundAccess | undefined> {
  const id = credentialId('accessToken', accessToken)
  if (id === undefined) return undefined
  return findAccessTokenIn((await store.find(id))?.authorization, accessToken, now)
}

/**
 * Finds an access token for a guard. A cached record is enough to accept a token. Before the guard refuses a token,
 * this function reads the store, because the token may be newer than the cached record.
 */
async function findAccessToken(
  store: AuthorizationStore,
  accessToken: string,
  now: number,
): Promise<FoundAccess | undefined> {
  const id = credentialId('accessToken', accessToken)
  if (id === undefined) return undefined
  const cached = findAccessTokenIn(store.getCached?.(id)?.authorization, accessToken, now)
  return cached ?? findAccessTokenIn((await store.find(id))?.authorization, accessToken, now)
}

/**
 * The access of a presented opaque token; undefined if the record does not hold the token, or the token has expired.
 */
export function findAccessTokenIn(
  current: Authorization | undefined,
  accessToken: string,
  now: number,
): FoundAccess | undefined {
  // Without a cached record, the digest would be computed in vain.
  return current && accessIn(current, digest(accessToken), undefined, now)
}

function findFormattedIn(
  current: Authorization | undefined,
  { tokenId, format }: FormattedToken,
  now: number,
): FoundAccess | undefined {
  return current && accessIn(current, tokenId, format, now)
}

/** @param format the format of the text; undefined for an opaque one. A token counts in its own format alone. */
function accessIn(
  current: Authorization,
  tokenId: string,
  format: string | undefined,
  now: number,
): FoundAccess | undefined {
  if (current.state !== 'active' && current.state !== 'approved') return undefined
  const { id: authorizationId, clientId, subject, extensionData, login } = current
  // Clients mostly present the newest token. A plain comparison is safe: its timing could reveal a digest at most, and
  // a digest gives no access.
  const found = current.accessTokens.findLast((token) => token.digest === tokenId)
  if (found === undefined || found.expiresAt <= now || found.formatted?.format !== format) return undefined
  const { scope, expiresAt, tokenData, extensionData: tokenExtensionData } = found
  const { tokenType = current.tokenType } = found
  const plain = { authorizationId, clientId, subject, scope, tokenType, expiresAt }
  const access = login === undefined ? plain : { ...plain, login }
  return { access, tokenData, extensionData, tokenExtensionData }
}

/** The stored form of an access token, even of an expired one; undefined if the record does not hold the token. */
export function storedAccessToken(
  accessTokens: readonly AccessToken[],
  accessToken: string,
): AccessToken | undefined {
  const presented = digest(accessToken)
  return accessTokens.findLast((token) => token.digest === presented)
}

/** Whether the text is what a client may exchange for the next tokens of its record: a code, a handle, a refresh token. */
export function isExchangeable(current: Authorization | undefined, text: string, clientId: string): boolean {
  if (current?.clientId !== clientId) return false
  const expected =
    current.state === 'approved'
      ? current.code.digest
      : current.state === 'polled'
        ? current.handle
        : current.state === 'active'
          ? current.refreshToken?.digest
          : undefined
  return expected !== undefined && hasDigest(text, expected)
}

/** The access behind a refresh token; undefined if the token is expired, or not the current one of the record. */
export function findRefreshTokenIn(
  current: Authorization | undefined,
  refreshToken: string,
  moment: IssueTime,
): Access | undefined {
  if (current?.state !== 'active' || current.refreshToken === undefined) return undefined
  const { id: authorizationId, clientId, subject, scope, tokenType, grantedAt } = current
  // The lifetime of grants may have become shorter since the server issued the token.
  const expiresAt = Math.min(current.refreshToken.expiresAt, endOfGrant(grantedAt, moment))
  if (!hasDigest(refreshToken, current.refreshToken.digest) || expiresAt <= moment.now) return undefined
  return { authorizationId, clientId, subject, scope, tokenType, expiresAt }
}
