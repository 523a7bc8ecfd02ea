import { legacyTokens } from 'express-authorization-server/legacy-tokens'

interface Payload {
  clientId: string
  accountId: string
  scope?: string
  exp: number
  iat: number
  grantId: string
  consumed?: unknown
  jkt?: string
  'x5t#S256'?: string
}
type Adapter = new (model: string) => {
  find(id: string): Promise<Payload | null | undefined>
  destroy(id: string): Promise<unknown>
}

/** `Rows` is the adapter of your provider, and `until` the end of the move. */
export function tokensOfOidcProvider(Rows: Adapter, until: number) {
  const find = (model: string) => async (token: string) => {
    const row = await new Rows(model).find(token)
    // Used up, or bound to a key that nothing here checks.
    if (!row || row.consumed || row.jkt || row['x5t#S256']) return undefined
    // A revocation destroys the grant, and may leave the token.
    const grant = await new Rows('Grant').find(row.grantId)
    if (!grant) return undefined
    const { clientId, accountId: subject, scope = 'openid', exp: expiresAt } = row
    return { clientId, subject, scope: scope.split(' '), expiresAt, grantedAt: grant.iat }
  }
  return legacyTokens({
    form: /[\w-]{43}/,
    until,
    findAccess: find('AccessToken'),
    findRefresh: find('RefreshToken'),
    revoke: (token, kind) =>
      new Rows(kind === 'access_token' ? 'AccessToken' : 'RefreshToken').destroy(token),
  })
}
