import { legacyTokens } from 'express-authorization-server/legacy-tokens'

interface Token {
  client: { id: string }
  user: { id: string }
  scope?: string | readonly string[]
  accessTokenExpiresAt?: Date
  refreshTokenExpiresAt?: Date
}
type Find = (token: string) => Promise<Token | false | null | undefined>

/** `model` is that of your old server, and `until` the end of the move. */
export function tokensOfModel(model: { getAccessToken: Find; getRefreshToken: Find }, until: number) {
  const find =
    (look: Find, end: 'accessTokenExpiresAt' | 'refreshTokenExpiresAt') => async (token: string) => {
      const row = await look(token)
      if (!row) return undefined
      const { client, user, scope = 'photos:read', [end]: expires } = row
      return {
        clientId: client.id,
        subject: user.id,
        scope: typeof scope === 'string' ? scope.split(' ') : scope,
        expiresAt: expires ? Math.floor(expires.getTime() / 1000) : until,
      }
    }
  return legacyTokens({
    form: /[0-9a-f]{64}/,
    until,
    findAccess: find((token) => model.getAccessToken(token), 'accessTokenExpiresAt'),
    findRefresh: find((token) => model.getRefreshToken(token), 'refreshTokenExpiresAt'),
  })
}
