import type { ClientAuthenticationMethod } from '../method'
import type { SecretVerifier } from '../secret-verifier'

/** The client password in the form body (RFC 6749 2.3.1), for clients that cannot use Basic. */
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
