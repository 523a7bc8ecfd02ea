import request from 'supertest'
import { openIdConnect } from '../../lib/paths/openid-connect'
import { application } from '../support/flows/application'
import { claimsIn, identityKeys, withIdentity } from '../support/flows/identity-stage'
import { partOf } from '../support/flows/jwt-tokens'
import { logIn } from '../support/flows/relying-party'
import { setStage } from '../support/flows/stage'

const wellKnown = '/.well-known/openid-configuration'

/** A server at this issuer, behind a proxy that ends TLS. */
function openAt(issuer: string, bend: Parameters<typeof withIdentity>[0] = {}) {
  const prefix = new URL(issuer).pathname.replace(/\/$/, '')
  const set = setStage(
    { ...withIdentity(), issuer, ...bend },
    {
      mount: (app, oauth) => {
        app.set('trust proxy', 'loopback')
        app.use(oauth.metadata())
        app.use(prefix || '/', oauth.router())
      },
      paths: { authorize: `${prefix}/authorize`, token: `${prefix}/token` },
    },
  )
  return { ...set, prefix, flow: set.flow.behind({ 'X-Forwarded-Proto': 'https' }) }
}

const issuers = [
  'https://photos.example',
  'https://photos.example/issuer1',
  'https://photos.example:8443/a/b',
]

describe.each(issuers)('The issuer %s', (issuer) => {
  test('[DIS-1] has its document at the path of the issuer, as JSON with status 200', async () => {
    const { flow, prefix } = openAt(issuer)
    const response = await flow.open(`${prefix}${wellKnown}`)
    expect([response.status, response.get('Content-Type')]).toEqual([200, 'application/json; charset=utf-8'])
    expect(response.body.issuer).toBe(issuer)
  })

  test('[DIS-2] is the same text in the document, in the response and in each ID token', async () => {
    const set = openAt(issuer)
    const { body } = await set.flow.open(`${set.prefix}${wellKnown}`)
    expect(claimsIn((await logIn(set)).idToken)['iss']).toBe(body.issuer)
  })

  test('[DIS-9] has its endpoints below the issuer, over https', async () => {
    const { flow, prefix } = openAt(issuer, { logOut: () => {}, dynamicRegistration: {} })
    const { body } = await flow.open(`${prefix}${wellKnown}`)
    const urls = Object.entries<string>(body).filter(([name]) => /_endpoint$|^jwks_uri$/.test(name))
    expect(urls.map(([name]) => name)).toEqual(
      expect.arrayContaining([
        'authorization_endpoint',
        'jwks_uri',
        'registration_endpoint',
        'userinfo_endpoint',
      ]),
    )
    for (const [name, url] of urls) expect([name, url.startsWith(`${issuer}/`)]).toEqual([name, true])
  })
})

