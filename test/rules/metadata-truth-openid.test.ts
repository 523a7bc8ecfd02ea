import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import { openIdConnect } from '../../lib/index'
import { backChannelStage, withReceivers } from '../support/flows/back-channel-stage'
import { type ClientApplication, bent } from '../support/flows/clients'
import { authorizationRequest } from '../support/flows/flow'
import { claimsIn, identityKeys, relyingParty, withIdentity } from '../support/flows/identity-stage'
import { outcomeOf } from '../support/flows/outcome'
import { setStage } from '../support/flows/stage'

const alice = {
  name: 'Alice',
  email: 'alice@example.com',
  phone_number: '1',
  address: { locality: 'Berlin' },
}

/** A server with all that OpenID Connect can switch on. */
function everything(client: ClientApplication = relyingParty) {
  const keys = identityKeys()
  const pairwise = { secret: 'p'.repeat(32) }
  const all = { keys, claims: async () => alice, claimsParameter: true, backChannelLogout: true, pairwise }
  const plugIns = [keys, openIdConnect(all)]
  return setStage({ ...withIdentity(), clients: [client.registration], plugIns, logOut: () => {} })
}

type Served = Pick<ReturnType<typeof everything>, 'flow'>

async function documentOf({ flow }: Served): Promise<Readonly<Record<string, unknown>>> {
  return (await flow.open('/.well-known/openid-configuration')).body
}

/** The path of a URL that the metadata names. */
const pathOf = (url: unknown) => new URL(String(url)).pathname

async function logIn(client: ClientApplication = relyingParty, bend: Record<string, string> = {}) {
  const set = everything(client)
  const document = await documentOf(set)
  const code = await set.flow.approve(client, { scope: 'openid profile email', ...bend })
  const { body } = await set.flow.redeem(client, code)
  const idToken = String(body.id_token)
  return { ...set, document, idToken, accessToken: String(body.access_token), claims: claimsIn(idToken) }
}

/** The client with a member that may be wrong. */
function withMember(name: string, value: unknown): ClientApplication {
  const entries: readonly (readonly unknown[])[] = [[name, value]]
  return bent(relyingParty, Object.fromEntries(entries))
}

const listIn = (value: unknown) => [value ?? []].flat().map(String)

describe('[META-2] The metadata of OpenID Connect', () => {
  const receiver = withReceivers()

  test('has these members, each exercised below, and none of them without the plug-in', async () => {
    const plain = await documentOf(setStage())
    const full = await documentOf(everything())
    expect(Object.keys(full).filter((name) => !Object.hasOwn(plain, name))).toEqual(
      expect.arrayContaining([
        'jwks_uri',
        'userinfo_endpoint',
        'end_session_endpoint',
        'subject_types_supported',
        'id_token_signing_alg_values_supported',
        'claims_supported',
        'claims_parameter_supported',
        'request_parameter_supported',
        'request_uri_parameter_supported',
        'backchannel_logout_supported',
        'backchannel_logout_session_supported',
      ]),
    )
    expect(Object.keys(full).length - Object.keys(plain).length).toBe(11)
  })

  test('jwks_uri has the key of each ID token', async () => {
    const { flow, document, idToken, clock } = await logIn()
    const keys = createLocalJWKSet((await flow.open(pathOf(document['jwks_uri']))).body)
    await expect(jwtVerify(idToken, keys, { currentDate: new Date(clock.read()) })).resolves.toBeDefined()
  })

  test('userinfo_endpoint answers an access token', async () => {
    const { flow, document, accessToken } = await logIn()
    const headers = { Authorization: `Bearer ${accessToken}` }
    const { body } = await flow.open(pathOf(document['userinfo_endpoint']), undefined, headers)
    expect(body).toMatchObject({ sub: 'alice', name: 'Alice' })
  })

  test('end_session_endpoint asks whether to log out', async () => {
    const { flow, document } = await logIn()
    const page = await flow.open(pathOf(document['end_session_endpoint']), 'alice')
    expect(page.text).toContain('Sign out')
  })

  test.each(['public', 'pairwise', 'ephemeral'])('subject_types_supported is true of %s', async (type) => {
    const isListed = listIn((await documentOf(everything()))['subject_types_supported']).includes(type)
    const client = withMember('subject_type', type)
    const result = await logIn(client).then(
      ({ claims }) => (claims['sub'] === 'alice' ? 'public' : 'pairwise'),
      () => 'refused',
    )
    expect(result).toBe(isListed ? type : 'refused')
  })

  test.each(['RS256', 'ES256', 'EdDSA', 'PS256', 'HS256', 'none'])(
    'id_token_signing_alg_values_supported is true of %s',
    async (algorithm) => {
      const listed = listIn((await documentOf(everything()))['id_token_signing_alg_values_supported'])
      const client = withMember('id_token_signed_response_alg', algorithm)
      const result = await logIn(client).then(
        ({ idToken }) => decodeProtectedHeader(idToken).alg,
        () => 'refused',
      )
      expect(result).toBe(listed.includes(algorithm) ? algorithm : 'refused')
    },
  )

  test('claims_supported names claims that ID tokens and UserInfo can have', async () => {
    const { document, claims } = await logIn(relyingParty, { nonce: 'n' })
    const listed = listIn(document['claims_supported'])
    expect(listed).toEqual(expect.arrayContaining(Object.keys(claims).filter((name) => !inEvery.has(name))))
    expect(listed).toEqual(expect.arrayContaining(['name', 'email', 'phone_number', 'address']))
  })

  test('claims_parameter_supported: the parameter claims chooses claims of the ID token', async () => {
    const claims = JSON.stringify({ id_token: { email: null } })
    const asked = await logIn(relyingParty, { scope: 'openid', claims })
    expect(asked.document['claims_parameter_supported']).toBe(true)
    expect(asked.claims['email']).toBe('alice@example.com')
  })

  test.each([
    ['request_parameter_supported', 'request', 'request_not_supported'],
    ['request_uri_parameter_supported', 'request_uri', 'request_uri_not_supported'],
  ])('%s is false, and the parameter %s is refused', async (member, parameter, code) => {
    const set = everything()
    expect((await documentOf(set))[member]).toBe(false)
    const asked = {
      ...authorizationRequest(relyingParty),
      scope: 'openid',
      [parameter]: 'https://a.example/',
    }
    expect(outcomeOf(await set.flow.ask(asked, 'alice'))).toBe(`redirect ${code}`)
  })

  test('backchannel_logout_supported: a client hears of a logout, without sid', async () => {
    const news = await receiver()
    const set = backChannelStage(setStage)({ news: news.uri })
    const document = await documentOf(set)
    expect(document['backchannel_logout_supported']).toBe(true)
    expect(document['backchannel_logout_session_supported']).toBe(false)
    await set.logIn('news')
    await set.plugIn.announceLogout('alice')
    expect(claimsIn(news.tokens[0] ?? '')).not.toHaveProperty('sid')
  })
})

// Of every JWT, or of one request.
const inEvery: ReadonlySet<string> = new Set(['exp', 'iat', 'nonce', 'at_hash', 'aud', 'iss'])
