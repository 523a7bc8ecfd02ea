import request from 'supertest'
import type { BearerGuardOptions } from '../../lib/http/bearer-guard'
import { ConfigurationError } from '../../lib/primitives/options-reader'
import type { AuthorizationStore } from '../../lib/authorization/store'
import { hostWith } from '../support/rooms/host'
import { printer, printerSecret } from '../support/rooms/registrations'
import { answerOf, statusOf } from '../support/rooms/status'
import { exchangeBytes, onTheWire } from '../support/rooms/wire'

/** A host with guarded photos, and an access token for them. */
async function guarded(scope = '', options?: BearerGuardOptions, granted = 'photos.read') {
  const host = hostWith({}, (app, oauth) => {
    app.use(oauth.router())
    app.get(
      '/photos',
      oauth.bearerGuard(scope, options),
      (req, response) => void response.json(req.oauth ?? 'anybody'),
    )
  })
  const grant = { grant_type: 'client_credentials', scope: granted }
  const { body } = await request(host.app)
    .post('/token')
    .auth(printer.client_id, printerSecret)
    .type('form')
    .send(grant)
  const token = String(body.access_token)
  const get = (header?: string) => {
    const test = request(host.app).get('/photos')
    return header === undefined ? test : test.set('Authorization', header)
  }
  return { ...host, token, get }
}

describe('bearerGuard', () => {
  it('puts what the token stands for on the request', async () => {
    const { get, token } = await guarded('photos.read')
    const { status, body } = await get(`Bearer ${token}`)
    expect(status).toBe(200)
    expect(body).toEqual({
      authorizationId: expect.stringMatching(/^[A-Za-z0-9_-]{22}$/),
      clientId: printer.client_id,
      scope: ['photos.read'],
      tokenType: 'bearer',
      expiresAt: expect.any(Number),
    })
  })

  it.each([
    ['without a token', () => undefined, 401, 'Bearer realm="oauth", scope="photos.write"', {}],
    [
      'with a bad token',
      () => 'Bearer x',
      401,
      expect.stringContaining('error="invalid_token"'),
      { error: 'invalid_token', error_description: 'The access token is unknown, expired or revoked.' },
    ],
    [
      'with a malformed header',
      () => 'Bearer',
      400,
      expect.stringContaining('error="invalid_request"'),
      { error: 'invalid_request', error_description: expect.any(String) },
    ],
    [
      'with too little scope',
      (token: string) => `Bearer ${token}`,
      403,
      expect.stringContaining('error="insufficient_scope"'),
      { error: 'insufficient_scope', error_description: expect.any(String) },
    ],
  ])('answers a request %s (RES-3)', async (_what, headerOf, status, challenge, answer) => {
    const { get, token } = await guarded('photos.write')
    const { headers, body, ...response } = await get(headerOf(token))
    expect(response.status).toBe(status)
    expect(headers).toMatchObject({ 'www-authenticate': challenge, 'cache-control': 'no-store' })
    expect(body).toEqual(answer)
  })

  it('sees a second Authorization header, which Node hides', async () => {
    const { app, token } = await guarded()
    const answer = await onTheWire(app, (open) =>
      exchangeBytes(open(), [
        `GET /photos HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\nAuthorization: Bearer x\r\n\r\n`,
      ]),
    )
    expect(answer).toMatch(/^HTTP\/1\.1 400 .*invalid_request/s)
  })

  it('takes no token from query or body', async () => {
    const { app, token } = await guarded()
    expect(await statusOf(request(app).get('/photos').query({ access_token: token }))).toBe(401)
    expect(await statusOf(request(app).get('/photos').type('form').send({ access_token: token }))).toBe(401)
  })

  it('can ask for any of several', async () => {
    const { get, token } = await guarded('photos.read photos.write', { match: 'any' })
    expect(await statusOf(get(`Bearer ${token}`))).toBe(200)
    const all = await guarded('photos.read photos.write')
    expect(await statusOf(all.get(`Bearer ${all.token}`))).toBe(403)
  })

  it('can stand behind another', async () => {
    const host = hostWith({}, (app, oauth) => {
      app.use(oauth.router())
      app.get(
        '/photos',
        oauth.bearerGuard(),
        oauth.bearerGuard('photos.write'),
        (_req, response) => void response.send('in'),
      )
    })
    const { token } = await guarded()
    expect(await statusOf(request(host.app).get('/photos').auth(token, { type: 'bearer' }))).toBe(401)
  })
})

