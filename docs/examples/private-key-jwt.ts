import {
  createAuthorizationServer,
  type AuthorizationServerOptions,
  type Json,
} from 'express-authorization-server'
import { privateKeyJwt } from 'express-authorization-server/jwt'

/**
 * A server whose clients authenticate by keys of their own (RFC 7523). The server holds no secret of them: a bank gave
 * its public key when it registered, and a broker publishes its keys and changes them when it likes.
 */
export const serverOfKeyHolders = (
  options: Omit<AuthorizationServerOptions, 'clients'>,
  publicJwk: Json,
  jwks_uri: string,
) =>
  createAuthorizationServer({
    ...options,
    plugins: [privateKeyJwt()],
    clients: [
      {
        client_id: 'bank',
        client_type: 'confidential',
        credentials: { private_key_jwt: { keys: [publicJwk] } },
        grant_types: ['client_credentials'],
        scope: 'photos:read',
      },
      {
        client_id: 'broker',
        client_type: 'confidential',
        credentials: { private_key_jwt: { jwks_uri } },
        grant_types: ['client_credentials'],
        scope: 'photos:read',
      },
    ],
  })
