import { rotateRefreshToken } from '../../authorization/rotate-refresh-token'
import { credentialId } from '../../protocol/credential'
import { invalidGrant } from '../../protocol/oauth-error'
import type { GrantType } from '../grant-type'

/** RFC 6749 6: a refresh token, by the client it was issued to. */
export const refreshToken: GrantType = {
  name: 'refresh_token',
  parameters: ['refresh_token', 'scope'],
  async handle({ client, parameters, context }) {
    const presented = parameters.require('refresh_token')
    const authorizationId = credentialId('refreshToken', presented)
    if (authorizationId === undefined)
      throw invalidGrant('refresh_token_malformed', 'The refresh token is invalid, expired or revoked.')
    const refresh = { refreshToken: presented, clientId: client.client_id, scope: parameters.get('scope') }
    return {
      authorizationId,
      transition: (current, superseded) => rotateRefreshToken(current, refresh, context, superseded),
    }
  },
}
