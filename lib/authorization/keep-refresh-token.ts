import { isDeepStrictEqual } from 'node:util'
import { createCredential, derivedText, digest, type Random } from '../protocol/credential'
import { digestOf, endOf, findToken, newestToken, type StoredToken } from './access-token'
import type { Active, Authorization, RefreshToken } from './authorization'
import { addAccessToken, type Issuance, type Issued } from './issue'
import { accessTokenEnd, refreshTokenEnd } from './lifetimes'
import { isWritable, repeat, termsOf } from './repeated-token'
import { type IssueContext, issueEvent, type NewAccessToken, type TransitionResult } from './transition'

interface KeptRefreshToken {
  /** In clear. */
  readonly text: string
  readonly stored: RefreshToken
  readonly superseded: Authorization | undefined
}

/**
 * RFC 6749 6: the lifetime of the same refresh token begins anew. The response repeats it, because some clients forget
 * what the last response did not name.
 *
 * A parallel refresh that loses the race gets the access token of the winner, which did not exist when its request
 * came. So clients with many processes neither fill the record nor wait for each other.
 */
export function keepRefreshToken(
  current: Active,
  kept: KeptRefreshToken,
  token: NewAccessToken,
  context: IssueContext,
): TransitionResult<Issued> {
  const { grantedAt, accessTokens } = current
  const newest = accessTokens.findLast((known) => endOf(known) > context.now)
  const end = accessTokenEnd(grantedAt, token.lifetime, context)
  const issuance = addAccessToken(current, token, context, secretsOf(kept, newest, end, token))
  const won = winnerOf(current, kept, token, issuance, context)
  if (won !== undefined) return won
  const { authorization, issued } = issuance
  const expiresAt = refreshTokenEnd(grantedAt, context)
  return {
    action: 'save',
    authorization: { ...authorization, refreshToken: { ...kept.stored, expiresAt } },
    outcome: { ...issued, refreshToken: kept.text, refreshTokenExpiresAt: expiresAt },
    event: issueEvent('refreshed', newestToken(authorization)),
  }
}

/**
 * A loser of the race derives the secret again. Neither the refresh token nor the record suffices alone: only the
 * record has the key of the tags.
 *
 * @param before the newest live access token before this one. With the end, it makes each secret different.
 */
function secretsOf(
  { text, stored: { tagKey } }: KeptRefreshToken,
  before: StoredToken | undefined,
  end: number,
  token: NewAccessToken,
): Random {
  const former = before === undefined ? '' : digestOf(before)
  const purpose = `access token of a kept refresh token ${tagKey} ${former} ${end} ${termsOf(token)}`
  return derivedText(text, purpose)
}

/** Undefined if this request lost no race, or needs another token. */
function winnerOf(
  current: Active,
  kept: KeptRefreshToken,
  token: NewAccessToken,
  { authorization, issued }: Issuance,
  context: IssueContext,
): TransitionResult<Issued> | undefined {
  const { id, tokenType, accessTokens, extensionData } = current
  const { superseded, stored, text } = kept
  const newest = newestToken(current)
  if (superseded?.state !== 'active' || newest === undefined || newest.expiresAt <= context.now)
    return undefined
  const isOlder = findToken(superseded, newest.digest) !== undefined
  const secrets = secretsOf(kept, accessTokens.at(-2), newest.expiresAt, token)
  const accessToken = createCredential('accessToken', id, secrets)
  if (isOlder || digest(accessToken) !== newest.digest || !isWritable(newest, context)) return undefined
  // What a token type adds to a response cannot be derived, and the key must be that of this request.
  const isSame =
    Object.keys(issued.properties).length === 0 &&
    isDeepStrictEqual(newestToken(authorization)?.tokenData, newest.tokenData) &&
    isDeepStrictEqual(authorization.extensionData, extensionData)
  if (!isSame) return undefined
  const again = { accessToken, properties: {}, refreshToken: text, refreshTokenExpiresAt: stored.expiresAt }
  return repeat(tokenType, again, newest)
}
