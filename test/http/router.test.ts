import { part } from '../../lib/http/router'
import express from 'express'
import request from 'supertest'
import { ConfigurationError } from '../../lib/primitives/options-reader'
import { createAuthorizationServer } from '../../lib/server/authorization-server'
import { authorizationRequest } from '../support/rooms/consent-form'
import { hostWith } from '../support/rooms/host'
import { callback, optionsWith } from '../support/rooms/registrations'
import { answerOf, statusOf } from '../support/rooms/status'

describe('router', () => {
  it.each(['/token/', '/Token', '/TOKEN', '//token', '/tok%65n', '/token/x', '/x/token', '/authorize/', '/'])(
    'leaves %s to the host',
    async (path) => {
      const host = hostWith({}, (app, oauth) =>
        app.use(oauth.router(), (_req, res) => void res.send('of the host')),
      )
      expect(await answerOf(request(host.app).post(path))).toEqual({ status: 200, text: 'of the host' })
    },
  )

  it('answers at the paths that the host chose', async () => {
    const paths = { authorization: '/oauth/ask', token: '/oauth/tokens' }
    const host = hostWith({ paths })
    expect(await statusOf(request(host.app).get('/oauth/ask').query(authorizationRequest))).toBe(200)
    expect(await statusOf(request(host.app).post('/oauth/tokens'))).toBe(401)
    expect(await statusOf(request(host.app).post('/token'))).toBe(404)
    expect(await statusOf(request(host.app).get('/authorize'))).toBe(404)
  })

  it('answers below the path of the issuer', async () => {
    const host = hostWith({ issuer: 'http://localhost/auth' }, (app, oauth) =>
      app.use('/auth', oauth.router()),
    )
    expect(await statusOf(request(host.app).post('/auth/token'))).toBe(401)
    expect(await statusOf(request(host.app).post('/token'))).toBe(404)
    const { headers } = await request(host.app)
      .get('/auth/authorize')
      .query({ ...authorizationRequest, scope: 'x' })
    expect(headers['location']).toContain(`${callback}?error=invalid_scope`)
    expect(headers['location']).toContain('iss=http%3A%2F%2Flocalhost%2Fauth')
  })

  it('keeps a query of the endpoint out of the parameters it does not know (EPT-1)', async () => {
    const host = hostWith()
    expect(await statusOf(request(host.app).get('/authorize?tenant=7').query(authorizationRequest))).toBe(200)
    expect(await statusOf(request(host.app).post('/token?tenant=7'))).toBe(401)
  })

  it('has no authorization endpoint for a server that knows no resource owners', async () => {
    const { resourceOwner: _unused, ...options } = optionsWith({ clients: [] })
    const oauth = createAuthorizationServer(options)
    const app = express().use(oauth.router())
    expect(await statusOf(request(app).get('/authorize'))).toBe(404)
    expect(await statusOf(request(app).post('/token'))).toBe(401)
  })
})

describe('part', () => {
  it('makes when it is called with nothing', () => {
    expect(part('token', () => 'made')()).toBe('made')
  })

  it('says what to do when it is mounted uncalled, as middleware or as error handling', () => {
    const make = jest.fn()
    const mounted: (...given: readonly unknown[]) => unknown = part('token', make)
    for (const given of [[{}, {}, () => undefined], [new Error('x'), {}, {}, () => undefined], [undefined]]) {
      const attempt = () => mounted(...given)
      expect(attempt).toThrow(ConfigurationError)
      expect(attempt).toThrow(
        'oauth.token is a function that makes the middleware: call it, and mount oauth.token().',
      )
    }
    expect(make).not.toHaveBeenCalled()
  })

  it('has no parameters, so that Express never takes it for error handling', () => {
    expect(part('token', () => undefined)).toHaveLength(0)
  })
})
