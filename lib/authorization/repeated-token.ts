import { isDeepStrictEqual } from 'node:util'
import { opaqueFormat } from '../protocol/access-token-format'
import { isEmpty } from '../protocol/extension-data'
import { formatScope } from '../protocol/scope'
import type { TokenProperties } from '../protocol/token-type'
import type { OAuthError } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'
import { type AccessToken, newestToken } from './access-token'
import type { Active } from './authorization'
import type { Issued } from './issue'
import { type IssueContext, issueEvent, type NewAccessToken, type TransitionResult } from './transition'

// The server derives the secret of a repeated token, so the record need not hold it.

export interface RepeatedTokens {
  readonly accessToken: string
  /** Added by the token type. */
  readonly properties: TokenProperties
  readonly refreshToken: string
  readonly refreshTokenExpiresAt: number
}

export function repeat(
  tokenType: string,
  { accessToken, properties, refreshToken, refreshTokenExpiresAt }: RepeatedTokens,
  stored: AccessToken,
): TransitionResult<Issued> {
  const { expiresAt, scope, tokenType: ownType = tokenType } = stored
  const named = { accessToken, tokenType: ownType, properties, expiresAt, scope }
  const outcome = { ...named, refreshToken, refreshTokenExpiresAt }
  return { action: 'touch', outcome, event: issueEvent('refreshed', stored, 'repeated') }
}

/**
 * Refuses a repeated request that proves another key than the first one, or none: its token would not be bound as the
 * first one is.
 *
 * @param first undefined if the record has dropped the token after its end.
 */
export function refusalOfOtherKey(
  first: AccessToken | undefined,
  next: Active,
  { confirmationOf }: IssueContext,
): OAuthError | undefined {
  const added = newestToken(next)
  if (confirmationOf === undefined || first === undefined || added === undefined) return undefined
  if (isDeepStrictEqual(confirmationOf(first, next), confirmationOf(added, next))) return undefined
  return refused('repetition_key_wrong')
}

/** False if the server has lost the format, as after a deployment. */
export const isWritable = ({ formatted }: AccessToken, { formats }: IssueContext): boolean =>
  formatted === undefined || formats?.has(formatted.format) === true

/** Part of the purpose of derived bytes: tokens with other terms never share a secret. */
export function termsOf({ scope, extensionData, tokenType, format }: NewAccessToken): string {
  const data = isEmpty(extensionData) ? '' : ` ${JSON.stringify(extensionData)}`
  const chosen =
    tokenType === undefined && format === undefined ? '' : ` ${JSON.stringify([tokenType, format])}`
  return `${formatScope(scope.toSorted())}${data}${chosen}`
}

export const hasFormat = ({ formatted }: AccessToken, format: string | undefined): boolean =>
  format === undefined || (formatted?.format ?? opaqueFormat) === format
