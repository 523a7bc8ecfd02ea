import { inspect } from 'node:util'
import request from 'supertest'
import { generateClientSecret } from '../../lib/client-authentication/client-secret'
import type { ClientRegistration } from '../../lib/protocol/client'
import { approvedCode, authorizationRequest, handleIn } from '../support/rooms/consent-form'
import { basic, rawBasic } from '../support/rooms/credentials'
import { hostWith } from '../support/rooms/host'
import { phone, printer, printerSecret } from '../support/rooms/registrations'

const verifier = 'verifier-dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
const wrongSecret = 'wrong-secret:with%zz+odd letters'
const plainSecret = 'a-secret-that-the-host-stored-in-plain'
const password = 'password-of-the-owner'

const brokenRegistration = {
  ...printer,
  client_id: 'broken',
  client_secret_hashes: [plainSecret],
} satisfies ClientRegistration
const registered: readonly ClientRegistration[] = [printer, phone, brokenRegistration]

/** Everything of it, hidden fields and causes of causes too, as text. */
const everything = (value: unknown) =>
  inspect(value, { depth: Infinity, showHidden: true, maxStringLength: Infinity, maxArrayLength: Infinity }) +
  JSON.stringify(value)

describe('failure events', () => {
  it('hold no secret, whatever fails [input-14]', async () => {
    const clients = { find: async (id: string) => registered.find(({ client_id }) => client_id === id) }
    const { app, oauth, failures, errors } = hostWith({ clients }, (host, server) => {
      host.use(server.router())
      host.get(
        '/photos',
        server.bearerGuard('photos.write'),
        (_request, response) => void response.send('photos'),
      )
    })
    const secrets = new Set([printerSecret, wrongSecret, plainSecret, password, verifier])
    const token = (
      body: Readonly<Record<string, string | string[]>>,
      header = basic(printer.client_id, printerSecret),
    ) => {
      secrets.add(header.slice(6))
      return request(app).post('/token').set('Authorization', header).type('form').send(body)
    }

    // Client authentication, in every way wrong.
    const grant = { grant_type: 'client_credentials', scope: 'photos.read' }
    for (const header of [
      basic(printer.client_id, wrongSecret),
      rawBasic(`${printer.client_id}:${wrongSecret}`),
      rawBasic(`:${wrongSecret}`),
      rawBasic(wrongSecret.replace(':', '.')),
      `Basic ${wrongSecret}`,
      `Bearer ${wrongSecret}`,
      basic('nobody', wrongSecret),
      basic('broken', plainSecret),
      basic(phone.client_id, wrongSecret),
    ])
      await token(grant, header)
    await token({ ...grant, client_id: printer.client_id, client_secret: wrongSecret })
    await token({ ...grant, client_id: 'other' })
    await request(app).post('/token').type('form').send({ client_secret: wrongSecret })
    await request(app)
      .post('/token')
      .type('form')
      .send({ client_id: 'x', client_secret: [wrongSecret, printerSecret] })
    await request(app).post('/token').type('json').send({ client_secret: wrongSecret })
    await request(app).post('/token').query({ client_secret: wrongSecret }).type('form').send(grant)

    // Grants, in every way wrong.
    const first = await approvedCode(app)
    const challenged = await approvedCode(app, {
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
    })
    const { redirect_uri } = authorizationRequest
    await token({ grant_type: 'authorization_code', code: challenged, redirect_uri, code_verifier: verifier })
    await token({ grant_type: 'authorization_code', code: first, redirect_uri, code_verifier: verifier })
    await token({ grant_type: 'authorization_code', code: first, redirect_uri: 'https://evil.example/' })
    const { body } = await token({ grant_type: 'authorization_code', code: first, redirect_uri })
    const { access_token, refresh_token } = body
    await token({ grant_type: 'authorization_code', code: `${first}x`, redirect_uri })
    await token({ grant_type: 'refresh_token', refresh_token: String(refresh_token), scope: 'profile' })
    await token({ grant_type: 'refresh_token', refresh_token: `${refresh_token}x` })
    await token({ grant_type: 'refresh_token', refresh_token: [String(refresh_token), 'x'] })
    await token({ grant_type: 'password', username: 'alice', password })

    // Tokens and handles, in every way wrong.
    const photos = (header: string) => request(app).get('/photos').set('Authorization', header)
    for (const header of [`Bearer ${access_token}`, `Bearer ${access_token} x`, `Bearer ${refresh_token}`])
      await photos(header)
    await token({ grant_type: 'authorization_code', code: first, redirect_uri })
    await photos(`Bearer ${access_token}`)
    const page = await request(app).get('/authorize').query(authorizationRequest)
    const handle = handleIn(page.text)
    const decide = (decision: string) =>
      request(app).post('/authorize').type('form').send({ authorization_request: handle, decision })
    await decide('perhaps')
    await decide('deny')
    await decide('approve')

    for (const secret of [first, challenged, access_token, refresh_token, handle]) secrets.add(String(secret))
    expect(failures.length).toBeGreaterThan(28)
    expect(new Set(failures.map(({ reason }) => reason)).size).toBeGreaterThan(18)
    for (const secret of secrets)
      for (const spelling of [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')])
        expect(everything([failures, errors])).not.toContain(spelling)
    expect(oauth.events.listenerCount('failure')).toBe(1)
  })

  it('hold none that generateClientSecret made', () => {
    // The test above would be worth nothing with secrets that hide among other words.
    for (const secret of [printerSecret, generateClientSecret().client_secret])
      expect(secret).toHaveLength(43)
  })
})
