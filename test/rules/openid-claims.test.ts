import request from 'supertest'
import { openIdConnect } from '../../lib/paths/openid-connect'
import {
  claimsIn,
  identityKeys,
  identityStage,
  introspector,
  relyingParty,
  withIdentity,
} from '../support/flows/identity-stage'
import { claimsRequest, logIn, loginRequest, userInfo } from '../support/flows/relying-party'
import { outcomeOf } from '../support/flows/outcome'
import { setStage } from '../support/flows/stage'

const open = identityStage(setStage)

/** Every claim of OpenID Connect Core 5.1, and some that no scope asks for. */
const everything = {
  name: 'Jane Doe',
  given_name: 'Jane',
  family_name: 'Doe',
  middle_name: 'Q',
  nickname: 'JD',
  preferred_username: 'j.doe',
  profile: 'https://example.com/jane',
  picture: 'https://example.com/jane.jpg',
  website: 'https://jane.example',
  gender: 'female',
  birthdate: '0000-10-31',
  zoneinfo: 'Europe/Paris',
  locale: 'en-US',
  updated_at: 1_700_000_000,
  email: 'jane@example.com',
  email_verified: false,
  address: { formatted: '1 Road\nTown', country: 'US' },
  phone_number: '+1 (604) 555-1234;ext=5678',
  phone_number_verified: true,
  shoe_size: 39,
  'family_name#ja-Kana-JP': 'ドウ',
}

const ofProfile = Object.keys(everything).slice(0, 14)

const knowing = (claims: object, more = {}) => open({}, { claims: () => claims, ...more })
const heardOf = async (set: ReturnType<typeof open>, bend: Parameters<typeof logIn>[1]) => {
  const { accessToken, idToken } = await logIn(set, bend)
  const { body } = await userInfo(set, accessToken)
  return { heard: Object.keys(body).toSorted(), body, idToken }
}

describe('The UserInfo endpoint', () => {
  test.each(['GET', 'POST'] as const)(
    '[OIC-37, OIC-38, OIC-39] tells by %s, as JSON, the sub of the ID token and the claims of the scope',
    async (method) => {
      const set = open()
      const { accessToken, idToken } = await logIn(set, { scope: 'openid email' })
      const response = await userInfo(set, accessToken, method)
      expect([response.status, response.get('Content-Type')]).toEqual([
        200,
        'application/json; charset=utf-8',
      ])
      expect(response.body).toEqual({
        sub: claimsIn(idToken)['sub'],
        email: 'alice@example.com',
        email_verified: true,
      })
    },
  )

  test('[OIC-38] tells the sub of the token, whatever the host says', async () => {
    const { body } = await heardOf(knowing({ sub: 'mallory', iss: 'x' }, { claimsParameter: true }), {
      ...claimsRequest({ userinfo: { sub: null } }),
    })
    expect(body).toEqual({ sub: 'alice' })
  })

  test('[OIC-37] takes the token in the header only', async () => {
    const set = open()
    const { accessToken: access_token } = await logIn(set)
    for (const response of [
      await set.flow.open(`/userinfo?access_token=${access_token}`),
      await set.flow.submit('/userinfo', { access_token }),
    ])
      expect(response.status).toBe(401)
  })

  test('[OIC-40] leaves out a claim without a value', async () => {
    const claims = { name: null, given_name: '', family_name: undefined, nickname: 'A', updated_at: 0 }
    const { body } = await heardOf(knowing({ ...claims, email_verified: false }), {})
    expect(body).toEqual({ sub: 'alice', nickname: 'A', updated_at: 0, email_verified: false })
  })

  test('[OIC-41] refuses as RFC 6750 says: with 401, 403 and 400, and a challenge', async () => {
    const set = open()
    const { accessToken } = await logIn(set)
    const plain = await logIn(set, { scope: 'profile' })
    const job = await set.flow.request(introspector, {
      grant_type: 'client_credentials',
      scope: 'photos:read',
    })
    const answers = [
      await set.flow.open('/userinfo'),
      await userInfo(set, 'x'),
      await userInfo(set, `at_${'A'.repeat(65)}`),
      await userInfo(set, plain.accessToken),
      await userInfo(set, job.body.access_token),
      await userInfo(set, `${accessToken} ${accessToken}`),
    ].map((response) => [response.status, /error="(\w+)"/.exec(response.get('WWW-Authenticate') ?? '')?.[1]])
    expect(answers).toEqual([
      [401, undefined],
      [401, 'invalid_token'],
      [401, 'invalid_token'],
      [403, 'insufficient_scope'],
      [403, 'insufficient_scope'],
      [400, 'invalid_request'],
    ])
    set.clock.advance(3600)
    expect((await userInfo(set, accessToken)).get('WWW-Authenticate')).toContain('error="invalid_token"')
  })

  test('[OIC-41] refuses the token of an owner who is gone, and a token that is revoked', async () => {
    const set = open()
    const gone = await logIn(set, {}, 'nobody')
    expect((await userInfo(set, gone.accessToken)).status).toBe(401)
    const { accessToken } = await logIn(set)
    expect((await userInfo(set, accessToken)).status).toBe(200)
    await set.flow.revoke(relyingParty, accessToken)
    expect((await userInfo(set, accessToken)).status).toBe(401)
  })

  test('[OIC-42] answers scripts of other origins, preflight included', async () => {
    const set = open()
    const { accessToken } = await logIn(set)
    const origin = 'https://app.example'
    const answer = await set.flow.open('/userinfo', undefined, {
      Origin: origin,
      Authorization: `Bearer ${accessToken}`,
    })
    expect(answer.get('Access-Control-Allow-Origin')).toBe('*')
    const preflight = await request(set.app)
      .options('/userinfo')
      .set({ Origin: origin, 'Access-Control-Request-Method': 'GET' })
      .set('Access-Control-Request-Headers', 'authorization')
    expect(preflight.get('Access-Control-Allow-Headers')).toMatch(/authorization/i)
  })
})

