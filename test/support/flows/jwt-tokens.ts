import { randomBytes } from 'node:crypto'
import type { AuthorizationServerOptions } from '../../../lib/index'
import {
  jwtAccessTokens,
  signingKeys,
  type JwtAccessTokensOptions,
  type SigningKeys,
} from '../../../lib/paths/jwt'
import { withResources } from './resources'

export const keySecret = randomBytes(32).toString('base64')

/** Keys that servers on one store share. */
export const sharedKeys = (): SigningKeys => signingKeys({ secrets: [keySecret] })

/** A server with the three resources whose access tokens are JWTs. */
export function withJwts(
  bend: Partial<AuthorizationServerOptions> = {},
  tokens: Partial<JwtAccessTokensOptions> = {},
  keys: SigningKeys = sharedKeys(),
): Partial<AuthorizationServerOptions> {
  return withResources({
    ...bend,
    plugins: bend.plugins ?? [keys, jwtAccessTokens({ keys, ...tokens })],
  })
}

/** What a part of a JWT says, whoever signed it: 0 for the header, 1 for the claims. */
export function partOf(token: string, index: 0 | 1): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[index] ?? '', 'base64url').toString())
}
