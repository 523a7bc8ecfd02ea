import { type Client, hasCredentials } from '../protocol/client'
import { parseBasicCredentials } from './basic'
import type { SecretVerifier } from './client-secret'
import type { ServedMethod } from './method'

/** RFC 6749 2.3.1, for clients that cannot use Basic. */
export function clientSecretPost(secrets: SecretVerifier): ServedMethod {
  return {
    name: 'client_secret_post',
    read({ body }) {
      const secret = body.get('client_secret')
      return secret === undefined ? undefined : { clientId: body.require('client_id'), credential: secret }
    },
    verifyAtOnce: (client, secret) => secrets.verifyGenerated(client, secret),
    verify: (client, secret, withinLimits) => secrets.verifyChosen(client, secret, withinLimits),
  }
}

const isPublic = (client: Client | undefined) => client !== undefined && !hasCredentials(client)

/**
 * RFC 6749 3.2.1: a public client names itself by `client_id`; some libraries use Basic with an empty
 * password.
 */
export const none: ServedMethod = {
  name: 'none',
  scheme: 'Basic',
  read({ authorization, body }) {
    const header = authorization[0] === undefined ? undefined : parseBasicCredentials(authorization[0])
    const clientId = header?.clientId ?? body.get('client_id')
    return clientId === undefined ? undefined : { clientId, credential: '' }
  },
  verifyAtOnce: isPublic,
  verify: async (client) => isPublic(client),
}
