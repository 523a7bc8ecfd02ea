import express from 'express'
import session from 'express-session'
import { exportJWK, generateKeyPair } from 'jose'
import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { Passport } from 'passport'
import OAuth2Strategy from 'passport-oauth2'
import { AuthorizationCode, ClientCredentials, ResourceOwnerPassword } from 'simple-oauth2'
import request from 'supertest'
import type { ClientRegistration } from '../../../lib/index'
import { formPost, pushedAuthorizationRequests, requestObjects } from '../../../lib/paths/pushed-requests'
import { password, tokenExchange } from '../../../lib/paths/grants'
import { foreignStage } from '../../support/clients/foreign-stage'
import { discovered, insecure, Party } from '../../support/clients/oauth4webapi'
import { bent, photoBook, photoPrint } from '../../support/flows/clients'
import { PasswordCheck, wonderland } from '../../support/flows/password'
import { postedFormOf } from '../../support/flows/posted-form'
import {
  accessTokenType,
  actingAs,
  anyOwner,
  service,
  tokenExchangeName,
} from '../../support/flows/token-exchange'

const print = bent(photoPrint, { grant_types: ['authorization_code', 'refresh_token', 'password'] })
const secret = photoPrint.secret
const ofService = service.secret ?? ''
const keys = generateKeyPair('ES256', { extractable: true })
const album = { ...photoBook.registration, client_id: 'album', require_signed_request_object: true }

const stage = foreignStage(async () => ({
  clients: [
    ...[print, photoBook, service].map(({ registration }) => registration),
    { ...album, jwks: { keys: [Object({ ...(await exportJWK((await keys).publicKey)), kid: 'a' })] } },
  ],
  plugins: [
    password({ verify: new PasswordCheck().verify }),
    tokenExchange({ policy: anyOwner, tokenTypes: {} }),
    pushedAuthorizationRequests(),
    requestObjects(),
    formPost(),
  ],
}))

const uriOf = ({ registration }: { readonly registration: ClientRegistration }) =>
  registration.redirect_uris?.[0] ?? ''
const idOf = ({ registration }: { readonly registration: ClientRegistration }) => registration.client_id

/** The status with which the route of the host answers this token. */
const photos = async (token: unknown) => (await stage().flow.photos(String(token))).status

const byCode = [
  ['Basic', print, oauth.ClientSecretBasic(secret), openid.ClientSecretBasic(secret)],
  ['body parameters', print, oauth.ClientSecretPost(secret), openid.ClientSecretPost(secret)],
  ['no authentication, as a public client', photoBook, oauth.None(), openid.None()],
] as const

