import type { ClientAuthenticationMethod } from '../method'
import type { SecretVerifier } from '../secret-verifier'
import { parseBasicCredentials } from './basic-credentials'

/** HTTP Basic with the client password (RFC 6749 2.3.1), which every server must support. */
export function clientSecretBasic(secrets: SecretVerifier): ClientAuthenticationMethod {
  return {
    name: 'client_secret_basic',
    scheme: 'Basic',
    read({ authorization }) {
      const credentials = authorization[0] === undefined ? undefined : parseBasicCredentials(authorization[0])
      // Without a password the header only names a client, as some libraries do for public ones.
      if (credentials === undefined || credentials.secret === '') return undefined
      return { clientId: credentials.clientId, credential: credentials.secret }
    },
    verify: (client, secret, withinLimits) => secrets.verify(client, secret, withinLimits),
  }
}
