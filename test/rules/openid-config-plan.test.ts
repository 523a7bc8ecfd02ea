/**
 * The module of the plan "Config OP" of the OpenID Foundation's conformance suite
 * (oidcc-config-certification-test-plan), check by check.
 */
import { importJWK } from 'jose'
import { identityStage } from '../support/flows/identity-stage'
import { setStage } from '../support/flows/stage'

const issuer = 'https://photos.example'

/** A provider behind a proxy that ends TLS, as the suite sees it. */
async function open() {
  const set = identityStage(setStage)({ issuer, logOut: () => {}, dynamicRegistration: {} })
  set.app.set('trust proxy', 'loopback')
  const flow = set.flow.behind({ 'X-Forwarded-Proto': 'https' })
  const response = await flow.open('/.well-known/openid-configuration')
  const document: Readonly<Record<string, unknown>> = response.body
  return { flow, response, document }
}

const textsIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

describe('oidcc-discovery-endpoint-verification', () => {
  test('[DIS-1] the document comes as JSON with status 200', async () => {
    const { response } = await open()
    expect([response.status, response.type]).toEqual([200, 'application/json'])
  })

  test('[DIS-2, DIS-8] the issuer is where the document is', async () => {
    expect((await open()).document['issuer']).toBe(issuer)
  })

  test('[DIS-3, DIS-4] response types, subject types and algorithms are those that each provider has', async () => {
    expect((await open()).document).toMatchObject({
      response_types_supported: expect.arrayContaining(['code']),
      subject_types_supported: expect.arrayContaining(['public']),
      id_token_signing_alg_values_supported: expect.arrayContaining(['RS256']),
    })
  })

  test('[DIS-9] each endpoint has an https URL', async () => {
    const { document } = await open()
    const names = Object.keys(document).filter((name) => name.endsWith('_endpoint') || name === 'jwks_uri')
    expect(names).toEqual(
      expect.arrayContaining([
        'authorization_endpoint',
        'end_session_endpoint',
        'jwks_uri',
        'registration_endpoint',
        'token_endpoint',
        'userinfo_endpoint',
      ]),
    )
    for (const name of names) expect(document[name]).toMatch(/^https:\/\/photos\.example\//)
  })

  test('[DIS-7] jwks_uri has usable public keys, in base64url without padding', async () => {
    const { flow, document } = await open()
    const { body } = await flow.open(new URL(String(document['jwks_uri'])).pathname)
    expect(body.keys.length).toBeGreaterThan(0)
    for (const key of body.keys) {
      for (const name of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']) expect(key).not.toHaveProperty(name)
      for (const name of ['n', 'e', 'x', 'y']) expect(String(key[name] ?? '')).toMatch(/^[A-Za-z0-9_-]*$/)
      await expect(importJWK(key)).resolves.toMatchObject({ type: 'public' })
    }
  })

  test('[DIS-5, DIS-6, DIS-10] lists have elements, and the recommended members are there', async () => {
    const { document } = await open()
    for (const name of [
      'grant_types_supported',
      'claims_supported',
      'scopes_supported',
      'code_challenge_methods_supported',
    ])
      expect([name, textsIn(document[name]).length > 0]).toEqual([name, true])
    expect(textsIn(document['scopes_supported'])).toContain('openid')
    for (const scope of textsIn(document['scopes_supported']))
      expect(scope).toMatch(/^[\x21\x23-\x5B\x5D-\x7E]+$/)
    expect(document).toHaveProperty('userinfo_endpoint')
    expect(textsIn(document['code_challenge_methods_supported'])).toContain('S256')
  })

  test('[DIS-5, DIS-11] what request objects and the parameter claims do is said outright', async () => {
    expect((await open()).document).toMatchObject({
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
      claims_parameter_supported: false,
    })
  })

  test('[DIS-11] the modules find the methods of clients that they use', async () => {
    expect((await open()).document['token_endpoint_auth_methods_supported']).toEqual(
      expect.arrayContaining(['client_secret_basic', 'client_secret_post']),
    )
  })
})
