import express from 'express'
import session from 'express-session'
import { Passport } from 'passport'
import OAuth2Strategy from 'passport-oauth2'
import request from 'supertest'
import { startDemo, type Demo } from '../../../demo/demo'
import { freePorts } from '../../support/clients/free-ports'
import { statusOfPhotos } from '../../support/clients/photos'
import { ResourceOwner } from '../../support/clients/resource-owner'

let demo: Demo

beforeAll(async () => {
  demo = await startDemo({ ports: freePorts })
})
afterAll(() => demo.stop())

test.each([
  ['a confidential client', 'photoBook'],
  ['a public client with PKCE', 'commandLine'],
] as const)('passport-oauth2 logs its user in through the server, as %s', async (_name, which) => {
  const browser = request.agent(application(which))
  const start = await browser.get('/auth/example').expect(302)
  const answer = await new ResourceOwner(demo).decide(start.headers['location'] ?? '')
  const callback = await browser.get(`/callback${answer.search}`).expect(200)
  expect(await statusOfPhotos(demo, callback.body.accessToken)).toBe(200)
  expect(callback.body.refreshToken).toMatch(/^rt_/)
})

test('passport-oauth2 fails, and does not break, when the owner says no', async () => {
  const browser = request.agent(application('photoBook'))
  const start = await browser.get('/auth/example').expect(302)
  const answer = await new ResourceOwner(demo).decide(start.headers['location'] ?? '', 'deny')
  const callback = await browser.get(`/callback${answer.search}`)
  expect(callback.status).toBe(401)
})

// As its own documentation has it, PKCE included.
function application(which: 'photoBook' | 'commandLine'): express.Express {
  const registered = demo.clients[which]
  const passport = new Passport()
  const strategy = new OAuth2Strategy(
    {
      authorizationURL: `${demo.authorizationServer}/authorize`,
      tokenURL: `${demo.authorizationServer}/token`,
      clientID: registered.client_id,
      clientSecret: 'client_secret' in registered ? registered.client_secret : '',
      callbackURL: registered.redirect_uri,
      scope: 'photos:read',
      state: true,
      pkce: true,
    },
    (accessToken: string, refreshToken: string, _profile: unknown, done: OAuth2Strategy.VerifyCallback) => {
      done(null, { accessToken, refreshToken })
    },
  )
  passport.use('example', strategy)
  const app = express()
  app.use(session({ secret: 'test', resave: false, saveUninitialized: false }))
  app.get('/auth/example', passport.authenticate('example', { session: false }))
  app.get('/callback', passport.authenticate('example', { session: false }), (req, res) => {
    res.json(req.user)
  })
  return app
}