describe('oauth4webapi', () => {
  const partyOf = async (client: { readonly registration: ClientRegistration }, how?: oauth.ClientAuth) =>
    new Party(await discovered(stage().issuer), idOf(client), how)

  test.each(byCode)(
    'completes code, guarded call and refresh with %s',
    async (_how, client, authentication) => {
      const party = await partyOf(client, authentication)
      const state = oauth.generateRandomState()
      const { url, verifier } = await party.request(uriOf(client), { state })
      const answer = oauth.validateAuthResponse(party.server, party.client, await stage().answer(url), state)
      const tokens = await party.redeem(answer, uriOf(client), verifier)
      expect(tokens).toMatchObject({ token_type: 'bearer', scope: 'photos:read', expires_in: 3600 })
      expect(await photos(tokens.access_token)).toBe(200)
      expect(await photos((await party.refresh(tokens.refresh_token)).access_token)).toBe(200)
    },
  )

  test('completes client credentials, asks about tokens and revokes them', async () => {
    const party = await partyOf(service, oauth.ClientSecretBasic(ofService))
    const tokens = await party.enter()
    expect(tokens.refresh_token).toBeUndefined()
    expect(await photos(tokens.access_token)).toBe(200)
    const { client_id } = party.client
    expect(await party.introspect(tokens.access_token)).toMatchObject({
      active: true,
      iss: stage().issuer,
      client_id,
    })
    await party.revoke(tokens.access_token)
    expect(await party.introspect(tokens.access_token)).toEqual({ active: false })
  })

  test('reads a denial and the challenge of a guard', async () => {
    const party = await partyOf(photoBook)
    const { url } = await party.request(uriOf(photoBook), { state: 's' })
    const answer = await stage().answer(url, 'deny')
    expect(() => oauth.validateAuthResponse(party.server, party.client, answer, 's')).toThrow(
      expect.objectContaining({ error: 'access_denied' }),
    )
    const guarded = new URL('/photos', stage().issuer)
    const refused = oauth.protectedResourceRequest('at_wrong', 'GET', guarded, undefined, undefined, insecure)
    await expect(refused).rejects.toMatchObject({
      cause: [{ scheme: 'bearer', parameters: { error: 'invalid_token', scope: 'photos:read' } }],
    })
  })

  test.each(byCode.slice(1))(
    'pushes its request with %s, and reads a refusal',
    async (_how, client, authentication) => {
      const party = await partyOf(client, authentication)
      const { parameters, verifier } = await party.request(uriOf(client))
      const wrong = new URLSearchParams({ ...Object.fromEntries(parameters), scope: 'reports:write' })
      await expect(party.push(wrong)).rejects.toMatchObject({ error: 'invalid_scope', status: 400 })
      const { request_uri, expires_in } = await party.push(parameters)
      expect(expires_in).toBe(60)
      const url = party.at(new URLSearchParams({ client_id: idOf(client), request_uri }))
      const answer = oauth.validateAuthResponse(
        party.server,
        party.client,
        await stage().answer(url),
        oauth.expectNoState,
      )
      expect(await party.redeem(answer, uriOf(client), verifier)).toMatchObject({ scope: 'photos:read' })
    },
  )

  test.each(['approve', 'deny'])(
    'signs a request, and reads the response in a form (%s)',
    async (decision) => {
      const party = await partyOf({ registration: album })
      expect(party.server).toMatchObject({
        request_parameter_supported: true,
        request_object_signing_alg_values_supported: expect.arrayContaining(['ES256']),
        require_signed_request_object: false,
        response_modes_supported: ['query', 'fragment', 'form_post'],
      })
      const { parameters, verifier } = await party.request(uriOf(photoBook), {
        response_mode: 'form_post',
        state: 's',
      })
      const key = { key: (await keys).privateKey, kid: 'a' }
      const object = await oauth.issueRequestObject(party.server, party.client, parameters, key)
      const { flow } = stage()
      const page = await flow.ask({ ...party.client, request: object }, 'alice')
      const { fields } = postedFormOf(await flow.decide(page, decision, 'alice'))
      const finish = async () => {
        const answer = oauth.validateAuthResponse(
          party.server,
          party.client,
          new URLSearchParams(fields),
          's',
        )
        return (await party.redeem(answer, uriOf(photoBook), verifier)).scope
      }
      const outcome = await finish().catch((error: unknown) => Object(error).error)
      expect(outcome).toBe(decision === 'approve' ? 'photos:read' : 'access_denied')
    },
  )

  test('completes a token exchange for several targets, and reads a refusal', async () => {
    const { flow } = stage()
    const { accessToken } = await flow.tokens(photoBook)
    const parameters = new URLSearchParams({
      subject_token: accessToken,
      subject_token_type: accessTokenType,
      ...(await actingAs(flow)),
    })
    for (const resource of ['https://a.example/', 'https://b.example/'])
      parameters.append('resource', resource)
    const party = await partyOf(service, oauth.ClientSecretBasic(ofService))
    const tokens = await party.grant(tokenExchangeName, parameters)
    expect(tokens).toMatchObject({
      token_type: 'bearer',
      issued_token_type: accessTokenType,
      scope: 'photos:read',
    })
    expect(await photos(tokens.access_token)).toBe(200)
    parameters.append('resource', 'relative')
    await expect(party.grant(tokenExchangeName, parameters)).rejects.toMatchObject({
      error: 'invalid_target',
      status: 400,
    })
  })
})

