import { openIdConnect } from '../../lib/paths/openid-connect'
import { signingKeys, jwtAccessTokens } from '../../lib/paths/jwt'
import { metadataDocuments } from '../../lib/paths/registration'
import { tokenExchange } from '../../lib/paths/grants'
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
import { asked, issuer, logIn, userInfo } from '../support/flows/relying-party'
import { describeOnStores, type Stage } from '../support/flows/stores-of-run'
import { refusalOf } from '../support/flows/tokens'
import { bent } from '../support/flows/clients'
import { DocumentOrigin } from '../support/flows/document-origin'
import { loginOf } from '../support/flows/login-stage'
import { getTokens } from '../support/flows/registered-client'
import { describeRegistration, notesApp } from '../support/flows/registering'
import { anyOwner, exchangeOf, tokenExchangeName } from '../support/flows/token-exchange'

describeOnStores('The UserInfo endpoint', (stage) => {
  const open = identityStage(stage)

  test('takes tokens of requests that name no resource, and none for other resources', async () => {
    const api = 'https://api.example/photos'
    const other = 'https://api.example/other'
    const keys = identityKeys()
    const set = open({
      resources: { [api]: { scopes: ['photos:read'] }, [other]: { scopes: ['photos:read'] } },
      defaultResource: api,
      plugins: [
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

  test('takes an id_token_hint for 30 days, also if its key has a successor', async () => {
    const keys = signingKeys({ secrets: [keySecret], algorithms: ['RS256'] })
    const set = open({ plugins: [keys, openIdConnect({ keys })] })
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
    const set = open({ plugins: [keys, openIdConnect({ keys })] })
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
})

describe('The options', () => {
  const keys = identityKeys()

  test.each<[string, () => unknown, RegExp]>([
    [
      'no scope openid',
      () => application({ plugins: [keys, openIdConnect({ keys })] }),
      /plugins\[1\] cannot be opened: needs the scope openid/,
    ],
    [
      'an algorithm without a key',
      () => application(withIdentity({ plugins: [keys, openIdConnect({ keys, algorithm: 'EdDSA' })] })),
      /needs keys for EdDSA and RS256, .* but its keys have RS256, ES256/,
    ],
    [
      'no key for RS256, which Discovery demands',
      () => {
        const modern = signingKeys({ secrets: [keySecret], algorithms: ['ES256'] })
        return application(
          withIdentity({ plugins: [modern, openIdConnect({ keys: modern, algorithm: 'ES256' })] }),
        )
      },
      /needs keys for ES256 and RS256, because/,
    ],
    [
      'everything wrong',
      () =>
        Reflect.apply(openIdConnect, undefined, [
          {
            claims: 1,
            idTokenLifetime: 5,
            pairwise: { secret: 'x'.repeat(31) },
            claimsParameter: 'no',
            userInfoPath: 'x',
            algorithm: 'none',
            y: 1,
          },
        ]),
      /keys is missing: it must be signingKeys.*claims must be a function.*algorithm must be one of.*pairwise.secret must be a text of at least 32 bytes.*idTokenLifetime must be whole seconds.*claimsParameter must be.*userInfoPath must be.*y is not known/s,
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

describe('Pairwise subjects', () => {
  const pairwise = { secret: 'a secret that stays as long as the accounts' }
  const scope = 'openid photos:read'
  const api = 'https://api.example/photos'
  const resources = { [api]: { scopes: ['photos:read', 'openid'] } }

  const pairwiseClient = (client_id: string, ...redirect_uris: readonly string[]) =>
    bent(relyingParty, { client_id, redirect_uris, subject_type: 'pairwise' })
  const shop = pairwiseClient('shop', 'https://shop.example/callback')
  const till = pairwiseClient('till', 'https://shop.example:8443/till')
  const bank = pairwiseClient('bank', 'https://bank.example/callback')
  const sister = bent(
    pairwiseClient('sister', 'https://one.example/callback', 'https://two.example/callback'),
    {
      sector_identifier_uri: 'https://bank.example/sector.json',
    },
  )
  const everyone = [relyingParty, shop, till, bank, sister, introspector]

  const withPairwise = (bend: Parameters<typeof withIdentity>[0] = {}) =>
    withIdentity({ clients: everyone.map(({ registration }) => registration), ...bend }, { pairwise })

  async function logInAt({ flow }: Pick<Stage, 'flow'>, client: typeof shop, owner = 'alice') {
    const redirect_uri = client.registration.redirect_uris?.[0]
    const code = await flow.approve(client, { scope, redirect_uri }, owner)
    const { body } = await flow.redeem(client, code, { redirect_uri })
    return { ...body, sub: claimsIn(body.id_token)['sub'] }
  }

  const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })

  describeOnStores('A client with pairwise subjects', (stage) => {
    test('gets one sub for each owner, which clients of its sector share, and others do not [OpenID Connect Core 8.1]', async () => {
      const set = stage(withPairwise())
      const subs = new Map<string, unknown>()
      for (const client of [shop, till, bank, sister, relyingParty])
        subs.set(client.registration.client_id, (await logInAt(set, client)).sub)
      expect(subs.get('relying-party')).toBe('alice')
      expect(subs.get('shop')).toMatch(/^[\w-]{43}$/)
      expect(subs.get('till')).toBe(subs.get('shop'))
      expect(subs.get('sister')).toBe(subs.get('bank'))
      expect(subs.get('bank')).not.toBe(subs.get('shop'))
      expect((await logInAt(set, shop)).sub).toBe(subs.get('shop'))
      expect((await logInAt(set, shop, 'bob')).sub).not.toBe(subs.get('shop'))
      const { body } = await set.flow.open('/.well-known/openid-configuration')
      expect(body.subject_types_supported).toEqual(['public', 'pairwise'])
    })

    test('gets the same sub of another process, and another one with another secret', async () => {
      const { sub } = await logInAt(stage(withPairwise()), shop)
      expect((await logInAt(stage(withPairwise()), shop)).sub).toBe(sub)
      const clients = [shop.registration]
      const changed = withIdentity({ clients }, { pairwise: { secret: 'x'.repeat(32) } })
      expect((await logInAt(stage(changed), shop)).sub).not.toBe(sub)
    })

    test('finds it after a refresh, at UserInfo and at introspection; guards and the host know their own', async () => {
      const heard: string[] = []
      const keys = identityKeys()
      const claims = (subject: string) => {
        heard.push(subject)
        return { name: 'Alice', sub: 'alice' }
      }
      const set = stage(withPairwise({ plugins: [keys, openIdConnect({ keys, claims, pairwise })] }))
      const { sub, refresh_token } = await logInAt(set, shop)
      const { body } = await set.flow.refresh(shop, refresh_token)
      expect(claimsIn(body.id_token)['sub']).toBe(sub)
      const answer = await set.flow.open('/userinfo', undefined, bearer(body.access_token))
      expect(answer.body).toEqual({ sub })
      expect(heard).toEqual(['alice'])
      const described = await set.flow.introspect(introspector, body.access_token)
      expect(described.body).toMatchObject({ active: true, sub, client_id: 'shop' })
      const own = await set.flow.introspect(introspector, (await logInAt(set, relyingParty)).access_token)
      expect(own.body).toMatchObject({ sub: 'alice' })
      expect((await set.flow.photos(body.access_token)).body).toMatchObject({ subject: 'alice' })
      await set.flow.revoke(shop, body.refresh_token)
      expect((await set.flow.introspect(introspector, body.access_token)).body).toEqual({ active: false })
    })

    test('that is gone leaves no trace of the own subject', async () => {
      const clients = everyone.map(({ registration }) => registration)
      const set = stage(withPairwise({ clients }))
      const { access_token } = await logInAt(set, shop)
      clients.splice(clients.indexOf(shop.registration), 1)
      expect((await set.flow.introspect(introspector, access_token)).body).toEqual({ active: false })
      expect((await set.flow.open('/userinfo', undefined, bearer(access_token))).status).toBe(401)
    })

    test('names the owner by a hint with the pairwise sub, at the login and at the logout', async () => {
      const leaving = bent(shop, { post_logout_redirect_uris: ['https://shop.example/bye'] })
      const logOut = async () => {}
      const set = stage(withPairwise({ clients: [leaving.registration, relyingParty.registration], logOut }))
      const { id_token } = await logInAt(set, leaving)
      const hinted = { ...authorizationRequest(leaving), scope, id_token_hint: id_token }
      expect(outcomeOf(await set.flow.ask(hinted, 'alice'))).toBe('question')
      loginOf(await set.flow.ask(hinted, 'bob'))
      const post_logout_redirect_uri = 'https://shop.example/bye'
      const query = new URLSearchParams({ id_token_hint: id_token, post_logout_redirect_uri })
      expect((await set.flow.open(`/logout?${query.toString()}`, 'alice')).status).toBe(200)
    })
  })

  describeOnStores('A JWT access token of a client with pairwise subjects', (stage) => {
    const exchanging = bent(introspector, { grant_types: [tokenExchangeName] })
    const open = () => {
      const keys = identityKeys()
      const seen: unknown[] = []
      const claims = (...words: readonly unknown[]) => {
        seen.push(words)
        return undefined
      }
      const set = stage(
        withPairwise({
          clients: [shop, exchanging].map(({ registration }) => registration),
          resources,
          defaultResource: api,
          plugins: [
            tokenExchange({ policy: anyOwner }),
            keys,
            jwtAccessTokens({ keys, algorithm: 'ES256', claims }),
            openIdConnect({ keys, pairwise }),
          ],
        }),
      )
      return { ...set, seen, keys }
    }

    test('says the pairwise sub; the host and guards on the store know their own', async () => {
      const set = open()
      const { access_token, sub } = await logInAt(set, shop)
      expect(claimsIn(access_token)['sub']).toBe(sub)
      expect(sub).not.toBe('alice')
      expect(set.seen).toEqual([[expect.anything(), expect.objectContaining({ subject: 'alice' })]])
      expect((await set.flow.photos(access_token)).body).toMatchObject({ subject: 'alice' })
      expect((await set.flow.introspect(exchanging, access_token)).body).toMatchObject({ active: true, sub })
      expect((await set.flow.open('/userinfo', undefined, bearer(access_token))).body).toEqual({ sub })
    })

    test('is revoked and exchanged as any other token', async () => {
      const set = open()
      const { access_token } = await logInAt(set, shop)
      const exchanged = await set.flow.request(exchanging, exchangeOf(access_token))
      expect(exchanged.status).toBe(200)
      const token = exchanged.body.access_token
      // The client of the new token has public subjects.
      expect(claimsIn(token)['sub']).toBe('alice')
      await set.flow.revoke(shop, access_token)
      expect((await set.flow.photos(access_token)).status).toBe(401)
    })
  })

  describeRegistration('A client that registers itself with pairwise subjects', (stage) => {
    test('gets the sub of its sector', async () => {
      const set = stage({}, withPairwise())
      const client = await set.register({ ...notesApp, scope: 'photos:read', subject_type: 'pairwise' })
      const { body } = await getTokens(set, client)
      const described = await set.flow.introspect(introspector, body.access_token)
      const sub = String(described.body.sub)
      expect(sub).toMatch(/^[\w-]{43}$/)
      const neighbour = await set.register({
        ...notesApp,
        client_name: 'Neighbour',
        redirect_uris: ['https://notes.example/other'],
        subject_type: 'pairwise',
      })
      const other = await getTokens(set, neighbour)
      expect((await set.flow.introspect(introspector, other.body.access_token)).body.sub).toBe(sub)
    })
  })

  describeOnStores('The client of a metadata document with pairwise subjects', (stage) => {
    let origin: DocumentOrigin
    beforeEach(async () => {
      origin = await DocumentOrigin.start()
    })
    afterEach(() => origin.stop())

    test('has the host of the document as its sector', async () => {
      const neighbour = pairwiseClient('neighbour', 'https://notes.example/login')
      const registered = [neighbour, introspector].map(({ registration }) => registration)
      const set = stage(withPairwise({ clients: metadataDocuments({ ...origin.reach, registered }) }))
      origin.members = { subject_type: 'pairwise' }
      const { accessToken } = await set.flow.tokens(origin.client)
      const described = await set.flow.introspect(introspector, accessToken)
      expect(described.body).toMatchObject({ active: true, sub: (await logInAt(set, neighbour)).sub })
    })
  })
})
