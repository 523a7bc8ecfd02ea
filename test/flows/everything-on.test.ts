import type { AuthorizationServerOptions } from '../../lib/index'
import { deviceAuthorization } from '../../lib/paths/devices'
import { dpop } from '../../lib/paths/dpop'
import { jwtAccessTokens } from '../../lib/paths/jwt'
import { openIdConnect } from '../../lib/paths/openid-connect'
import { pushedAuthorizationRequests } from '../../lib/paths/pushed-requests'
import { tokenExchange } from '../../lib/paths/grants'
import { type ClientApplication, photoPrint } from '../support/flows/clients'
import { deviceCode, deviceSecret } from '../support/flows/device-stage'
import { authorizationRequest, redemption } from '../support/flows/flow'
import { alice, identityKeys } from '../support/flows/identity-stage'
import { partOf } from '../support/flows/jwt-tokens'
import { Prover } from '../support/flows/prover'
import { codeOf } from '../support/flows/redirection'
import { describeRegistration, type SetRegisteringStage } from '../support/flows/registering'
import { anyOwner, exchangeOf, service } from '../support/flows/token-exchange'

const issuer = 'http://localhost'
const scope = 'openid photos:read'

/** Every plug-in that meets the others in a token: OpenID Connect, JWTs, DPoP, pushed requests, devices and exchange. */
function everythingOn(): Partial<AuthorizationServerOptions> {
  const keys = identityKeys()
  return {
    clients: [service.registration, photoPrint.registration],
    scopes: {
      openid: 'Know who you are',
      'photos:read': 'See your photos',
      'photos:print': 'Print your photos',
      'reports:write': 'Write reports',
    },
    resources: { 'http://localhost/photos': { scopes: ['photos:read', 'photos:print', 'reports:write'] } },
    defaultResource: 'http://localhost/photos',
    plugins: [
      tokenExchange({ policy: anyOwner }),
      keys,
      openIdConnect({ keys, claims: async () => alice }),
      jwtAccessTokens({ keys }),
      dpop({ baseUrl: issuer }),
      pushedAuthorizationRequests(),
      deviceAuthorization({ secret: deviceSecret }),
    ],
  }
}

const metadata = {
  client_name: 'Notes',
  redirect_uris: ['https://notes.example/callback'],
  grant_types: ['authorization_code', 'refresh_token', deviceCode],
  token_endpoint_auth_method: 'none',
  scope,
  dpop_bound_access_tokens: true,
  require_pushed_authorization_requests: true,
}

/** A server with everything on, and an app that has registered itself there and has a key. */
async function registered(stage: SetRegisteringStage) {
  const grantTypes = ['authorization_code', 'refresh_token', deviceCode]
  const staged = stage({ grantTypes }, everythingOn())
  const { status, body } = await staged.register(metadata)
  expect([status, body]).toMatchObject([201, metadata])
  const { client_id, redirect_uris } = body
  const app: ClientApplication = {
    registration: { ...photoPrint.registration, client_id, redirect_uris, scope },
  }
  return { ...staged, app, key: new Prover(staged.clock.read), thief: new Prover(staged.clock.read) }
}

/** The app pushes its request with a proof, its owner approves, and it redeems the code with its key. */
async function loggedIn({ flow, app, key }: Awaited<ReturnType<typeof registered>>) {
  const { client_id } = app.registration
  const pushed = await key.tokens(flow, authorizationRequest(app), app, '/par')
  expect(pushed.status).toBe(201)
  const page = await flow.ask({ client_id, request_uri: pushed.body.request_uri }, 'alice')
  const code = codeOf(await flow.decide(page, 'approve', 'alice'))
  return { code, tokens: await key.tokens(flow, redemption(app, code), app) }
}

describeRegistration('With everything on, a client that registered itself', (stage) => {
  test('must push its requests, and gets an ID token and a JWT that are bound to its key', async () => {
    const staged = await registered(stage)
    const { flow, app, key, thief } = staged
    const unpushed = await flow.ask(authorizationRequest(app), 'alice')
    expect([unpushed.status, unpushed.get('Location')]).toEqual([400, undefined])
    const { tokens } = await loggedIn(staged)
    expect(tokens.body.token_type).toBe('DPoP')
    expect(partOf(tokens.body.access_token, 1)).toMatchObject({
      aud: ['http://localhost/photos', 'http://localhost/userinfo'],
      cnf: { jkt: key.thumbprint },
    })
    expect(partOf(tokens.body.id_token, 1)).toMatchObject({ sub: 'alice', aud: app.registration.client_id })
    expect((await key.call(flow, tokens.body.access_token)).status).toBe(200)
    expect((await thief.call(flow, tokens.body.access_token)).status).toBe(401)
    expect((await flow.photos(tokens.body.access_token)).status).toBe(401)
    const refresh = { grant_type: 'refresh_token', refresh_token: tokens.body.refresh_token }
    expect((await thief.tokens(flow, refresh, app)).body.error).toBe('invalid_grant')
    expect((await key.tokens(flow, refresh, app)).body).toMatchObject({ token_type: 'DPoP', scope })
  })

  test('has a token that its key alone can use: nobody exchanges it, where a plain one becomes bound', async () => {
    const staged = await registered(stage)
    const { flow, clock } = staged
    const { tokens } = await loggedIn(staged)
    const own = new Prover(clock.read)
    const exchanged = async (token: string) =>
      (await own.tokens(flow, exchangeOf(token, { scope: 'photos:read' }), service)).body
    expect(await exchanged(tokens.body.access_token)).toMatchObject({ error: 'invalid_request' })
    const redeemed = await flow.redeem(photoPrint, await flow.approve(photoPrint))
    const plain = redeemed.body.access_token
    const { access_token, token_type } = await exchanged(plain)
    expect([token_type, partOf(access_token, 1)]).toMatchObject([
      'DPoP',
      { sub: 'alice', cnf: { jkt: own.thumbprint } },
    ])
    expect((await own.call(flow, access_token)).status).toBe(200)
    expect((await flow.photos(access_token)).status).toBe(401)
    await flow.revoke(photoPrint, plain)
    expect(await exchanged(plain)).toMatchObject({ error: 'invalid_request' })
  })
})
