import request from 'supertest'
import { type Endpoint, type Extension, OAuthError, type TokenType } from 'express-authorization-server'
import { hostWith } from '../support/rooms/host'
import { printer, printerSecret } from '../support/rooms/registrations'

const loginTooOld = () =>
  new OAuthError('insufficient_user_authentication', 'login_too_old', 'Log in again.', {
    status: 401,
    challenge: { acr_values: 'urn:example:mfa', max_age: '300' },
  })
const body = { error: 'insufficient_user_authentication', error_description: 'Log in again.' }
const challenge =
  'realm="oauth", error="insufficient_user_authentication", error_description="Log in again.", acr_values="urn:example:mfa", max_age="300"'

/** A host whose photos need what its plug-ins demand, and a token for them. */
async function guarded(plugIns: {
  readonly extensions?: readonly Extension[]
  readonly tokenTypes?: readonly TokenType[]
}) {
  const host = hostWith(plugIns, (app, oauth) => {
    app.use(oauth.router())
    app.get('/photos', oauth.bearerGuard('photos.read'), (_request, response) => void response.json([]))
  })
  const reasons: string[] = []
  host.oauth.events.on('refused', ({ reason }) => reasons.push(reason))
  const issued = await request(host.app)
    .post('/token')
    .auth(printer.client_id, printerSecret)
    .type('form')
    .send({ grant_type: 'client_credentials', scope: 'photos.read' })
  return { ...host, reasons, token: String(issued.body.access_token) }
}

describe('an OAuthError of a host', () => {
  it('refuses a request at a guard with its own challenge (RFC 9470 3)', async () => {
    const fresh: Extension = {
      name: 'fresh',
      atResourceRequest() {
        throw loginTooOld()
      },
    }
    const { app, token, reasons, errors } = await guarded({ extensions: [fresh] })
    const response = await request(app).get('/photos').auth(token, { type: 'bearer' })
    expect([response.status, response.body, response.get('WWW-Authenticate')]).toEqual([
      401,
      body,
      `Bearer ${challenge}`,
    ])
    expect([reasons, errors]).toEqual([['login_too_old'], []])
  })

  it('refuses a request with a token of a type of the host, with its own status and headers', async () => {
    const nonce = { name: 'nonce', scheme: 'Nonce' }
    const asks: TokenType = {
      ...nonce,
      read: (accessToken) => ({
        accessToken,
        async rejectReason() {
          throw new OAuthError('use_nonce', 'nonce_missing', 'Send the nonce.', {
            status: 401,
            headers: { 'Nonce-Value': 'n1' },
          })
        },
      }),
    }
    const stamped = { ...printer, client_id: 'stamped', token_type: 'nonce' }
    const host = hostWith({ tokenTypes: [asks], clients: [stamped] }, (app, oauth) => {
      app.use(oauth.router())
      app.get('/photos', oauth.bearerGuard(), (_request, response) => void response.json([]))
    })
    const issued = await request(host.app)
      .post('/token')
      .auth('stamped', printerSecret)
      .type('form')
      .send({ grant_type: 'client_credentials', scope: 'photos.read' })
    const response = await request(host.app)
      .get('/photos')
      .set('Authorization', `Nonce ${issued.body.access_token}`)
    expect([response.status, response.get('Nonce-Value'), response.body.error]).toEqual([
      401,
      'n1',
      'use_nonce',
    ])
    // 401 demands a challenge (RFC 9110 15.5.2).
    expect(response.get('WWW-Authenticate')).toContain('Nonce realm="oauth", error="use_nonce"')
  })

  const throwing = (error: () => OAuthError): Endpoint => ({
    name: 'me',
    path: '/me',
    method: 'GET',
    clientAuthentication: 'none',
    errorStatus: { access_denied: 404 },
    async handle() {
      throw error()
    },
  })
  const answerOf = async (error: () => OAuthError, headers: Record<string, string> = {}) => {
    const { app } = hostWith({ endpoints: [throwing(error)] })
    const response = await request(app).get('/me').set(headers)
    return [response.status, response.get('WWW-Authenticate'), response.get('X-Why')]
  }

  it('answers at an endpoint with its own status, headers and challenge', async () => {
    const tooLittle = () =>
      new OAuthError('insufficient_scope', 'own_reason', 'Too little.', {
        status: 403,
        challenge: { scope: 'profile' },
      })
    expect(await answerOf(tooLittle, { Authorization: 'Bearer x' })).toEqual([
      403,
      'Bearer realm="oauth", scope="profile", error="insufficient_scope"',
      undefined,
    ])
    expect(await answerOf(tooLittle)).toEqual([403, 'Bearer realm="oauth", scope="profile"', undefined])
    const denied = (options: object) => () => new OAuthError('access_denied', 'own_reason', 'No.', options)
    expect(await answerOf(denied({}))).toEqual([404, undefined, undefined])
    expect(await answerOf(denied({ status: 403, headers: { 'X-Why': 'own' } }))).toEqual([
      403,
      undefined,
      'own',
    ])
    expect(await answerOf(denied({ status: 401 }))).toEqual([401, 'Bearer realm="oauth"', undefined])
  })
})
