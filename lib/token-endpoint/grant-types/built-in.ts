import { redeemCode, type Redemption } from '../../authorization/redeem-code'
import { rotateRefreshToken } from '../../authorization/refresh'
import { credentialId } from '../../protocol/credential'
import type { Extension } from '../../protocol/extension'
import { invalidGrant, unauthorizedClient } from '../../protocol/oauth-error'
import { grantableScope } from '../../protocol/scope'
import { type GrantType, mayRefresh, type TokenRequest } from '../grant-type'

/** RFC 6749 4.1.3: a code, once, by the client and with the redirection URI of its authorization request. */
export function authorizationCode(extensions: readonly Extension[]): GrantType {
  return {
    name: 'authorization_code',
    parameters: [
      'code',
      'redirect_uri',
      ...extensions.flatMap(({ tokenParameters = [] }) => tokenParameters),
    ],
    async handle(request) {
      const { client, parameters, context } = request
      const code = parameters.require('code')
      const authorizationId = credentialId('authorizationCode', code)
      if (authorizationId === undefined)
        throw invalidGrant('code_malformed', 'The authorization code is invalid, expired or revoked.')
      const redemption: Redemption = {
        code,
        clientId: client.client_id,
        redirectUri: parameters.get('redirect_uri'),
        refreshToken: mayRefresh(client),
        rejectReason: rejectReasonOf(extensions, request),
      }
      return { authorizationId, transition: (current) => redeemCode(current, redemption, context) }
    },
  }
}

function rejectReasonOf(extensions: readonly Extension[], request: TokenRequest): Redemption['rejectReason'] {
  return (extensionData) => {
    for (const extension of extensions) {
      const data = Object.hasOwn(extensionData, extension.name) ? extensionData[extension.name] : undefined
      const rejectReason = extension.atRedemption?.(request, data)
      if (rejectReason !== undefined) return rejectReason
    }
    return undefined
  }
}

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

/** RFC 6749 4.4: a confidential client for itself, without a refresh token. */
export const clientCredentials: GrantType = {
  name: 'client_credentials',
  parameters: ['scope'],
  async handle({ client, parameters, defaultScope }) {
    if (client.client_type !== 'confidential')
      throw unauthorizedClient(
        'client_not_confidential',
        'Only a confidential client may use this grant type.',
      )
    const scope = grantableScope(parameters.get('scope'), client, defaultScope)
    return { grant: { scope, refreshToken: false, extensionData: {} } }
  },
}
