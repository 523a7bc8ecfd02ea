import { isDeepStrictEqual } from 'node:util'
import { opaqueFormat } from '../protocol/access-token-format'
import { isEmpty } from '../protocol/extension-data'
import { formatScope } from '../protocol/scope'
import type { TokenProperties } from '../protocol/token-type'
import { invalidGrant, type OAuthError } from '../protocol/oauth-error'
import type { AccessToken, Active } from './authorization'
import type { Issued } from './issue'
import { type IssueContext, issueEvent, type NewAccessToken, type TransitionResult } from './transition'

// A token that a client gets again. The server derives its secret, so the record need not hold it.

/** Tokens in clear that an earlier request has issued. */
export interface RepeatedTokens {
  readonly accessToken: string
  /** The members that the token type added to the response. */
  readonly properties: TokenProperties
  readonly refreshToken: string
  readonly refreshTokenExpiresAt: number
}

/**
 * Gives tokens again, without a write.
 *
 * @param tokenType the `token_type` of the authorization.
 * @param stored the access token in the record.
 */
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
 * The refusal of a repeated request that proves another key than the first one, or none: what it would get is not bound as
 * the first token is. Undefined if the request may have its token.
 *
 * @param first the token of the first request; undefined if the record has dropped it after its end.
 */
export function refusalOfOtherKey(
  first: AccessToken | undefined,
  next: Active,
  { confirmationOf }: IssueContext,
): OAuthError | undefined {
  const added = next.accessTokens.at(-1)
  if (confirmationOf === undefined || first === undefined || added === undefined) return undefined
  if (isDeepStrictEqual(confirmationOf(first, next), confirmationOf(added, next))) return undefined
  return invalidGrant('repetition_key_wrong', 'The grant is bound to another key than that of the request.')
}

/**
 * Whether the server can write the text of the token again. One that has lost the format, as after a deployment, cannot.
 */
export function isWritable({ formatted }: AccessToken, { formats }: IssueContext): boolean {
  return formatted === undefined || formats?.has(formatted.format) === true
}

/** The terms of a token as a part of the purpose of derived bytes: two tokens with other terms never share a secret. */
export function termsOf({ scope, extensionData, tokenType, format }: NewAccessToken): string {
  const data = isEmpty(extensionData) ? '' : ` ${JSON.stringify(extensionData)}`
  const chosen =
    tokenType === undefined && format === undefined ? '' : ` ${JSON.stringify([tokenType, format])}`
  return `${formatScope(scope.toSorted())}${data}${chosen}`
}

/** Whether the stored token has the format that the new one would get. */
export const hasFormat = ({ formatted }: AccessToken, format: string | undefined): boolean =>
  format === undefined || (formatted?.format ?? opaqueFormat) === format
