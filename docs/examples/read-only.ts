import type { Extension } from 'express-authorization-server'

/** A refresh with `read_only=true` gets an access token that can read and nothing else. The next refresh may get all again. */
export const readOnly: Extension = {
  name: 'read_only',
  tokenParameters: ['read_only'],
  issue({ grantType, parameters, scope }) {
    if (grantType !== 'refresh_token' || parameters.get('read_only') !== 'true') return undefined
    return { scope: scope.filter((token) => token.endsWith(':read')) }
  },
}
