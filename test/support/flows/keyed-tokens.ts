import { createHash } from 'node:crypto'
import { invalidGrant, OAuthError, type Plugin, type PluginParts, type TokenType } from '../../../lib/index'

/** What `cnf.jkt` says of a key. A real proof signs the request; this one is the key itself, in a header. */
export const thumbprint = (key: string) => createHash('sha256').update(key).digest('base64url')

/** A bound token, as of RFC 9449: the request shows the key, and each `Key-Use` counts once. */
const keyed: TokenType = {
  name: 'Keyed',
  scheme: 'Keyed',
  confirmationMethod: 'jkt',
  exposedHeaders: ['Key-Nonce'],
  challenge: () => ({ algs: 'none' }),
  issue: (_token, { evidence }) => ({ properties: {}, tokenData: String(evidence.get('keyed')) }),
  read: (accessToken) => ({
    accessToken,
    async rejectReason({ request: { headers }, tokenData, useOnce, setHeader }) {
      setHeader('Key-Nonce', 'fresh')
      const [key = '', use = ''] = ['key', 'key-use'].map((name) => headers[name]?.[0])
      if (key === '') {
        const challenge = { nonce: 'fresh' }
        throw new OAuthError('use_key', 'key_missing', 'Show the key.', { status: 401, challenge })
      }
      if (thumbprint(key) !== tokenData) return 'key_wrong'
      return (await useOnce(`keyed:${use}`, 60)) ? undefined : 'key_replayed'
    },
  }),
}

const doors: PluginParts = {
  prepare: async ({ headers }) => {
    const [key] = headers['key'] ?? []
    return key === undefined ? undefined : thumbprint(key)
  },
  issue: ({ evidence }) => (evidence === undefined ? undefined : { tokenType: keyed.name }),
}

/** Tokens of requests with the header `Key` are bound to it, in every server and guard with this plug-in. */
export const keyedTokens: Plugin = {
  name: 'keyed',
  tokenTypes: [keyed],
  ...doors,
}

/** The same, and the refresh tokens of public clients are bound, too, as RFC 9449 5 binds them. */
export const keyedRefreshTokens: Plugin = {
  ...keyedTokens,
  issue({ evidence, authorizationData, client }) {
    if (authorizationData !== undefined && authorizationData !== evidence)
      throw invalidGrant('key_wrong', 'The refresh token is bound to another key.')
    if (typeof evidence !== 'string') return undefined
    const isPublic = client.client_type === 'public'
    const provesKey = authorizationData === evidence
    return { tokenType: keyed.name, provesKey, ...(isPublic && { authorizationData: evidence }) }
  },
  bindsRefreshTokens: true,
}