describe('bearerGuard that is optional', () => {
  it('lets a request without a token pass', async () => {
    const { get } = await guarded('photos.read', { optional: true })
    const { status, body } = await get()
    expect({ status, body }).toEqual({ status: 200, body: 'anybody' })
  })

  it('accepts a valid token, and refuses an invalid one [token-16]', async () => {
    const { get, token } = await guarded('photos.read', { optional: true })
    expect((await get(`Bearer ${token}`)).body).toHaveProperty('clientId', printer.client_id)
    expect(await statusOf(get('Bearer x'))).toBe(401)
    const poor = await guarded('photos.write', { optional: true })
    expect(await statusOf(poor.get(`Bearer ${poor.token}`))).toBe(403)
  })

  it('lets a request pass that shows no token but authenticates otherwise', async () => {
    const { get } = await guarded('photos.read', { optional: true })
    expect(await statusOf(get('Basic YTpi'))).toBe(200)
  })
})

const guardOn = (find: AuthorizationStore['find']) =>
  hostWith({ store: { find, save: async () => true, remove: async () => undefined } }, (app, oauth) =>
    app.get('/photos', oauth.bearerGuard(), (_req, response) => void response.send('in')),
  )

describe('bearerGuard with a failing store', () => {
  const token = `at_${'A'.repeat(64)}`

  it('answers 503 when the store does not, and never that the token is bad', async () => {
    const { app } = guardOn(() => Promise.reject(new Error('down')))
    const response = await request(app).get('/photos').auth(token, { type: 'bearer' })
    expect(response.status).toBe(503)
    expect(response.headers).toMatchObject({ 'retry-after': '1', 'cache-control': 'no-store' })
    expect(response.headers).not.toHaveProperty('www-authenticate')
    expect(response.body).toEqual({ error: 'temporarily_unavailable', error_description: expect.any(String) })
  })

  it('hands on what breaks, and reports it', async () => {
    const { app, errors, failures } = guardOn(async () => JSON.parse('{"authorization":null}'))
    expect(await answerOf(request(app).get('/photos').auth(token, { type: 'bearer' }))).toEqual({
      status: 500,
      text: "the host's page",
    })
    expect(errors).toEqual([expect.any(TypeError)])
    expect(failures).toEqual([expect.objectContaining({ code: 'server_error', cause: errors[0] })])
  })

  it('hands on what the guarded route throws, and reports nothing', async () => {
    const broken = new Error('of the host')
    const { token: good, ...host } = await guarded()
    host.app.get('/other', host.oauth.bearerGuard(), () => {
      throw broken
    })
    expect(await statusOf(request(host.app).get('/other').auth(good, { type: 'bearer' }))).toBe(500)
    expect(host.failures).toEqual([])
  })
})

describe('bearerGuard that is made wrongly', () => {
  const { oauth } = hostWith()

  it.each([
    ['a misspelt scope', () => oauth.bearerGuard('photos.raed')],
    ['a malformed scope', () => oauth.bearerGuard('photos.read,photos.write')],
    ['a match that is none', () => oauth.bearerGuard('photos.read', JSON.parse('{"match":"some"}'))],
  ])('says so at once: %s', (_what, make) => {
    expect(make).toThrow(ConfigurationError)
  })

  it('says so when it is mounted uncalled [token-15]', async () => {
    const host = hostWith({}, (app, server) => app.get('/photos', Reflect.get(server, 'bearerGuard')))
    expect(await statusOf(request(host.app).get('/photos'))).toBe(500)
    expect(host.errors).toEqual([expect.any(ConfigurationError)])
    expect(String(host.errors[0])).toBe(
      "ConfigurationError: The authorization server is mounted wrongly:\n  - oauth.bearerGuard is a function that makes the middleware: call it, and mount oauth.bearerGuard('photos:read').",
    )
  })
})