describe('openid-client', () => {
  const configured = (
    client: { readonly registration: ClientRegistration },
    authentication: openid.ClientAuth,
  ) =>
    openid.discovery(new URL(stage().issuer), idOf(client), undefined, authentication, {
      algorithm: 'oauth2',
      execute: [openid.allowInsecureRequests],
    })
  const checked = async (redirect_uri: string) => {
    const pkceCodeVerifier = openid.randomPKCECodeVerifier()
    const expectedState = openid.randomState()
    const asked = {
      redirect_uri,
      scope: 'photos:read',
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      state: expectedState,
    }
    return { asked, checks: { pkceCodeVerifier, expectedState } }
  }

  test.each(byCode)(
    'completes code, guarded call and refresh with %s, and revokes',
    async (_how, client, _ofTheOther, authentication) => {
      const config = await configured(client, authentication)
      expect(config.serverMetadata().supportsPKCE()).toBe(true)
      const { asked, checks } = await checked(uriOf(client))
      const answer = await stage().answer(openid.buildAuthorizationUrl(config, asked))
      const tokens = await openid.authorizationCodeGrant(config, answer, checks)
      expect(tokens.scope).toBe('photos:read')
      expect(await photos(tokens.access_token)).toBe(200)
      const refreshed = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '')
      expect(await photos(refreshed.access_token)).toBe(200)
      const resourceServer = await configured(service, openid.ClientSecretPost(ofService))
      const introspect = () => openid.tokenIntrospection(resourceServer, refreshed.access_token)
      expect(await introspect()).toMatchObject({ active: true, iss: stage().issuer, sub: 'alice' })
      await openid.tokenRevocation(config, refreshed.refresh_token ?? '')
      expect(await introspect()).toEqual({ active: false })
    },
  )

  test('completes client credentials, and reads why a code was refused', async () => {
    const config = await configured(service, openid.ClientSecretBasic(ofService))
    expect(
      await photos((await openid.clientCredentialsGrant(config, { scope: 'photos:read' })).access_token),
    ).toBe(200)
    const answer = new URL(`${uriOf(print)}?code=ac_wrong&iss=${encodeURIComponent(stage().issuer)}`)
    const asPrint = await configured(print, openid.ClientSecretBasic(secret))
    await expect(openid.authorizationCodeGrant(asPrint, answer)).rejects.toMatchObject({
      error: 'invalid_grant',
      status: 400,
    })
  })

  test('pushes its request, and completes the code flow', async () => {
    const config = await configured(print, openid.ClientSecretBasic(secret))
    const { asked, checks } = await checked(uriOf(print))
    const url = await openid.buildAuthorizationUrlWithPAR(config, asked)
    expect([...url.searchParams.keys()].toSorted()).toEqual(['client_id', 'request_uri'])
    const tokens = await openid.authorizationCodeGrant(config, await stage().answer(url), checks)
    expect(tokens).toMatchObject({ token_type: 'bearer', scope: 'photos:read' })
  })
})

