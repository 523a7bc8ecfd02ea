import express from 'express'
import session from 'express-session'
import { exportJWK, generateKeyPair } from 'jose'
import * as oauth from 'oauth4webapi'
import { Passport } from 'passport'
import OAuth2Strategy from 'passport-oauth2'
import request from 'supertest'
import { createAuthorizationServer, formPost, requestObjects } from '../../../lib/index'
import { Flow } from '../../support/flows/flow'
import { postedFormOf } from '../../support/flows/posted-form'
import { type StartedServer, startServer } from '../../support/rooms/start-server'

const insecure = { [oauth.allowInsecureRequests]: true }
const redirect_uri = 'http://127.0.0.1:1/callback'
const keys = generateKeyPair('ES256', { extractable: true })

let started: StartedServer
let issuer: string
let flow: Flow
beforeAll(async () => {
  const { publicKey } = await keys
  const app = express()
  started = await startServer(app)
  issuer = `http://127.0.0.1:${started.port}`
  const registration = { client_type: 'public', redirect_uris: [redirect_uri], scope: 'photos:read' } as const
  const jwk: object = { ...(await exportJWK(publicKey)), kid: 'a' }
  const server = createAuthorizationServer({
    issuer,
    scopes: { 'photos:read': 'See your photos' },
    clients: [
      { ...registration, client_id: 'album', jwks: { keys: [jwk] }, require_signed_request_object: true },
      { ...registration, client_id: 'passport' },
    ],
    resourceOwner: (req) => req.get('X-Owner'),
    plugIns: [requestObjects(), formPost()],
  })
  app.use(server.router())
  flow = new Flow(issuer)
})
afterAll(() => started.stop())

const album = { client_id: 'album' }

async function discovered(): Promise<oauth.AuthorizationServer> {
  const url = new URL(issuer)
  const discovery = await oauth.discoveryRequest(url, { algorithm: 'oauth2', ...insecure })
  return oauth.processDiscoveryResponse(url, discovery)
}

test('oauth4webapi finds that the server takes request objects and form_post', async () => {
  expect(await discovered()).toMatchObject({
    request_parameter_supported: true,
    request_object_signing_alg_values_supported: expect.arrayContaining(['ES256']),
    require_signed_request_object: false,
    response_modes_supported: ['query', 'fragment', 'form_post'],
  })
})

test.each(['approve', 'deny'])(
  'oauth4webapi signs a request, and reads the response in a form (%s)',
  async (decision) => {
    const as = await discovered()
    const verifier = oauth.generateRandomCodeVerifier()
    const state = oauth.generateRandomState()
    const parameters = new URLSearchParams({
      response_type: 'code',
      response_mode: 'form_post',
      redirect_uri,
      scope: 'photos:read',
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    })
    const { privateKey } = await keys
    const object = await oauth.issueRequestObject(as, album, parameters, { key: privateKey, kid: 'a' })
    const page = await flow.ask({ client_id: 'album', request: object }, 'alice')
    const { fields } = postedFormOf(await flow.decide(page, decision, 'alice'))
    const validate = () => oauth.validateAuthResponse(as, album, new URLSearchParams(fields), state)
    const outcome = decision === 'approve' ? await redeemed(as, validate(), verifier) : refusalOf(validate)
    expect(outcome).toBe(decision === 'approve' ? 'photos:read' : 'access_denied')
  },
)

async function redeemed(as: oauth.AuthorizationServer, parameters: URLSearchParams, verifier: string) {
  const response = await oauth.authorizationCodeGrantRequest(
    as,
    album,
    oauth.None(),
    parameters,
    redirect_uri,
    verifier,
    insecure,
  )
  return (await oauth.processAuthorizationCodeResponse(as, album, response)).scope
}

function refusalOf(validate: () => unknown): string | undefined {
  try {
    validate()
  } catch (error) {
    if (error instanceof oauth.AuthorizationResponseError) return error.error
    throw error
  }
  return undefined
}

test('passport-oauth2 takes the response in a form', async () => {
  const passport = new Passport()
  const options = {
    authorizationURL: `${issuer}/authorize?response_mode=form_post`,
    tokenURL: `${issuer}/token`,
    clientID: 'passport',
    clientSecret: '',
    callbackURL: redirect_uri,
    scope: 'photos:read',
    state: true,
    pkce: true,
  }
  const done = (
    accessToken: string,
    _refresh: string,
    _profile: unknown,
    next: OAuth2Strategy.VerifyCallback,
  ) => next(null, { accessToken })
  passport.use('example', new OAuth2Strategy(options, done))
  const app = express()
  app.use(session({ secret: 'test', resave: false, saveUninitialized: false }))
  app.get('/login', passport.authenticate('example', { session: false }))
  const authenticate = passport.authenticate('example', { session: false })
  app.post(
    '/callback',
    express.urlencoded({ extended: false }),
    authenticate,
    (req, res) => void res.json(req.user),
  )
  const browser = request.agent(app)
  const { search } = new URL(String((await browser.get('/login')).get('Location')))
  const page = await flow.open(`/authorize${search}`, 'alice')
  const { fields } = postedFormOf(await flow.decide(page, 'approve', 'alice'))
  const callback = await browser.post('/callback').type('form').send(fields)
  expect(callback.body).toEqual({ accessToken: expect.stringMatching(/^at_/) })
})