describe('The document', () => {
  const read = async (bend = {}, identity = {}) => {
    const set = application(withIdentity(bend, identity))
    return { ...set, document: (await set.flow.open(wellKnown)).body }
  }

  test('[DIS-3] has each member that is required', async () => {
    const { document } = await read()
    expect(document).toMatchObject({
      issuer: 'http://localhost',
      authorization_endpoint: 'http://localhost/authorize',
      token_endpoint: 'http://localhost/token',
      jwks_uri: 'http://localhost/.well-known/jwks.json',
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256', 'ES256'],
    })
  })

  test('[DIS-4] has RS256, whatever algorithm the host chooses', async () => {
    const keys = identityKeys()
    const plugins = [keys, openIdConnect({ keys, algorithm: 'ES256' })]
    // The first is the one of clients that choose none.
    expect((await read()).document.id_token_signing_alg_values_supported).toEqual(['RS256', 'ES256'])
    expect((await read({ plugins })).document.id_token_signing_alg_values_supported).toEqual([
      'ES256',
      'RS256',
    ])
  })

  test('[DIS-5] leaves out no member whose absence would promise what the server does not do', async () => {
    const { document } = await read()
    expect(document).toMatchObject({
      // Absent, it is true.
      request_uri_parameter_supported: false,
      request_parameter_supported: false,
      // Absent, it is authorization_code and implicit.
      grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
      // Absent, it is query and fragment.
      response_modes_supported: ['query', 'fragment'],
    })
  })

  test('[DIS-6] has no member without elements, and none that is null', async () => {
    const values: unknown[] = Object.values((await read()).document)
    expect(values.filter((value) => value === null || value === '')).toEqual([])
    expect(values.filter((value) => Array.isArray(value) && value.length === 0)).toEqual([])
  })

  test('[DIS-7] names a set of public keys for signatures, each with an id, which has the key of each ID token', async () => {
    const set = await read()
    const { body } = await set.flow.open(new URL(set.document.jwks_uri).pathname)
    const ids = body.keys.map(({ kid }: { kid: string }) => kid)
    expect(new Set(ids).size).toBe(ids.length)
    for (const key of body.keys) {
      expect(key).toMatchObject({ use: 'sig', kid: expect.any(String) })
      for (const secret of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k']) expect(key).not.toHaveProperty(secret)
    }
    expect(ids).toContain(partOf((await logIn(set)).idToken, 0)['kid'])
  })

  test('[DIS-10] has what is recommended: UserInfo, scopes with openid, and claims', async () => {
    const { document } = await read()
    expect(document.userinfo_endpoint).toBe('http://localhost/userinfo')
    expect(document.scopes_supported).toEqual(
      expect.arrayContaining(['openid', 'profile', 'email', 'address', 'phone']),
    )
    expect(document.claims_supported).toEqual(
      expect.arrayContaining(['sub', 'iss', 'auth_time', 'name', 'email', 'address', 'phone_number']),
    )
  })

  test('[DIS-10] names no claims of scopes that the server does not have, and none if it knows nothing of its owners', async () => {
    const scopes = { openid: 'Know who you are', email: 'See your address', 'photos:read': 'See your photos' }
    const clients: [] = []
    const { claims_supported: some } = (await read({ scopes, clients })).document
    expect(some).toContain('email_verified')
    expect(some).not.toContain('name')
    const keys = identityKeys()
    const { claims_supported: none } = (await read({ plugins: [keys, openIdConnect({ keys })] })).document
    expect(none).toEqual(expect.not.arrayContaining(['email']))
    expect(none).toContain('sub')
  })

  test('[DIS-11] names the claims that an ID token has', async () => {
    const set = await read()
    const { idToken } = await logIn(set)
    expect(set.document.claims_supported).toEqual(expect.arrayContaining(Object.keys(claimsIn(idToken))))
  })

  test.each([true, false])(
    '[DIS-11] says whether the parameter claims counts: %s',
    async (claimsParameter) => {
      const set = await read({}, { claimsParameter })
      expect(set.document.claims_parameter_supported).toBe(claimsParameter)
      const claims = JSON.stringify({ id_token: { email: null } })
      const { idToken } = await logIn(set, { scope: 'openid', claims })
      expect('email' in claimsIn(idToken)).toBe(claimsParameter)
    },
  )

  test('[DIS-11] names the values of prompt and the methods of clients that the server takes', async () => {
    const { document } = await read()
    expect(document.prompt_values_supported).toEqual(['none', 'login', 'consent', 'select_account'])
    expect(document.token_endpoint_auth_methods_supported).toEqual([
      'client_secret_basic',
      'client_secret_post',
      'none',
    ])
  })

  test('[DIS-12] is for GET alone, and scripts of other origins may read it', async () => {
    const { app } = await read()
    expect((await request(app).post(wellKnown)).status).toBe(405)
    // A cache may keep the answer to either, and give it to the other.
    for (const headers of [{}, { Origin: 'https://app.example' }])
      expect((await request(app).get(wellKnown).set(headers)).get('Access-Control-Allow-Origin')).toBe('*')
  })
})

test.each([
  'https://photos.example?a=b',
  'https://photos.example/#a',
  'http://photos.example',
  'photos.example',
])('[DIS-8] no server has the issuer %s', (issuer) => {
  expect(() => application(withIdentity({ issuer }))).toThrow(/issuer must/)
})
