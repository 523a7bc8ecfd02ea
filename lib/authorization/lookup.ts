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
import type { AuthorizationStore, StoredAuthorization } from './store'
import { type Authorization, handleForPolls } from './authorization'
import type { Observed } from '../protocol/oauth-error'
import { likelySlips } from '../protocol/uri'
import { findToken } from './access-token'
import { issuerDigest } from './issuer'

/** With the data that plug-ins store for it. */
export interface FoundAccess extends KeptExtensionData {
  readonly access: Access
  /** Of the token type. */
  readonly tokenData: Json | undefined
}

/** What an access token gives. */
export interface Access {
  /** 22 characters of base64url, for `oauth.revoke()`. */
  readonly authorizationId: string
  readonly clientId: string
  /** The resource owner; undefined if the client acts for itself. */
  readonly subject: string | undefined
  readonly scope: Scope
  /** RFC 6749 7.1. */
  readonly tokenType: string
  /** Seconds since the epoch. */
  readonly expiresAt: number
  /** Undefined if the host does not say. */
  readonly login?: Login | undefined
}

export type FindAccess = (accessToken: string, now: number) => Promise<FoundAccess | undefined>

type FindForGuard = (accessToken: string, now: number) => Eventual<FoundAccess | undefined>

/** Only the record knows whether the token is valid. */
export interface FormattedToken extends TokenReference {
  readonly format: string
  readonly expiresAt: number
}

/**
 * One for each format that claims the text; none for an opaque token.
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

/** Before a refusal the store is read: the token may be newer than the cache. */
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
 * For guards that trust signatures: no look-up, so a revocation ends no such token. Undefined without such a format.
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
        // Without these, only the record knows the proof of the token.
        if (content === undefined || !(content.isPlain || content.cnf !== undefined)) continue
        const confirmation = readConfirmation(confirming, content.cnf)
        if (confirmation === undefined) continue
        return content.expiresAt > now ? accessOf(content, confirmation) : undefined
      }
    return find(text, now)
  }
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

/** A token counts in its own format alone. */
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
  // Lifetimes may have become shorter since the issue.
  const expiresAt = Math.min(current.refreshToken.expiresAt, endOfGrant(grantedAt, moment))
  if (!hasDigest(refreshToken, current.refreshToken.digest) || expiresAt <= moment.now) return undefined
  return { authorizationId, clientId, subject, scope, tokenType, expiresAt }
}

export type ObserveToken = (accessToken: string, now: number) => Promise<Observed>

/**
 * A record has only the digest of its issuer: only a likely slip has a name. `store` also finds the records of other
 * issuers.
 */
export function tokenObserver(
  store: AuthorizationStore,
  issuer: string,
  formats: readonly AccessTokenReader[],
): ObserveToken {
  return async (accessToken, now) => {
    // Of several formats that claim a text, the last one refused last.
    const formatted = (await readFormatted(formats, accessToken)).at(-1)
    const id = formatted?.authorizationId ?? credentialId('accessToken', accessToken)
    if (id === undefined) return { cause: 'form' }
    const record = (await store.find(id))?.authorization
    if (record === undefined) return { cause: 'not_in_store', 'issuer of this guard': issuer }
    if (record.issuerDigest !== issuerDigest(issuer)) {
      const other = likelySlips(issuer).find((slip) => issuerDigest(slip) === record.issuerDigest)
      return { cause: 'other_issuer', registered: issuer, sent: other ?? 'another issuer' }
    }
    const tokenId = formatted?.tokenId ?? digest(accessToken)
    const found = 'accessTokens' in record ? findToken(record, tokenId) : undefined
    if (found === undefined) return { cause: 'not_in_store', 'issuer of this guard': issuer }
    return { cause: 'expired', 'seconds since its end': now - found.expiresAt }
  }
}
