import * as oauth from 'oauth4webapi'
import * as client from 'openid-client'
import { stepUp } from '../../../lib/index'
import { foreignStage } from '../../support/clients/foreign-stage'
import { discovered, insecure, Party } from '../../support/clients/oauth4webapi'
import { photoPrint } from '../../support/flows/clients'
import { loginOf } from '../../support/flows/login-stage'

const [gold, silver] = ['urn:example:gold', 'urn:example:silver']
const { client_id, redirect_uris } = photoPrint.registration
const [redirectUri = ''] = redirect_uris
const now = () => Math.floor(Date.now() / 1000)
const login = { current: { authTime: now(), acr: silver } }

const stage = foreignStage(
  () => ({
    resourceOwner: () => ({ subject: 'alice', ...login.current }),
    plugins: [stepUp({ acrValues: [gold, silver] })],
    refreshTokenRotation: false,
  }),
  (app, server) => {
    app.use(server.router())
    app.get('/photos', server.bearerGuard('photos:read', { acr: gold, maxAge: 600 }), (req, res) => {
      res.json({ of: req.oauth?.subject })
    })
  },
)

const photos = (token: string) =>
  oauth.protectedResourceRequest(token, 'GET', new URL('/photos', stage().issuer), undefined, null, insecure)

test('oauth4webapi reads the challenge, asks again with it, and refreshes twice with one refresh token', async () => {
  const { issuer, flow } = stage()
  const party = new Party(await discovered(issuer), client_id, oauth.ClientSecretBasic(photoPrint.secret))
  expect(party.server.acr_values_supported).toEqual([gold, silver])
  const weak = await flow.tokens(photoPrint)
  const challenge = await photos(weak.accessToken).catch(
    (error: unknown) => Object(error).cause[0].parameters,
  )
  const { error, acr_values, max_age, scope } = challenge
  expect([error, acr_values, max_age]).toEqual(['insufficient_user_authentication', gold, '600'])

  const { parameters, verifier } = await party.request(redirectUri, {
    acr_values,
    max_age,
    scope,
    state: 's',
  })
  const { back } = loginOf(await flow.ask(parameters.toString()))
  login.current = { authTime: now(), acr: gold }
  const answer = oauth.validateAuthResponse(
    party.server,
    party.client,
    await stage().answer(`${issuer}${back}`),
    's',
  )
  const tokens = await party.redeem(answer, redirectUri, verifier)
  expect((await photos(tokens.access_token)).status).toBe(200)
  for (let round = 0; round < 2; round++) {
    const refreshed = await party.refresh(tokens.refresh_token)
    expect(refreshed.refresh_token).toBe(tokens.refresh_token)
    expect((await photos(refreshed.access_token)).status).toBe(200)
  }
})

test('openid-client refreshes twice with one refresh token, which each response names', async () => {
  const authentication = client.ClientSecretBasic(photoPrint.secret)
  const config = await client.discovery(new URL(stage().issuer), client_id, undefined, authentication, {
    algorithm: 'oauth2',
    execute: [client.allowInsecureRequests],
  })
  const { refreshToken } = await stage().flow.tokens(photoPrint)
  const both = [1, 2].map(() => client.refreshTokenGrant(config, refreshToken))
  const [one, other] = await Promise.all(both)
  expect([one?.refresh_token, other?.refresh_token]).toEqual([refreshToken, refreshToken])
  expect(one?.access_token).not.toBe(other?.access_token)
})
