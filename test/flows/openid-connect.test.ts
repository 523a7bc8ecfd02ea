import { generateKeyPair } from 'jose'
import supertest from 'supertest'
import { openIdConnect, signingKeys, jwtAccessTokens } from '../../lib/index'
import { application } from '../support/flows/application'
import { authorizationRequest } from '../support/flows/flow'
import {
  claimsIn,
  identityKeys,
  identityStage,
  introspector,
  relyingParty,
  withIdentity,
} from '../support/flows/identity-stage'
import { keySecret } from '../support/flows/jwt-tokens'
import { outcomeOf } from '../support/flows/outcome'
import { codeOf } from '../support/flows/redirection'
import { asked, issuer, logIn, userInfo } from '../support/flows/relying-party'
import { describeOnStores, type Stage } from '../support/flows/stores-of-run'
import { refusalOf } from '../support/flows/tokens'

describeOnStores('An ID token', (stage) => {
  test('that cannot be signed spends nothing', async () => {
    const { publicKey } = await generateKeyPair('RS256', { extractable: true })
    const jwk = await import('jose').then((jose) => jose.exportJWK(publicKey))
    const keys = signingKeys({
      keys: [{ publicKey: jwk, algorithm: 'RS256', sign: () => Promise.reject(new Error('Away.')) }],
    })
    const set = stage(withIdentity({ plugIns: [keys, openIdConnect({ keys })] }))
    const code = await set.flow.approve(relyingParty, asked)
    for (const attempt of [1, 2])
      expect([attempt, refusalOf(await set.flow.redeem(relyingParty, code))]).toEqual([
        attempt,
        '400 temporarily_unavailable',
      ])
  })
})

describeOnStores('The UserInfo endpoint', (stage) => {
  const open = identityStage(stage)

  test('answers a POST without a body, as openid-client sends it', async () => {
    const set = open()
    const { accessToken } = await logIn(set, { scope: 'openid' })
    const asking = supertest(set.app).post('/userinfo').set('Authorization', `Bearer ${accessToken}`)
    expect((await asking).body).toEqual({ sub: 'alice' })
  })

  test('knows no owner who is gone, and no client that acts for itself', async () => {
    const set = open()
    const code = await set.flow.approve(relyingParty, asked, 'nobody')
    const { body } = await set.flow.redeem(relyingParty, code)
    expect((await userInfo(set, body.access_token)).status).toBe(401)
    const job = await set.flow.request(introspector, {
      grant_type: 'client_credentials',
      scope: 'photos:read',
    })
    expect((await userInfo(set, job.body.access_token)).status).toBe(403)
  })

  test('takes tokens of requests that name no resource, and none for other resources', async () => {
    const api = 'https://api.example/photos'
    const other = 'https://api.example/other'
    const keys = identityKeys()
    const set = open({
      resources: { [api]: { scopes: ['photos:read'] }, [other]: { scopes: ['photos:read'] } },
      defaultResource: api,
      plugIns: [
        keys,
        jwtAccessTokens({ keys, algorithm: 'ES256' }),
        openIdConnect({ keys, claims: () => ({ name: 'Alice' }) }),
      ],
    })
    set.app.get('/api', set.oauth.bearerGuard('photos:read'), (_request, response) => void response.end())
    const scope = 'openid profile photos:read'
    const usual = await logIn(set, { scope })
    expect(claimsIn(usual.accessToken)['aud']).toEqual([api, `${issuer}/userinfo`])
    expect((await userInfo(set, usual.accessToken)).body).toEqual({ sub: 'alice', name: 'Alice' })
    const bearer = { Authorization: `Bearer ${usual.accessToken}` }
    expect((await set.flow.open('/api', undefined, bearer)).status).toBe(200)
    const named = await logIn(set, { scope, resource: other })
    expect(claimsIn(named.accessToken)['aud']).toBe(other)
    expect(claimsIn(named.idToken)['sub']).toBe('alice')
    expect((await userInfo(set, named.accessToken)).status).toBe(401)
    const plain = await logIn(set, { scope: 'photos:read' })
    expect(claimsIn(plain.accessToken)['aud']).toBe(api)
  })

  test.each<[string, { defaultResource?: string }]>([
    ['a default resource', { defaultResource: 'https://api.example/photos' }],
    ['several resources, and none by default', {}],
  ])('alone takes the token of a login, on a server with %s', async (_what, bend) => {
    const scopes = ['photos:read']
    const [api, other] = ['https://api.example/photos', 'https://api.example/other']
    const resources = { [api]: { scopes }, [other]: { scopes } }
    const set = stage(withIdentity({ resources, ...bend }), {
      mount: (app, oauth) => {
        app.use(oauth.router())
        app.get(
          '/api',
          oauth.bearerGuard({ optional: true, resource: api }),
          (_request, response) => void response.end(),
        )
      },
    })
    const request = { ...authorizationRequest(relyingParty), ...asked }
    expect((await set.flow.ask(request, 'alice')).text).not.toContain('Access to')
    const { accessToken, refreshToken } = await logIn(set)
    expect((await userInfo(set, accessToken)).body).toMatchObject({ sub: 'alice', name: 'Alice Adams' })
    const bearer = { Authorization: `Bearer ${accessToken}` }
    expect((await set.flow.open('/api', undefined, bearer)).status).toBe(401)
    const wider = await set.flow.refresh(relyingParty, refreshToken, { resource: api })
    expect(refusalOf(wider)).toBe('400 invalid_target')
  })

  test('is not all that a scope of an API asks for, although a login is asked for with it', async () => {
    const scopes = ['photos:read', 'profile']
    const set = open({ resources: { 'https://api.example/photos': { scopes } } })
    const request = { ...authorizationRequest(relyingParty), ...asked }
    expect((await set.flow.ask(request, 'alice')).text).toContain('https://api.example/photos')
  })
})

