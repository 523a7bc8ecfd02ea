import { createHash } from 'node:crypto'
import type { AuthorizationServerOptions, TokenType } from 'express-authorization-server'

/** A token that is good only with a key that its device keeps apart: one that leaks, from a log for instance, is not. */
export const deviceToken: TokenType = {
  // RFC 6749 8.1: a type of one's own is named by a URI.
  name: 'https://photos.example/token-types/device',
  scheme: 'Device',
  issue(_accessToken, { random }) {
    const key = random(43)
    return { properties: { device_key: key }, tokenData: digestOf(key) }
  },
  read(credentials) {
    if (!/^[\w-]+$/.test(credentials)) return undefined
    return {
      accessToken: credentials,
      async rejectReason({ request, tokenData }) {
        const [key = '', second] = request.headers['device-key'] ?? []
        // Of digests, a comparison that takes more or less time tells nothing.
        return second === undefined && digestOf(key) === tokenData ? undefined : 'device_key_wrong'
      },
    }
  },
}

function digestOf(key: string): string {
  return createHash('sha256').update(key).digest('base64url')
}

/** What switches it on: the option of the server, and the registration of a client that gets such tokens. */
export const options = {
  plugins: [{ name: 'device-token', tokenTypes: [deviceToken] }],
  clients: [
    {
      client_id: 'camera',
      client_type: 'public',
      redirect_uris: ['https://camera.example/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      token_type: deviceToken.name,
      scope: 'photos:read',
    },
  ],
} satisfies Partial<AuthorizationServerOptions>
