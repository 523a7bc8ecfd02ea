import { redeemCode, type Redemption } from '../../authorization/redeem-code'
import { credentialId } from '../../protocol/credential'
import type { Extension } from '../../protocol/extension'
import { invalidGrant } from '../../protocol/oauth-error'
import { mayRefresh, type GrantType, type TokenRequest } from '../grant-type'

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
        rejectReason: objectionOf(extensions, request),
      }
      return { authorizationId, transition: (current) => redeemCode(current, redemption, context) }
    },
  }
}

function objectionOf(extensions: readonly Extension[], request: TokenRequest): Redemption['rejectReason'] {
  return (extensionData) => {
    for (const extension of extensions) {
      const data = Object.hasOwn(extensionData, extension.name) ? extensionData[extension.name] : undefined
      const rejectReason = extension.atRedemption?.(request, data)
      if (rejectReason !== undefined) return rejectReason
    }
    return undefined
  }
}