describeOnStores('An authorization request of OpenID Connect', (stage) => {
  const open = identityStage(stage)
  const ask = ({ flow }: Stage, bend: Record<string, string | undefined>, owner?: string) =>
    flow.ask({ ...authorizationRequest(relyingParty), ...asked, ...bend }, owner)

  test.each([
    { nonce: 'x'.repeat(1025) },
    { claims: 'no JSON' },
    { claims: '[]' },
    { claims: JSON.stringify({ userinfo: { x: 'y'.repeat(4096) } }) },
  ])('that is malformed is invalid_request [%#]', async (bend) => {
    const set = open({}, { claimsParameter: true })
    expect(outcomeOf(await ask(set, bend, 'alice'))).toBe('redirect invalid_request')
  })

  test('takes an id_token_hint for 30 days, also if its key has a successor', async () => {
    const keys = signingKeys({ secrets: [keySecret], algorithms: ['RS256'] })
    const set = open({ plugIns: [keys, openIdConnect({ keys })] })
    const { idToken } = await logIn(set)
    const day = 24 * 3600
    set.clock.advance(29 * day)
    expect(outcomeOf(await ask(set, { id_token_hint: idToken }, 'alice'))).toBe('question')
    set.clock.advance(61 * day)
    await logIn(set)
    const late = (await logIn(set)).idToken
    set.clock.advance(29 * day)
    await logIn(set)
    expect(outcomeOf(await ask(set, { id_token_hint: late }, 'alice'))).toBe('question')
  })

  test.each([
    // By the first one, a key would get its successor; by the second one, it would end.
    ['years ahead', ['2e9', '3e9', '4e9']],
    ['at the beginning of time', ['0']],
    ['at no time', ['1e999']],
  ])('with a forged id_token_hint that was issued %s moves no signing key', async (_when, issuedAt) => {
    const keys = signingKeys({ secrets: [keySecret], algorithms: ['RS256'] })
    const set = open({ plugIns: [keys, openIdConnect({ keys })] })
    const { idToken } = await logIn(set)
    const published = async () => (await set.flow.open('/.well-known/jwks.json')).body
    const before = await published()
    const [header = '', , signature = ''] = idToken.split('.')
    for (const iat of issuedAt) {
      const claims = `{"iss":"${issuer}","sub":"alice","aud":"relying-party","iat":${iat},"exp":9e15}`
      const id_token_hint = `${header}.${Buffer.from(claims).toString('base64url')}.${signature}`
      expect(outcomeOf(await ask(set, { id_token_hint }, 'alice'))).toBe('redirect invalid_request')
    }
    expect(await published()).toEqual(before)
    expect(outcomeOf(await ask(set, { id_token_hint: idToken }, 'alice'))).toBe('question')
  })

  test('by POST from another site goes on by GET, because the browser keeps its cookie back', async () => {
    const set = open()
    const fields = { ...authorizationRequest(relyingParty), ...asked }
    const crossSite = { 'Sec-Fetch-Site': 'cross-site' }
    const sent = await set.flow.submit('/authorize', fields, undefined, crossSite)
    expect(sent.status).toBe(303)
    const page = await set.flow.open(sent.get('Location') ?? '', 'alice')
    const code = codeOf(await set.flow.decide(page, 'approve', 'alice'))
    expect((await set.flow.redeem(relyingParty, code)).body).toHaveProperty('id_token')
    expect(outcomeOf(await set.flow.submit('/authorize', fields, 'alice'))).toBe('question')
  })
})

