import { clientSecretBasic, clientSecretPost } from '../../../lib/client-authentication/built-in-methods'
import { generateClientSecret, SecretVerifier } from '../../../lib/client-authentication/client-secret'
import { clientWith } from '../../support/authorization/client'
import { thrownBy } from '../../support/authorization/thrown'
import { basic, rawBasic } from '../../support/rooms/credentials'
import { parametersOf } from '../../support/rooms/parameters'
import { freely } from '../../support/rooms/secrets'

const secrets = new SecretVerifier(Date.now)
const byBasic = clientSecretBasic(secrets)
const byPost = clientSecretPost(secrets)
const sources = (authorization: readonly string[], body: Readonly<Record<string, string>> = {}) => ({
  authorization,
  body: parametersOf(body),
  query: parametersOf({ client_id: 'query', client_secret: 'query' }),
  certificate: undefined,
})

describe('client_secret_basic', () => {
  it('has the name of the registry and the scheme of its challenge', () => {
    expect(byBasic).toMatchObject({ name: 'client_secret_basic', scheme: 'Basic' })
  })

  it('reads the header and nothing else', () => {
    const claim = { clientId: 'printer', credential: 'a:b' }
    expect(byBasic.read(sources([rawBasic('printer:a:b')]))).toEqual(claim)
    expect(byBasic.read(sources([], { client_id: 'printer', client_secret: 'a:b' }))).toBeUndefined()
  })

  it.each([
    ['no header', []],
    ['another scheme', ['Bearer token']],
    ['no secret', [basic('printer', '')]],
  ])('is not used with %s', (_what, authorization) => {
    expect(byBasic.read(sources(authorization))).toBeUndefined()
  })

  it('refuses what is malformed', () => {
    expect(thrownBy(() => byBasic.read(sources(['Basic !'])))).toHaveProperty('code', 'invalid_client')
  })
})

describe('client_secret_post', () => {
  it('has the name of the registry and no scheme', () => {
    expect(byPost.name).toBe('client_secret_post')
    expect(byPost.scheme).toBeUndefined()
  })

  it('reads the body and nothing else', () => {
    const body = { client_id: 'printer', client_secret: 'a b%+' }
    expect(byPost.read(sources([], body))).toEqual({ clientId: 'printer', credential: 'a b%+' })
    expect(byPost.read(sources([basic('printer', 'secret')]))).toBeUndefined()
  })

  it.each([{}, { client_id: 'printer' }, { client_id: 'printer', client_secret: '' }])(
    'is not used by %j',
    (body) => {
      expect(byPost.read(sources([], body))).toBeUndefined()
    },
  )
})

describe('both', () => {
  it.each([byBasic, byPost])('verify by the secrets of the client ($name)', async (method) => {
    const { client_secret, client_secret_hash } = generateClientSecret()
    const client = clientWith({ client_secret_hashes: [client_secret_hash] })
    await expect(method.verify(client, client_secret, freely)).resolves.toBe(true)
    await expect(method.verify(client, 'wrong', freely)).resolves.toBe(false)
    await expect(method.verify(undefined, client_secret, freely)).resolves.toBe(false)
  })
})
