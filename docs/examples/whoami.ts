import type { Endpoint } from 'express-authorization-server'

/** `GET /whoami` tells a client, which must authenticate, how it is registered. */
export const whoami: Endpoint = {
  name: 'whoami',
  path: '/whoami',
  method: 'GET',
  async handle({ client }) {
    return {
      members: {
        client_id: client.client_id,
        grant_types: client.grant_types,
        scope: client.scope.join(' '),
      },
    }
  },
}
