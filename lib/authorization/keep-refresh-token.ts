import { isDeepStrictEqual } from 'node:util'
import { createCredential, derivedBytes, digest, type Random } from '../protocol/credential'
import type { AccessToken, Active, Authorization, RefreshToken } from './authorization'
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
  const newest = accessTokens.findLast((known) => known.expiresAt > context.now)
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
    event: issueEvent('refreshed', authorization.accessTokens.at(-1)),
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
  before: AccessToken | undefined,
  end: number,
  token: NewAccessToken,
): Random {
  const purpose = `access token of a kept refresh token ${tagKey} ${before?.digest ?? ''} ${end} ${termsOf(token)}`
  return derivedBytes(text, purpose)
}

/** Undefined if this request lost no race, or needs another token. */
function winnerOf(
  { id, tokenType, accessTokens, extensionData }: Active,
  kept: KeptRefreshToken,
  token: NewAccessToken,
  { authorization, issued }: Issuance,
  context: IssueContext,
): TransitionResult<Issued> | undefined {
  const { superseded, stored, text } = kept
  const [before, newest] = [accessTokens.at(-2), accessTokens.at(-1)]
  if (superseded?.state !== 'active' || newest === undefined || newest.expiresAt <= context.now)
    return undefined
  const isOlder = superseded.accessTokens.some((known) => known.digest === newest.digest)
  const accessToken = createCredential('accessToken', id, secretsOf(kept, before, newest.expiresAt, token))
  if (isOlder || digest(accessToken) !== newest.digest || !isWritable(newest, context)) return undefined
  // What a token type adds to a response cannot be derived, and the key must be that of this request.
  const isSame =
    Object.keys(issued.properties).length === 0 &&
    isDeepStrictEqual(authorization.accessTokens.at(-1)?.tokenData, newest.tokenData) &&
    isDeepStrictEqual(authorization.extensionData, extensionData)
  if (!isSame) return undefined
  const again = { accessToken, properties: {}, refreshToken: text, refreshTokenExpiresAt: stored.expiresAt }
  return repeat(tokenType, again, newest)
}
