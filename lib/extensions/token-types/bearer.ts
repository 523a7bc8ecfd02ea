import type { Issued } from '../../authorization/issue'
import { readBearerToken } from '../../protocol/http-authentication'
import type { Json } from '../../protocol/json'
import { formatScope } from '../../protocol/scope'
import type { TokenType } from '../../protocol/token-type'

/** RFC 6750. */
export const bearer: TokenType = {
  name: 'bearer',
  scheme: 'Bearer',
  read: readBearerToken,
}

/** RFC 6749 5.1 */
export interface TokenResponse extends Readonly<Record<string, Json>> {
  readonly access_token: string
  readonly token_type: string
  readonly expires_in: number
  readonly scope: string
}

export function tokenResponse(issued: Issued, now: number, namesRefreshTokenEnd = false): TokenResponse {
  const { accessToken, tokenType, properties, expiresAt, scope, refreshToken, refreshTokenExpiresAt } = issued
  const members: TokenResponse & Record<string, Json> = {
    access_token: accessToken,
    token_type: tokenType,
    expires_in: expiresAt - now,
    scope: formatScope(scope),
  }
  if (refreshToken !== undefined) members['refresh_token'] = refreshToken
  if (namesRefreshTokenEnd && refreshTokenExpiresAt !== undefined)
    members['refresh_token_expires_in'] = refreshTokenExpiresAt - now
  return Object.assign(members, properties, issued.members)
}