describe('The options', () => {
  const keys = identityKeys()

  test.each<[string, () => unknown, RegExp]>([
    [
      'no scope openid',
      () => application({ plugIns: [keys, openIdConnect({ keys })] }),
      /plugIns\[1\] cannot be opened: needs the scope openid/,
    ],
    [
      'an algorithm without a key',
      () => application(withIdentity({ plugIns: [keys, openIdConnect({ keys, algorithm: 'EdDSA' })] })),
      /needs keys for EdDSA and RS256, .* but its keys have RS256, ES256/,
    ],
    [
      'no key for RS256, which Discovery demands',
      () => {
        const modern = signingKeys({ secrets: [keySecret], algorithms: ['ES256'] })
        return application(
          withIdentity({ plugIns: [modern, openIdConnect({ keys: modern, algorithm: 'ES256' })] }),
        )
      },
      /needs keys for ES256 and RS256, because/,
    ],
    [
      'a short secret of pairwise subjects',
      () => openIdConnect({ keys, pairwise: { secret: 'x'.repeat(31) } }),
      /pairwise.secret must be a text of at least 32 bytes/,
    ],
    [
      'pairwise subjects without a secret',
      () => Reflect.apply(openIdConnect, undefined, [{ keys, pairwise: true }]),
      /pairwise must be an object/,
    ],
    [
      'no keys',
      () => Reflect.apply(openIdConnect, undefined, [{}]),
      /keys is missing: it must be signingKeys/,
    ],
    [
      'everything wrong',
      () =>
        Reflect.apply(openIdConnect, undefined, [
          {
            keys,
            claims: 1,
            idTokenLifetime: 5,
            claimsParameter: 'no',
            userInfoPath: 'x',
            algorithm: 'none',
            y: 1,
          },
        ]),
      /claims must be a function.*algorithm must be one of.*idTokenLifetime must be whole seconds.*claimsParameter must be.*userInfoPath must be.*y is not known/s,
    ],
  ])('with %s are refused at construction', (_what, construct, message) => {
    expect(construct).toThrow(message)
  })

  test('claims of the host that are no object of JSON fail the request', async () => {
    const claims = jest.fn()
    const { flow } = application(withIdentity({}, { claims }))
    const code = await flow.approve(relyingParty, asked)
    const { body } = await flow.redeem(relyingParty, code)
    for (const given of ['text', [], { name: () => 'Alice' }]) {
      claims.mockReturnValue(given)
      expect((await userInfo({ flow }, body.access_token)).status).toBe(500)
    }
  })
})
