import { grantableScope } from '../../protocol/grantable-scope'
import { unauthorizedClient } from '../../protocol/oauth-error'
import type { GrantType } from '../grant-type'

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