describe('The scope', () => {
  test.each([
    ['openid', []],
    ['openid profile', ofProfile],
    ['openid email', ['email', 'email_verified']],
    ['openid address', ['address']],
    ['openid phone', ['phone_number', 'phone_number_verified']],
    ['phone address openid', ['address', 'phone_number', 'phone_number_verified']],
  ])(
    '[OIC-43] %s asks for these claims of UserInfo, and puts none into the ID token',
    async (scope, names) => {
      const { heard, body, idToken } = await heardOf(knowing(everything), { scope })
      expect(heard).toEqual([...names, 'sub'].toSorted())
      expect(body).toEqual({
        sub: 'alice',
        ...Object.fromEntries(Object.entries(everything).filter(([name]) => heard.includes(name))),
      })
      for (const name of names) expect(claimsIn(idToken)).not.toHaveProperty(name)
    },
  )

  test('[OIC-43] the host hears which claims a client asks for, and the scope', async () => {
    const claims = jest.fn(() => everything)
    await heardOf(open({}, { claims }), { scope: 'openid phone' })
    expect(claims).toHaveBeenCalledWith('alice', {
      clientId: 'relying-party',
      scope: ['openid', 'phone'],
      names: ['phone_number', 'phone_number_verified'],
    })
  })
})

describe('The parameter claims', () => {
  const taking = () => knowing(everything, { claimsParameter: true })

  test('[OIC-44] asks for single claims of the ID token and of UserInfo, each where it is asked for', async () => {
    const asking = {
      userinfo: { shoe_size: null, email: { essential: true } },
      id_token: { nickname: null, address: { essential: true } },
    }
    const { heard, idToken } = await heardOf(taking(), { scope: 'openid', ...claimsRequest(asking) })
    expect(heard).toEqual(['email', 'shoe_size', 'sub'])
    expect(claimsIn(idToken)).toMatchObject({ nickname: 'JD', address: everything.address })
    for (const name of ['email', 'shoe_size']) expect(claimsIn(idToken)).not.toHaveProperty(name)
  })

  test('[OIC-44] adds to the claims of the scope', async () => {
    const asking = claimsRequest({ userinfo: { phone_number: null } })
    const { heard } = await heardOf(taking(), { scope: 'openid email', ...asking })
    expect(heard).toEqual(['email', 'email_verified', 'phone_number', 'sub'])
  })

  test('[OIC-45] may name members and claims that the server does not know, and values that it does not have', async () => {
    const asking = {
      verified_claims: {},
      userinfo: {
        ['__proto__']: null,
        constructor: null,
        blood_group: { essential: true },
        name: { value: 'Bob' },
      },
      id_token: { iss: null, at_hash: null, toString: { essential: true } },
    }
    const { heard, idToken } = await heardOf(taking(), { scope: 'openid', ...claimsRequest(asking) })
    expect(heard).toEqual(['name', 'sub'])
    expect(claimsIn(idToken)).toMatchObject({ iss: 'http://localhost', at_hash: expect.any(String) })
    expect(Object.keys(claimsIn(idToken))).not.toContain('toString')
  })

  test('[OIC-46] may ask for a claim in a language', async () => {
    const asking = claimsRequest({ userinfo: { 'family_name#ja-Kana-JP': null } })
    const { body } = await heardOf(taking(), { scope: 'openid', ...asking })
    expect(body).toEqual({ sub: 'alice', 'family_name#ja-Kana-JP': 'ドウ' })
  })

  test.each(['x', '[]', '1', '{"id_token":{"acr":{"essential":true,"values":"mfa"}}}'])(
    '[OIC-45] that is malformed is invalid_request: %s',
    async (claims) => {
      const { flow } = taking()
      expect(outcomeOf(await flow.ask({ ...loginRequest, claims }, 'alice'))).toBe('redirect invalid_request')
    },
  )

  test('[OIC-47] has no effect on a server that does not read it, and the metadata says so', async () => {
    const asking = {
      scope: 'openid',
      ...claimsRequest({ userinfo: { email: null }, id_token: { email: null } }),
    }
    for (const [set, names] of [
      [knowing(everything), ['sub']],
      [taking(), ['email', 'sub']],
    ] as const) {
      const { heard, idToken } = await heardOf(set, asking)
      expect(heard).toEqual(names)
      expect('email' in claimsIn(idToken)).toBe(names.length > 1)
      const { body } = await set.flow.open('/.well-known/openid-configuration')
      expect(body.claims_parameter_supported).toBe(names.length > 1)
    }
  })
})

test('[OIC-43] a server that knows nothing of its owners tells the sub', async () => {
  const keys = identityKeys()
  const set = setStage(withIdentity({ plugins: [keys, openIdConnect({ keys })] }))
  const { heard } = await heardOf(set, { scope: 'openid profile email address phone' })
  expect(heard).toEqual(['sub'])
})
