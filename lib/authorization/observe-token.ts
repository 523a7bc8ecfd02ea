import type { AccessTokenReader } from '../protocol/access-token-format'
import { credentialId, digest } from '../protocol/credential'
import type { Observed } from '../protocol/oauth-error'
import { likelySlips } from '../protocol/uri'
import { findToken } from './access-token'
import type { AuthorizationStore } from './store'
import { issuerDigest } from './issuer'
import { readFormatted } from './lookup'

/** Why a guard has refused an access token, at a time in seconds since the epoch. */
export type ObserveToken = (accessToken: string, now: number) => Promise<Observed>

/**
 * A record has only the digest of its issuer: the name is known only if it is a likely slip. `store` also finds the
 * records of other issuers.
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
