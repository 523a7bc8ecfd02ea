import { redeemCode, type Redemption, rotateRefreshToken } from '../../authorization/redeem'
import { credentialId } from '../../protocol/credential'
import { refused } from '../../protocol/refusals'
import { grantableScope } from '../../protocol/scope'
import {
  type BuiltInGrantType,
  type GrantResult,
  type GrantType,
  mayRefresh,
  type TokenRequest,
} from '../../authorization/grant-type'

/** RFC 6749 4.1.3. */
export const authorizationCode: BuiltInGrantType = {
  name: 'authorization_code',
  parameters: ['code', 'redirect_uri'],
  grant({ client, parameters, context }) {
    const code = parameters.require('code')
    const authorizationId = credentialId('authorizationCode', code)
    if (authorizationId === undefined) throw refused('code_malformed')
    const redemption: Redemption = {
      code,
      clientId: client.client_id,
      redirectUri: parameters.get('redirect_uri'),
      refreshToken: mayRefresh(client),
    }
    return { authorizationId, transition: (current) => redeemCode(current, redemption, context) }
  },
}

/** RFC 6749 6. */
export const refreshToken: BuiltInGrantType = {
  name: 'refresh_token',
  parameters: ['refresh_token', 'scope'],
  grant({ client, parameters, context }) {
    const presented = parameters.require('refresh_token')
    const authorizationId = credentialId('refreshToken', presented)
    if (authorizationId === undefined) throw refused('refresh_token_malformed')
    const refresh = { refreshToken: presented, clientId: client.client_id, scope: parameters.get('scope') }
    return {
      authorizationId,
      transition: (current, superseded) => rotateRefreshToken(current, refresh, context, superseded),
    }
  },
}

/** `move` resolves to undefined for a text that is no token of another server. */
export class RefreshFromElsewhere implements GrantType {
  readonly name = refreshToken.name
  readonly parameters = refreshToken.parameters

  constructor(private readonly move: (request: TokenRequest) => Promise<GrantResult | undefined>) {}

  async handle(request: TokenRequest): Promise<GrantResult> {
    return (await this.move(request)) ?? refreshToken.grant(request)
  }
}

/** RFC 6749 4.4. */
export const clientCredentials: BuiltInGrantType = {
  name: 'client_credentials',
  parameters: ['scope'],
  grant({ client, parameters, defaultScope }) {
    const scope = grantableScope(parameters.get('scope'), client, defaultScope)
    return { grant: { scope, refreshToken: false, extensionData: {} } }
  },
}
