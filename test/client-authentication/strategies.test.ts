import express, { type RequestHandler } from 'express'
import type { AuthenticateCallback } from 'passport'
import request from 'supertest'
import { OAuthError } from '../../lib/protocol/oauth-error'
import { basic } from '../support/rooms/credentials'
import { catchErrors } from '../support/rooms/host'
import { everyMethod, passportHost } from '../support/rooms/host-passport'
import { phone, printer, printerSecret } from '../support/rooms/registrations'
import { answerOf, statusOf } from '../support/rooms/status'

type Ask = (test: request.Test) => request.Test
const byBasic: Ask = (test) => test.auth(printer.client_id, printerSecret).type('form').send({})
const byPost: Ask = (test) =>
  test.type('form').send({ client_id: printer.client_id, client_secret: printerSecret })
const byName: Ask = (test) => test.type('form').send({ client_id: phone.client_id })
const wrongly: Ask = (test) =>
  test.set('Authorization', basic(printer.client_id, 'wrong')).type('form').send({})

describe("strategies in a host's own Passport", () => {
  it('are one for each method, under the names of the registry', () => {
    expect(passportHost().oauth.strategies.map(({ name }) => name)).toEqual(everyMethod)
  })

  it.each([
    ['client_secret_basic', byBasic, printer.client_id],
    ['client_secret_post', byPost, printer.client_id],
    ['none', byName, phone.client_id],
  ])('prove by %s when all are listed, in whatever order', async (_name, ask, client_id) => {
    for (const methods of [everyMethod, everyMethod.toReversed()]) {
      const { app } = passportHost({ methods })
      const { body } = await ask(request(app).post('/whoami'))
      expect(body).toMatchObject({ user: { client_id } })
    }
  })

  it('prove with the one that is named alone', async () => {
    const { app } = passportHost({ methods: 'client_secret_post' })
    const { body } = await byPost(request(app).post('/whoami'))
    expect(body).toHaveProperty('user.client_id', printer.client_id)
  })

  it('fail for a request that uses another method than the listed ones', async () => {
    const { app, errors } = passportHost({ methods: 'client_secret_post' })
    const response = await byBasic(request(app).post('/whoami'))
    expect({ status: response.status, text: response.text }).toEqual({ status: 401, text: 'Unauthorized' })
    expect(errors).toEqual([])
  })

  it.each([
    ['a wrong secret', wrongly, 'client_not_authenticated'],
    ['no client at all', (test: request.Test) => test.type('form').send({}), 'no_client_authentication'],
    ['two methods', (test: request.Test) => byPost(test.auth('x', 'y')), 'several_methods'],
  ])('end in an error for %s', async (_what, ask, reason) => {
    const { app, errors } = passportHost()
    expect(await answerOf(ask(request(app).post('/whoami')))).toEqual({
      status: 500,
      text: "the host's page",
    })
    expect(errors).toEqual([expect.any(OAuthError)])
    expect(errors).toEqual([expect.objectContaining({ reason })])
  })

  it('leave the user of the host alone when the host says so', async () => {
    const { app } = passportHost({ authenticate: { assignProperty: 'oauthClient' } })
    const { body } = await byBasic(request(app).post('/whoami'))
    expect(body).toEqual({ oauthClient: expect.objectContaining({ client_id: printer.client_id }) })
  })
})

/** A host that goes on by a callback of its own. */
function attempt(options: Parameters<typeof passportHost>[0], goOn: () => void) {
  const { passport } = passportHost(options)
  const app = express()
  app.post('/', (req, res, next) => {
    const concluded: AuthenticateCallback = (error: unknown) => (error ? next(error) : goOn())
    passport.authenticate(everyMethod, { session: false }, concluded)(req, res, next)
  })
  return { app, errors: catchErrors(app) }
}

describe("strategies in a host's own Passport: what throws", () => {
  it('in what follows success reaches next, and hangs nothing', async () => {
    const broken = new Error('the host broke')
    const { app, errors } = attempt({}, () => {
      throw broken
    })
    expect(await statusOf(byBasic(request(app).post('/')))).toBe(500)
    expect(errors).toEqual([broken])
  })

  it('in verification reaches next', async () => {
    const broken = { client_id: printer.client_id, client_type: 'unheard-of' }
    const store = { find: async () => JSON.parse(JSON.stringify(broken)) }
    const { app, errors } = attempt({ options: { clients: store } }, () => undefined)
    expect(await statusOf(byBasic(request(app).post('/')))).toBe(500)
    expect(errors).toEqual([expect.objectContaining({ name: 'ConfigurationError' })])
  })

  it('pass an error of the store of clients to next', async () => {
    const store = { find: () => Promise.reject(new Error('down')) }
    const { app, errors } = attempt({ options: { clients: store } }, () => undefined)
    expect(await statusOf(byBasic(request(app).post('/')))).toBe(500)
    expect(errors).toEqual([expect.objectContaining({ code: 'temporarily_unavailable' })])
  })
})

describe("oauth.token() behind a host's own Passport", () => {
  const grant = { grant_type: 'client_credentials', scope: 'photos.read' }

  it('issues to the client that a strategy has proven', async () => {
    const { app } = passportHost()
    const response = await request(app)
      .post('/token')
      .auth(printer.client_id, printerSecret)
      .type('form')
      .send(grant)
    expect(response.status).toBe(200)
    expect(response.body).toMatchObject({ token_type: 'bearer', scope: 'photos.read' })
  })

  it('answers what ended in an error as the token endpoint does', async () => {
    const { app, failures } = passportHost()
    const response = await request(app)
      .post('/token')
      .auth(printer.client_id, 'wrong')
      .type('form')
      .send(grant)
    expect(response.status).toBe(401)
    expect(response.headers['www-authenticate']).toBe('Basic realm="oauth", charset="UTF-8"')
    expect(response.body).toHaveProperty('error', 'invalid_client')
    expect(failures).toEqual([expect.objectContaining({ code: 'invalid_client', cause: undefined })])
  })

  it('answers a method that the host did not list in the same way, when Passport fails with an error', async () => {
    const { app, failures } = passportHost({
      methods: 'client_secret_post',
      authenticate: { failWithError: true },
    })
    const response = await request(app)
      .post('/token')
      .auth(printer.client_id, printerSecret)
      .type('form')
      .send(grant)
    expect(response.status).toBe(401)
    expect(response.body).toHaveProperty('error', 'invalid_client')
    expect(failures).toHaveLength(1)
  })

  it('reports that as a mere refusal, without a cause, which is for what broke on this side', async () => {
    const { app, failures } = passportHost({
      methods: 'client_secret_post',
      authenticate: { failWithError: true },
    })
    await request(app).post('/token').auth(printer.client_id, printerSecret).type('form').send(grant)
    expect(failures).toEqual([expect.objectContaining({ code: 'invalid_client', cause: undefined })])
  })

  it('leaves errors of others to the host', async () => {
    const { oauth } = passportHost()
    const broken = new Error('of the host')
    const app = express()
    const breaks: RequestHandler = (_request, _response, next) => next(broken)
    app.post('/token', breaks, ...oauth.token())
    const errors = catchErrors(app)
    expect(await answerOf(request(app).post('/token').type('form').send(grant))).toEqual({
      status: 500,
      text: "the host's page",
    })
    expect(errors).toEqual([broken])
  })
})
