import express, { type RequestHandler } from 'express'
import type { Response } from 'supertest'
import { application, type Mount, mountAll } from '../support/flows/application'
import { nightlyReport, photoBook } from '../support/flows/clients'
import { authorizationRequest, type Flow } from '../support/flows/flow'
import { codeOf } from '../support/flows/redirection'
import { tokensOf } from '../support/flows/tokens'

/** Protection against CSRF as hosts have it: a form needs a token of the pages of the host. */
const antiCsrf: RequestHandler = (request, response, next) => {
  if (request.method === 'GET') next()
  else response.status(403).send('<p>Forbidden</p>')
}
const loginWall: RequestHandler = (request, response, next) => {
  if (request.get('X-Owner') !== undefined || request.path === '/login') next()
  else response.redirect(303, '/login')
}
const bodyParser = express.urlencoded({ extended: true })

const pages: Mount = (app) => {
  app.all('/settings', (_request, response) => void response.send('settings'))
}
const before =
  (middleware: RequestHandler): Mount =>
  (app, oauth) => {
    app.use(middleware)
    mountAll(app, oauth)
    pages(app, oauth)
  }
const behind =
  (middleware: RequestHandler): Mount =>
  (app, oauth) => {
    mountAll(app, oauth)
    app.use(middleware)
    pages(app, oauth)
  }
const flowWith = (mount: Mount): Flow => application({}, { mount }).flow

const metadata = '/.well-known/oauth-authorization-server'
const consentPageOf = (flow: Flow) => flow.ask(authorizationRequest(photoBook), 'alice')
const tokenFor = (flow: Flow) =>
  flow.request(nightlyReport, { grant_type: 'client_credentials', scope: 'photos:read' })
const longForm = (flow: Flow) => flow.request(nightlyReport, { grant_type: 'x'.repeat(200 * 1024) })
const typeOf = ({ headers }: Response): unknown => headers['content-type']

describe('A middleware for all pages of the host, behind the router and the guards,', () => {
  test.each([
    ['protection against CSRF', antiCsrf],
    ['a login wall', loginWall],
    ['a body parser', bodyParser],
  ])('%s, leaves every endpoint as it is', async (_which, middleware) => {
    const flow = flowWith(behind(middleware))
    const code = codeOf(await flow.decide(await consentPageOf(flow), 'approve', 'alice'))
    const { accessToken } = tokensOf(await flow.redeem(photoBook, code))
    expect((await flow.photos(accessToken)).status).toBe(200)
    expect((await tokenFor(flow)).status).toBe(200)
    expect((await flow.introspect(nightlyReport, accessToken)).status).not.toBe(303)
    expect((await flow.open(metadata)).status).toBe(200)
    expect((await flow.revoke(photoBook, accessToken)).status).toBe(200)
    expect((await flow.photos(accessToken)).status).toBe(401)
    expect((await longForm(flow)).body.error).toBe('invalid_request')
  })

  test('still protects the pages behind it', async () => {
    expect((await flowWith(behind(antiCsrf)).submit('/settings', {}, 'alice')).status).toBe(403)
    expect((await flowWith(behind(loginWall)).open('/settings')).headers['location']).toBe('/login')
  })
})

// What the guide says of the other order.
describe('A middleware for all pages of the host, before the router,', () => {
  test('protection against CSRF, refuses clients and the consent form of the suite', async () => {
    const flow = flowWith(before(antiCsrf))
    expect((await tokenFor(flow)).status).toBe(403)
    expect((await flow.decide(await consentPageOf(flow), 'approve', 'alice')).status).toBe(403)
  })

  test('a login wall, sends clients to the login', async () => {
    const flow = flowWith(before(loginWall))
    for (const answer of [await tokenFor(flow), await flow.open(metadata), await flow.photos('x')])
      expect([answer.status, answer.headers['location']]).toEqual([303, '/login'])
  })

  test('a body parser, answers what is too large for it, without JSON', async () => {
    const answer = await longForm(flowWith(before(bodyParser)))
    expect(answer.status).toBe(413)
    expect(typeOf(answer)).not.toMatch('json')
    expect((await tokenFor(flowWith(before(bodyParser)))).status).toBe(200)
  })
})
