/** Tests of a host that adds an endpoint, a grant type and an extension by public options alone, in TypeScript. */
export const pluggingIn = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import express from 'express'
import { type ClientRegistration, createAuthorizationServer, generateClientSecret } from 'express-authorization-server'
import type {} from 'express-authorization-server/openid-connect'
import { approve } from 'express-authorization-server/testing'
import request from 'supertest'
import { readOnly } from './read-only'
import { voucherGrant } from './voucher-grant'
import { whoami } from './whoami'

declare module 'express-authorization-server' {
  interface HostClientMembers {
    readonly contacts?: readonly string[]
  }
}
const album: Pick<ClientRegistration, 'contacts'> = { contacts: ['ada@album.example'] }
export const ofOpenIdConnect: Pick<ClientRegistration, 'subject_type'> = { subject_type: 'pairwise' }
// @ts-expect-error -- No such type.
export const misspelt: Pick<ClientRegistration, 'subject_type'> = { subject_type: 'private' }

const { client_secret: secret, client_secret_hash } = generateClientSecret()
const grant = 'https://photos.example/grants/voucher'
const oauth = createAuthorizationServer({
  issuer: 'http://localhost',
  scopes: { 'photos:read': 'See your photos', 'photos:print': 'Print your photos' },
  resourceOwner: () => 'ada',
  clients: [
    {
      client_id: 'album',
      client_type: 'confidential',
      client_secret_hashes: [client_secret_hash],
      grant_types: ['authorization_code', 'refresh_token', grant],
      redirect_uris: ['https://album.example/cb'],
      scope: 'photos:read photos:print',
      ...album,
    },
  ],
  plugins: [
    { name: 'whoami', endpoints: [whoami] },
    { name: 'voucher', grantTypes: [voucherGrant(async (voucher) => (voucher === 'paper' ? 'bob' : undefined))] },
    readOnly,
    { name: 'contacts', clientMembers: [{ name: 'contacts', mistakeIn: () => undefined }] },
  ],
})
const app = express()
app.use(oauth.router())
app.get('/photos', oauth.bearerGuard('photos:read'), (req, res) => void res.json({ of: req.oauth?.subject }))
const ask = (fields: Record<string, string>) =>
  request(app).post('/token').type('form').auth('album', secret).send(fields)

test('an endpoint', async () => {
  const { body } = await request(app).get('/whoami').auth('album', secret).expect(200)
  assert.equal(body.client_id, 'album')
  await request(app).get('/whoami').auth('album', 'guess').expect(401)
  const metadata = await request(app).get('/.well-known/oauth-authorization-server').expect(200)
  assert.equal(metadata.body.whoami_endpoint, 'http://localhost/whoami')
})

test('a grant type', async () => {
  const { body } = await ask({ grant_type: grant, voucher: 'paper', scope: 'photos:read' }).expect(200)
  await request(app).get('/photos').auth(body.access_token, { type: 'bearer' }).expect(200, { of: 'bob' })
  await ask({ grant_type: grant, voucher: 'paper', scope: 'photos:read' }).expect(400)
})

test('an extension', async () => {
  const asked = { clientId: 'album', clientSecret: secret, redirectUri: 'https://album.example/cb', scope: 'photos:read photos:print' }
  const { tokens } = await approve(request(app), asked)
  const refresh = (refresh_token: string, more = {}) => ask({ grant_type: 'refresh_token', refresh_token, ...more })
  const narrow = await refresh(String(tokens.refresh_token), { read_only: 'true' }).expect(200)
  assert.equal(narrow.body.scope, 'photos:read')
  const whole = await refresh(narrow.body.refresh_token).expect(200)
  assert.equal(whole.body.scope, 'photos:read photos:print')
})
`
