import {
  type AccessTokenReader,
  type AccessTokenContent,
  decodeToken,
  mayBeFormatted,
  readToken,
  type TokenReference,
} from '../protocol/access-token-format'
import { type Confirmation, type Confirming, readConfirmation, unbound } from '../protocol/confirmation'
import { credentialId, digest, hasDigest } from '../protocol/credential'
import type { KeptExtensionData } from '../protocol/extension-data'
import type { Eventual } from '../primitives/concurrency'
import type { Login } from '../protocol/resource-owner'
import type { Json } from '../protocol/json'
import type { Scope } from '../protocol/scope'
import { endOfGrant, type IssueTime } from './lifetimes'
import { findToken } from './access-token'
import type { AuthorizationStore, StoredAuthorization } from './store'
import { type Authorization, handleForPolls } from './authorization'

/** A valid access token of this server, with the data that plug-ins store for it. */
export interface FoundAccess extends KeptExtensionData {
  readonly access: Access
  /** The data of the token type. */
  readonly tokenData: Json | undefined
}

/** The access that a token gives. */
export interface Access {
  /** 22 characters of base64url. Pass it to `oauth.revoke()` to revoke the token. */
  readonly authorizationId: string
  readonly clientId: string
  /** The resource owner; undefined if the client acts for itself. */
  readonly subject: string | undefined
  readonly scope: Scope
  /** `token_type` (RFC 6749 7.1). */
  readonly tokenType: string
  /** Seconds since the epoch. */
  readonly expiresAt: number
  /** How the owner had logged in; undefined if the host does not say. */
  readonly login?: Login | undefined
}

/** Undefined if the token is not valid at `now` (seconds since the epoch). */
export type FindAccess = (accessToken: string, now: number) => Promise<FoundAccess | undefined>

/** At once in a cached record. */
type FindForGuard = (accessToken: string, now: number) => Eventual<FoundAccess | undefined>

/** Only the record knows whether the token is valid. */
export interface FormattedToken extends TokenReference {
  readonly format: string
  readonly expiresAt: number
}

/**
 * One token for each format that claims the text; none for an opaque token.
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

/**
 * A cached record may accept a token. Before a refusal the store is read: the token may be newer than the cache.
 */
export function accessFinder(store: AuthorizationStore, formats: readonly AccessTokenReader[]): FindForGuard {
  const find = (id: string, tokenId: string, format: string | undefined, now: number) => {
    const found = (stored: StoredAuthorization | undefined) =>
      accessIn(stored?.authorization, tokenId, format, now)
    return found(store.getCached?.(id)) ?? store.find(id).then(found)
  }
  const findOpaque: FindForGuard = (text, now) => {
    const id = credentialId('accessToken', text)
    return id === undefined ? undefined : find(id, digest(text), undefined, now)
  }
  if (formats.length === 0) return findOpaque
  const elsewhere = formats.filter((format) => format.find !== undefined)
  const own = formats.filter((format) => format.find === undefined)
  return async (text, now) => {
    if (credentialId('accessToken', text) !== undefined) return findOpaque(text, now)
    const claimed = await readFormatted(own, text)
    for (const { authorizationId, tokenId, format, expiresAt } of claimed) {
      // RFC 9068 4: the text also says when a token ends.
      const found = expiresAt > now ? await find(authorizationId, tokenId, format, now) : undefined
      if (found !== undefined) return found
    }
    return claimed.length === 0 && mayBeFormatted(text) ? findElsewhere(elsewhere, text, now) : undefined
  }
}

async function findElsewhere(
  formats: readonly AccessTokenReader[],
  text: string,
  now: number,
): Promise<FoundAccess | undefined> {
  for (const format of formats) {
    const content = await readToken(format, text, 'find')
    if (content !== undefined) return content.expiresAt > now ? accessOf(content, unbound) : undefined
  }
  return undefined
}

/**
 * For guards that trust signatures: a token that says everything itself is not looked up, so a revocation does not end
 * it. Undefined if no format writes such tokens.
 */
export function signatureFinder(
  formats: readonly AccessTokenReader[],
  find: FindForGuard,
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

/** Undefined if only the record knows the proof of the token. */
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
    claims: content.claims,
  }
}

/** A token counts in its own format alone; undefined for an opaque one. */
export function accessIn(
  current: Authorization | undefined,
  tokenId: string,
  format: string | undefined,
  now: number,
): FoundAccess | undefined {
  if (current?.state !== 'active' && current?.state !== 'approved') return undefined
  const { id: authorizationId, clientId, subject, extensionData, login } = current
  const found = findToken(current, tokenId)
  if (found === undefined || found.expiresAt <= now || found.formatted?.format !== format) return undefined
  const { scope, expiresAt, tokenData, extensionData: tokenExtensionData } = found
  const { tokenType = current.tokenType } = found
  const plain = { authorizationId, clientId, subject, scope, tokenType, expiresAt }
  const access = login === undefined ? plain : { ...plain, login }
  return { access, tokenData, extensionData, tokenExtensionData }
}

export function isExchangeable(current: Authorization | undefined, text: string, clientId: string): boolean {
  if (current?.clientId !== clientId) return false
  const expected =
    current.state === 'approved'
      ? current.code.digest
      : current.state === 'requested'
        ? handleForPolls(current)
        : current.refreshToken?.digest
  return expected !== undefined && hasDigest(text, expected)
}

export function findRefreshTokenIn(
  current: Authorization | undefined,
  refreshToken: string,
  moment: IssueTime,
): Access | undefined {
  if (current?.state !== 'active' || current.refreshToken === undefined) return undefined
  const { id: authorizationId, clientId, subject, scope, tokenType, grantedAt } = current
  // The lifetime of grants may have become shorter since the issue.
  const expiresAt = Math.min(current.refreshToken.expiresAt, endOfGrant(grantedAt, moment))
  if (!hasDigest(refreshToken, current.refreshToken.digest) || expiresAt <= moment.now) return undefined
  return { authorizationId, clientId, subject, scope, tokenType, expiresAt }
}
