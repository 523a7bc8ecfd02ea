import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import type { ClientRegistration, Plugin } from '../../../lib/index'
import { registrationOf, tokensOfProvider } from '../../../docs/examples/move-from-mcp-auth-router'
import { tokensOfModel } from '../../../docs/examples/move-from-node-oauth'
import { tokensOfOauth2orize } from '../../../docs/examples/move-from-oauth2orize'
import { tokensOfOidcProvider } from '../../../docs/examples/move-from-oidc-provider'
import { application } from '../../support/flows/application'
import { photoBook } from '../../support/flows/clients'
import { outcomeOf } from '../../support/flows/outcome'
import { tokensOf } from '../../support/flows/tokens'
import { installPackage } from '../../support/npm-packages'

// Servers by other people, from which hosts move by the guides. Each issues its tokens in a process of its own, and
// prints its storage.

type Move = (storage: string, until: number) => Plugin

/** What the functions of a host find; JSON has lost its dates. */
const rowsIn = <Row>(storage: string) =>
  new Map<string, Row>(
    JSON.parse(storage, (key, value: unknown) =>
      typeof value === 'string' && key.endsWith('ExpiresAt') ? new Date(value) : value,
    ),
  )
type FoundBy<Find extends (...given: never[]) => unknown> = Exclude<Awaited<ReturnType<Find>>, false | null>

type AdapterRow = FoundBy<InstanceType<Parameters<typeof tokensOfOidcProvider>[0]>['find']>
const oidcProvider: Move = (storage, end) => {
  const rows = rowsIn<AdapterRow>(storage)
  class Adapter {
    constructor(private readonly model: string) {}
    readonly find = async (id: string) => rows.get(`${this.model}:${id}`)
    readonly destroy = async (id: string) => rows.delete(`${this.model}:${id}`)
  }
  return tokensOfOidcProvider(Adapter, end)
}

const oauth2orize: Move = (storage, end) => {
  const rows = rowsIn<FoundBy<Parameters<typeof tokensOfOauth2orize>[0]>>(storage)
  return tokensOfOauth2orize(async (token) => rows.get(token), end)
}

type ModelRow = FoundBy<Parameters<typeof tokensOfModel>[0]['getAccessToken']>
const nodeOauth: Move = (storage, end) => {
  const rows = rowsIn<ModelRow & { readonly refreshToken: string }>(storage)
  const getAccessToken = async (token: string) => rows.get(token)
  const getRefreshToken = async (token: string) =>
    [...rows.values()].find(({ refreshToken }) => refreshToken === token)
  return tokensOfModel({ getAccessToken, getRefreshToken }, end)
}

const mcp: Move = (storage, end) => {
  const rows = rowsIn<FoundBy<Parameters<typeof tokensOfProvider>[0]>>(storage)
  return tokensOfProvider(async (kind, token) => rows.get(`${kind} ${token}`), end)
}

interface Issued {
  readonly access_token: string
  readonly refresh_token: string
  readonly storage: string
}
function issuedBy(name: string, packages = ''): Issued {
  const program = join(__dirname, 'old-servers.mjs')
  const words = execFileSync(process.execPath, [program, name, packages], { encoding: 'utf8', stdio: 'pipe' })
  return JSON.parse(words.trim().split('\n').at(-1) ?? '')
}

const until = Math.floor(Date.now() / 1000) + 30 * 24 * 3600
const moved = (plugin: Plugin, clients?: readonly ClientRegistration[]) =>
  application({ plugins: [plugin], authorizations: true, ...(clients && { clients }) })

test.each<[string, string | undefined, Move]>([
  ['oidc-provider', undefined, oidcProvider],
  ['oauth2orize', 'oauth2orize@1.12.0', oauth2orize],
  ['@node-oauth/oauth2-server', '@node-oauth/oauth2-server@5.3.0', nodeOauth],
  ['mcpAuthRouter', undefined, mcp],
])('a guard takes an access token of %s, and a refresh token of it moves', async (name, module, move) => {
  const { access_token, refresh_token, storage } = issuedBy(name, module && installPackage(module))
  const { flow } = moved(move(storage, until))
  const access = { clientId: 'photo-book', subject: 'alice', scope: ['photos:read'] }
  expect((await flow.photos(access_token)).body).toMatchObject(access)
  expect((await flow.photos(refresh_token)).status).toBe(401)
  expect(outcomeOf(await flow.refresh(photoBook, access_token))).toBe('400 invalid_grant')
  const { accessToken, refreshToken } = tokensOf(await flow.refresh(photoBook, refresh_token))
  expect((await flow.photos(accessToken)).body).toMatchObject(access)
  expect(outcomeOf(await flow.refresh(photoBook, refreshToken))).toBe('tokens')
})

test.each([
  ['used up', { consumed: 1 }],
  ['bound to a key of DPoP', { jkt: 'x' }],
  ['bound to a certificate', { 'x5t#S256': 'x' }],
])('a token of oidc-provider that is %s does not move', async (_how, members) => {
  const { access_token, refresh_token, storage } = issuedBy('oidc-provider')
  const rows = Array.from(rowsIn<object>(storage), ([id, row]) => [id, { ...row, ...members }])
  const { flow } = moved(oidcProvider(JSON.stringify(rows), until))
  expect((await flow.photos(access_token)).status).toBe(401)
  expect(outcomeOf(await flow.refresh(photoBook, refresh_token))).toBe('400 invalid_grant')
})

test.each([
  ['a public client', undefined],
  ['a client with a secret', 'f'.repeat(64)],
])('%s of mcpAuthRouter keeps its registration', async (_kind, client_secret) => {
  const { refresh_token, storage } = issuedBy('mcpAuthRouter')
  const { redirect_uris } = photoBook.registration
  const old = { client_id: 'photo-book', redirect_uris, ...(client_secret && { client_secret }) }
  const registration = await registrationOf(old, 'photos:read')
  const { flow } = moved(mcp(storage, until), [registration])
  const client = { registration, ...(client_secret && { secret: client_secret }) }
  expect(outcomeOf(await flow.refresh(client, refresh_token))).toBe('tokens')
})