describe('passport-oauth2', () => {
  // As its own documentation has it, PKCE included.
  function visit(client: { readonly registration: ClientRegistration }, clientSecret: string, query = '') {
    const passport = new Passport()
    const options = {
      authorizationURL: `${stage().issuer}/authorize${query}`,
      tokenURL: `${stage().issuer}/token`,
      clientID: idOf(client),
      clientSecret,
      callbackURL: uriOf(client),
      scope: 'photos:read',
      state: true,
      pkce: true,
    }
    const verify = (
      accessToken: string,
      refreshToken: string,
      _profile: unknown,
      done: OAuth2Strategy.VerifyCallback,
    ) => done(null, { accessToken, refreshToken })
    passport.use('example', new OAuth2Strategy(options, verify))
    const authenticate = passport.authenticate('example', { session: false })
    const app = express()
    app.use(session({ secret: 'test', resave: false, saveUninitialized: false }))
    app.get('/login', authenticate)
    app.all(
      '/callback',
      express.urlencoded({ extended: false }),
      authenticate,
      (req, res) => void res.json(req.user),
    )
    return request.agent(app)
  }
  const startOf = async (browser: ReturnType<typeof visit>) =>
    String((await browser.get('/login').expect(302)).get('Location'))

  test.each([
    ['a confidential client', print, secret],
    ['a public client with PKCE', photoBook, ''],
  ])('logs its user in as %s', async (_name, client, clientSecret) => {
    const browser = visit(client, clientSecret)
    const { search } = await stage().answer(await startOf(browser))
    const { body } = await browser.get(`/callback${search}`).expect(200)
    expect(await photos(body.accessToken)).toBe(200)
    expect(body.refreshToken).toMatch(/^rt_/)
  })

  test('fails, and does not break, when the owner says no', async () => {
    const browser = visit(print, secret)
    const { search } = await stage().answer(await startOf(browser), 'deny')
    expect((await browser.get(`/callback${search}`)).status).toBe(401)
  })

  test('takes the response in a form', async () => {
    const browser = visit(photoBook, '', '?response_mode=form_post')
    const { flow } = stage()
    const page = await flow.open(`/authorize${new URL(await startOf(browser)).search}`, 'alice')
    const { fields } = postedFormOf(await flow.decide(page, 'approve', 'alice'))
    const { body } = await browser.post('/callback').type('form').send(fields)
    expect(body).toMatchObject({ accessToken: expect.stringMatching(/^at_/) })
  })
})

describe('simple-oauth2', () => {
  const auth = () => ({ tokenHost: stage().issuer, tokenPath: '/token', authorizePath: '/authorize' })
  const ofPrint = { id: idOf(print), secret }

  test.each(['header', 'body'] as const)(
    'completes code, guarded call and refresh with the secret in the %s',
    async (authorizationMethod) => {
      const options = { authorizationMethod }
      const client = new AuthorizationCode({ client: ofPrint, auth: auth(), options })
      const [redirect_uri, scope] = [uriOf(print), 'photos:read photos:print']
      const { searchParams } = await stage().answer(
        client.authorizeURL({ redirect_uri, scope, state: 'a state' }),
      )
      expect(searchParams.get('state')).toBe('a state')
      const access = await client.getToken({ code: searchParams.get('code') ?? '', redirect_uri, scope })
      expect(access.expired()).toBe(false)
      expect(await photos(access.token['access_token'])).toBe(200)
      const refreshed = await access.refresh({ scope: 'photos:read' })
      expect(refreshed.token['scope']).toBe('photos:read')
      expect(await photos(refreshed.token['access_token'])).toBe(200)
    },
  )

  test('completes client credentials', async () => {
    const { tokenHost, tokenPath } = auth()
    const client = new ClientCredentials({
      client: { id: idOf(service), secret: ofService },
      auth: { tokenHost, tokenPath },
    })
    expect(await photos((await client.getToken({ scope: 'photos:read' })).token['access_token'])).toBe(200)
  })

  test.each(['header', 'body'] as const)(
    'completes the password grant with the secret in the %s, and gets the error of a wrong password',
    async (authorizationMethod) => {
      const { tokenHost, tokenPath } = auth()
      const options = { authorizationMethod }
      const client = new ResourceOwnerPassword({ client: ofPrint, auth: { tokenHost, tokenPath }, options })
      const access = await client.getToken({ ...wonderland, scope: 'photos:read' })
      expect(await photos(access.token['access_token'])).toBe(200)
      expect(await photos((await access.refresh()).token['access_token'])).toBe(200)
      const wrong = client.getToken({ ...wonderland, password: 'guess', scope: 'photos:read' })
      await expect(wrong).rejects.toMatchObject({ data: { payload: { error: 'invalid_grant' } } })
    },
  )
})
