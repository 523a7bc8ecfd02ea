import { hasCredentials } from '../protocol/client'
import { parseBasicCredentials } from './basic'
import type { SecretVerifier } from './client-secret'
import type { ClientAuthenticationMethod } from './method'

/** RFC 6749 2.3.1, for clients that cannot use Basic. */
export function clientSecretPost(secrets: SecretVerifier): ClientAuthenticationMethod {
  return {
    name: 'client_secret_post',
    read({ body }) {
      const secret = body.get('client_secret')
      return secret === undefined ? undefined : { clientId: body.require('client_id'), credential: secret }
    },
    verify: (client, secret, withinLimits) => secrets.verify(client, secret, withinLimits),
  }
}

/**
 * RFC 6749 3.2.1: a public client names itself by `client_id`; some libraries use Basic with an empty
 * password.
 */
export const none: ClientAuthenticationMethod = {
  name: 'none',
  scheme: 'Basic',
  read({ authorization, body }) {
    const header = authorization[0] === undefined ? undefined : parseBasicCredentials(authorization[0])
    const clientId = header?.clientId ?? body.get('client_id')
    return clientId === undefined ? undefined : { clientId, credential: '' }
  },
  verify: async (client) => client !== undefined && !hasCredentials(client),
}
