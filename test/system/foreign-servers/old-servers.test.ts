import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { type LegacyToken, legacyTokens } from '../../../lib/paths/legacy-tokens'
import { application } from '../../support/flows/application'
import { photoBook } from '../../support/flows/clients'
import { outcomeOf } from '../../support/flows/outcome'
import { tokensOf } from '../../support/flows/tokens'
import { installPackage } from '../../support/npm-packages'

// Servers by other people, from which hosts move. Each issues its tokens in a process of its own, and prints its storage.

type Kind = 'access' | 'refresh'
type Find<Row> = (rows: ReadonlyMap<string, Row>, token: string, kind: Kind) => LegacyToken | undefined

/** The functions of a host read the storage of its old server, here as JSON. */
const hostOf =
  <Row>(form: RegExp, find: Find<Row>) =>
  (storage: string) => {
    const rows = new Map<string, Row>(JSON.parse(storage))
    return {
      form,
      findAccess: (token: string) => find(rows, token, 'access'),
      findRefresh: (token: string) => find(rows, token, 'refresh'),
    }
  }

const uuid = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/
const seconds = (date: string) => Math.floor(Date.parse(date) / 1000)

interface OfAdapter {
  readonly clientId: string
  readonly accountId: string
  readonly scope: string
  readonly exp: number
  readonly grantId: string
  readonly iat: number
}
const oidcProvider = hostOf<OfAdapter>(/[\w-]{43}/, (rows, token, kind) => {
  const row = rows.get(`${kind === 'access' ? 'AccessToken' : 'RefreshToken'}:${token}`)
  const grantedAt = row && rows.get(`Grant:${row.grantId}`)?.iat
  if (row === undefined || grantedAt === undefined) return undefined
  const { clientId, accountId: subject, scope, exp: expiresAt } = row
  return { clientId, subject, scope: scope.split(' '), expiresAt, grantedAt }
})

interface OfHost {
  readonly kind: Kind
  readonly client: string
  readonly owner: string
  readonly scope: string
  readonly expires: number
}
const oauth2orize = hostOf<OfHost>(uuid, (rows, token, kind) => {
  const row = rows.get(token)
  if (row?.kind !== kind) return undefined
  const { client: clientId, owner: subject, scope, expires } = row
  return { clientId, subject, scope: scope.split(' '), expiresAt: Math.floor(expires / 1000) }
})

interface OfModel {
  readonly accessToken: string
  readonly refreshToken: string
  readonly accessTokenExpiresAt: string
  readonly refreshTokenExpiresAt: string
  readonly scope: readonly string[]
  readonly client: { readonly id: string }
  readonly user: { readonly username: string }
}
const oauth2Server = hostOf<OfModel>(/[\da-f]{64}/, (rows, token, kind) => {
  const row = [...rows.values()].find((each) => each[`${kind}Token`] === token)
  if (row === undefined) return undefined
  const { client, user, scope } = row
  const expiresAt = seconds(row[`${kind}TokenExpiresAt`])
  return { clientId: client.id, subject: user.username, scope, expiresAt }
})

interface OfProvider {
  readonly clientId: string
  readonly scopes: readonly string[]
  readonly expiresAt: number
  readonly extra: { readonly owner: string }
}
const mcp = hostOf<OfProvider>(uuid, (rows, token, kind) => {
  const row = rows.get(`${kind} ${token}`)
  if (row === undefined) return undefined
  const { clientId, scopes: scope, expiresAt, extra } = row
  return { clientId, subject: extra.owner, scope, expiresAt }
})

test.each([
  ['oidc-provider', undefined, oidcProvider],
  ['oauth2orize', 'oauth2orize@1.12.0', oauth2orize],
  ['@node-oauth/oauth2-server', '@node-oauth/oauth2-server@5.3.0', oauth2Server],
  ['mcpAuthRouter', undefined, mcp],
])('a guard takes an access token of %s, and a refresh token of it moves', async (name, module, host) => {
  const packages = module === undefined ? '' : installPackage(module)
  const program = join(__dirname, 'old-servers.mjs')
  const words = execFileSync(process.execPath, [program, name, packages], { encoding: 'utf8', stdio: 'pipe' })
  const { access_token, refresh_token, storage } = JSON.parse(words.trim().split('\n').at(-1) ?? '')
  const until = Math.floor(Date.now() / 1000) + 30 * 24 * 3600
  const { flow } = application({ plugins: [legacyTokens({ ...host(storage), until })], authorizations: true })
  const access = { clientId: 'photo-book', subject: 'alice', scope: ['photos:read'] }
  expect((await flow.photos(access_token)).body).toMatchObject(access)
  expect((await flow.photos(refresh_token)).status).toBe(401)
  expect(outcomeOf(await flow.refresh(photoBook, access_token))).toBe('400 invalid_grant')
  const { accessToken, refreshToken } = tokensOf(await flow.refresh(photoBook, refresh_token))
  expect((await flow.photos(accessToken)).body).toMatchObject(access)
  expect(outcomeOf(await flow.refresh(photoBook, refreshToken))).toBe('tokens')
})
