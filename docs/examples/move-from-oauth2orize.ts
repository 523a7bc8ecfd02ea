import { legacyTokens } from 'express-authorization-server/legacy-tokens'

/** What your functions stored for a token: rename the members to yours. */
interface Row {
  kind: 'access' | 'refresh'
  clientId: string
  userId: string
  scope?: readonly string[]
  expires?: number
}
type Find = (token: string) => Promise<Row | null | undefined>

/** `find` reads your table, and `until` is the end of the move. */
export function tokensOfOauth2orize(find: Find, until: number) {
  const tokenOf = (kind: Row['kind']) => async (token: string) => {
    const row = await find(token)
    if (row?.kind !== kind) return undefined
    const { clientId, userId: subject, scope = ['photos:read'], expires } = row
    return { clientId, subject, scope, expiresAt: expires ? Math.floor(expires / 1000) : until }
  }
  return legacyTokens({
    form: /[0-9a-f]{64}/,
    until,
    findAccess: tokenOf('access'),
    findRefresh: tokenOf('refresh'),
  })
}
