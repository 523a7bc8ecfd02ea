import { createHash, timingSafeEqual } from 'node:crypto'
import {
  invalidClient,
  type AuthorizationServerOptions,
  type ClientAuthenticationMethod,
} from 'express-authorization-server'

const digest = (text: string) => createHash('sha256').update(text).digest('hex')
const header = /^ApiKey +([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{43}) *$/i

/** `Authorization: ApiKey <client_id>.<key>`: the key itself names its client; 32 random bytes in base64url. */
export const apiKey: ClientAuthenticationMethod = {
  name: 'https://photos.example/api-key',
  scheme: 'ApiKey',
  read({ authorization: [sent = ''] }) {
    if (!/^ApiKey(?: |$)/i.test(sent)) return undefined
    const [, clientId, credential] = header.exec(sent) ?? []
    if (clientId === undefined || credential === undefined)
      throw invalidClient('api_key_malformed', 'The Authorization header does not hold an API key.')
    return { clientId, credential }
  },
  async verify(client, key) {
    // No key is the empty text: an unknown client costs what a wrong key costs.
    const registered = client?.credentials[apiKey.name]
    const expected = typeof registered === 'string' ? registered : digest('')
    return timingSafeEqual(Buffer.from(digest(key)), Buffer.from(expected))
  },
  mistakeIn: (credential) =>
    typeof credential === 'string' && /^[0-9a-f]{64}$/.test(credential)
      ? undefined
      : 'must be the SHA-256 digest of a key, in hexadecimal.',
}

/** What switches it on: the option of the server, and the registration of a client that may use it. */
export const optionsWith = (key: string) =>
  ({
    plugins: [{ name: 'api-key', clientAuthenticationMethods: [apiKey] }],
    clients: [
      {
        client_id: 'robot',
        client_type: 'confidential',
        credentials: { [apiKey.name]: digest(key) },
        grant_types: ['client_credentials'],
        scope: 'photos:read',
      },
    ],
  }) satisfies Partial<AuthorizationServerOptions>
