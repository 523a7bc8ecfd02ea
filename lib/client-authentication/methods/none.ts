import { hasCredentials } from '../../protocol/client'
import type { ClientAuthenticationMethod } from '../method'
import { parseBasicCredentials } from './basic-credentials'

/**
 * No authentication: a public client without credentials names itself by `client_id` (RFC 6749 3.2.1), or by Basic
 * with an empty password, as some libraries do. It is what remains when a request uses no other method.
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
