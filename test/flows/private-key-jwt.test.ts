import { generateKeyPairSync, randomUUID, sign, type KeyObject } from 'node:crypto'
import { privateKeyJwt } from '../../docs/examples/private-key-jwt'
import { ConfigurationError, memoryCounters, type ClientRegistration, type Json } from '../../lib/index'
import { Clock } from '../support/flows/clock'
import { nightlyReport } from '../support/flows/clients'
import { describeOnStores, type SetStage } from '../support/flows/stores-of-run'
import { basic, formOf, type Fields } from '../support/flows/flow'
import { refusalOf, tokensOf } from '../support/flows/tokens'

const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const audience = ['http://localhost', 'http://localhost/token']
const grant = { grant_type: 'client_credentials', scope: 'photos:read' }

const pair = () => generateKeyPairSync('ec', { namedCurve: 'P-256' })
const [own, second, foreign] = [pair(), pair(), pair()]
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const jwkOf = (key: KeyObject, kid: string): Json =>
  JSON.parse(JSON.stringify({ ...key.export({ format: 'jwk' }), kid }))

const bank = {
  client_id: 'bank',
  client_type: 'confidential',
  credentials: { private_key_jwt: { keys: [jwkOf(own.publicKey, '1'), jwkOf(second.publicKey, '2')] } },
  token_endpoint_auth_method: 'private_key_jwt',
  grant_types: ['client_credentials'],
  scope: 'photos:read',
} satisfies ClientRegistration
const broker = {
  ...bank,
  client_id: 'broker',
  credentials: { private_key_jwt: { keys: [jwkOf(foreign.publicKey, '1')] } },
}

function host(stage: SetStage) {
  const clock = new Clock()
  const clientAuthenticationMethods = [
    privateKeyJwt(audience, memoryCounters({ clock: clock.read }), clock.read),
  ]
  const clients = [bank, broker, nightlyReport.registration]
  return { ...stage({ clients, clientAuthenticationMethods, clock: clock.read }), clock }
}
type Host = ReturnType<typeof host>

interface Bend {
  readonly claims?: object
  readonly header?: object
  readonly key?: KeyObject
}

/** An assertion as the bank's own software makes it, with something bent. */
function assertionAt({ clock }: Host, { claims, header, key = own.privateKey }: Bend = {}): string {
  const now = Math.floor(clock.read() / 1000)
  const said = { iss: 'bank', sub: 'bank', aud: audience[0], exp: now + 60, jti: randomUUID(), ...claims }
  const text = [{ alg: 'ES256', kid: '1', ...header }, said]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  const signature = sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' })
  return `${text}.${signature.toString('base64url')}`
}

const ask = ({ flow }: Host, client_assertion: string, fields: Fields = {}, headers = {}) =>
  flow.submit(
    '/token',
    { ...grant, client_assertion_type: assertionType, client_assertion, ...fields },
    undefined,
    headers,
  )

const at = (seconds: number) => Math.floor(new Clock().read() / 1000) + seconds

describeOnStores('The method of docs/examples/private-key-jwt.ts', (stage) => {
  test.each<[string, Bend]>([
    ['the issuer', {}],
    ['the token endpoint', { claims: { aud: audience[1] } }],
    ['one of several audiences', { claims: { aud: ['https://other.example', audience[0]] } }],
  ])('[CAU-5] takes an assertion for %s', async (_, bend) => {
    const set = host(stage)
    const { accessToken } = tokensOf(await ask(set, assertionAt(set, bend)))
    expect((await set.flow.photos(accessToken)).body).toMatchObject({ clientId: 'bank' })
  })

  test('takes either key during a rotation, and the same client_id beside it', async () => {
    const set = host(stage)
    tokensOf(await ask(set, assertionAt(set, { header: { kid: '2' }, key: second.privateKey })))
    const response = await ask(set, assertionAt(set), { client_id: 'bank' })
    expect(tokensOf(response).scope).toBe('photos:read')
  })

  test.each<[string, Bend]>([
    ['signed by another client', { key: foreign.privateKey }],
    ['of another client, signed by its own key', { claims: { iss: 'broker', sub: 'broker' } }],
    ['of an unknown client', { claims: { iss: 'nobody', sub: 'nobody' } }],
    ['of a client without keys', { claims: { iss: 'nightly-report', sub: 'nightly-report' } }],
    ['with another issuer', { claims: { iss: 'broker' } }],
    ['without an issuer', { claims: { iss: undefined } }],
    ['for another audience', { claims: { aud: 'https://other.example' } }],
    ['without an audience', { claims: { aud: undefined } }],
    ['without an expiry', { claims: { exp: undefined } }],
    ['that has expired', { claims: { exp: at(-11) } }],
    ['that lives too long', { claims: { exp: at(3600) } }],
    ['that is not good yet', { claims: { nbf: at(60) } }],
    ['without an id', { claims: { jti: undefined } }],
    ['with an id that is no text', { claims: { jti: 7 } }],
    ['with a huge id', { claims: { jti: 'x'.repeat(257) } }],
    ['without a signature', { header: { alg: 'none' } }],
    ['by another algorithm', { header: { alg: 'RS256' }, key: rsa.privateKey }],
    ['by a shared secret', { header: { alg: 'HS256' } }],
    ['that brings its own key', { header: { jwk: jwkOf(foreign.publicKey, '1') }, key: foreign.privateKey }],
    ['with an unknown critical header', { header: { crit: ['x'], x: 1 } }],
  ])('refuses an assertion %s [client-30]', async (_, bend) => {
    const set = host(stage)
    const response = await ask(set, assertionAt(set, bend))
    expect(refusalOf(response)).toBe('401 invalid_client')
    expect(response.body.error_description).toBe('Client authentication failed.')
    expect(response.get('WWW-Authenticate')).toBe('Basic realm="oauth", charset="UTF-8"')
  })

  test('takes an assertion once, of parallel requests too, and again only where it has expired [client-31]', async () => {
    const set = host(stage)
    const assertion = assertionAt(set)
    const statuses = await Promise.all([1, 2, 3].map(async () => (await ask(set, assertion)).status))
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect(statuses.filter((status) => status === 401)).toHaveLength(2)
    for (const seconds of [0, 59, 9, 1, 3600]) {
      set.clock.advance(seconds)
      expect(refusalOf(await ask(set, assertion))).toBe('401 invalid_client')
    }
  })

  test('takes an assertion once also where a process has a clock that is behind', async () => {
    const clock = new Clock()
    const counters = memoryCounters({ clock: clock.read })
    const hostBehind = (behind: number) => {
      const late = () => clock.read() - behind * 1000
      const clientAuthenticationMethods = [privateKeyJwt(audience, counters, late)]
      return { ...stage({ clients: [bank], clientAuthenticationMethods, clock: late }), clock }
    }
    const [here, behind] = [hostBehind(0), hostBehind(9)]
    const assertion = assertionAt(here)
    tokensOf(await ask(here, assertion))
    for (const seconds of [69, 1, 8, 1]) {
      clock.advance(seconds)
      expect(refusalOf(await ask(behind, assertion))).toBe('401 invalid_client')
    }
  })

  test('takes the id of another client for another id', async () => {
    const set = host(stage)
    tokensOf(await ask(set, assertionAt(set, { claims: { jti: '1' } })))
    const claims = { jti: '1', iss: 'broker', sub: 'broker' }
    const response = await ask(set, assertionAt(set, { claims, key: foreign.privateKey }))
    expect(tokensOf(response).scope).toBe('photos:read')
  })

  test.each<[string, (set: Host) => Fields | string]>([
    ['an assertion without its type', (set) => ({ client_assertion: assertionAt(set) })],
    ['a type without an assertion', () => ({ client_assertion_type: assertionType })],
    ['another type', (set) => ({ client_assertion_type: 'saml2', client_assertion: assertionAt(set) })],
    ['no JWT', () => ({ client_assertion_type: assertionType, client_assertion: 'x.y.z' })],
    [
      'a JWT without a subject',
      (set) => ({
        client_assertion_type: assertionType,
        client_assertion: assertionAt(set, { claims: { sub: undefined } }),
      }),
    ],
    [
      'a subject that is no text',
      (set) => ({
        client_assertion_type: assertionType,
        client_assertion: assertionAt(set, { claims: { sub: ['bank'] } }),
      }),
    ],
    [
      'another client_id',
      (set) => ({
        client_assertion_type: assertionType,
        client_assertion: assertionAt(set),
        client_id: 'broker',
      }),
    ],
    [
      'a client_secret too',
      (set) => ({
        client_assertion_type: assertionType,
        client_assertion: assertionAt(set),
        client_id: 'bank',
        client_secret: 'x',
      }),
    ],
    [
      'two assertions',
      (set) =>
        `${formOf({ client_assertion_type: assertionType, client_assertion: assertionAt(set) })}&client_assertion=x`,
    ],
    [
      'two types',
      (set) =>
        `${formOf({ client_assertion_type: assertionType, client_assertion: assertionAt(set) })}&client_assertion_type=x`,
    ],
    ['what is not form encoded', () => `client_assertion_type=${assertionType}&client_assertion=%zz`],
  ])('refuses %s as an invalid request', async (_, fields) => {
    const set = host(stage)
    const sent = fields(set)
    const body = `${formOf(grant)}&${formOf(sent)}`
    expect(refusalOf(await set.flow.submit('/token', body))).toBe('400 invalid_request')
  })

  test('[CAU-2] refuses an assertion beside Basic', async () => {
    const set = host(stage)
    const Authorization = basic('nightly-report', nightlyReport.secret)
    expect(refusalOf(await ask(set, assertionAt(set), {}, { Authorization }))).toBe('400 invalid_request')
  })

  test('refuses an assertion in the request URI', async () => {
    const set = host(stage)
    const query = formOf({ client_assertion_type: assertionType, client_assertion: assertionAt(set) })
    expect(refusalOf(await set.flow.submit(`/token?${query}`, grant))).toBe('400 invalid_request')
  })

  test.each<[string, Json]>([
    ['a private key', { keys: [jwkOf(own.privateKey, '1')] }],
    ['a key of another kind', { keys: [jwkOf(rsa.publicKey, '1')] }],
    ['a broken key', { keys: [{ kty: 'EC', crv: 'P-256', x: 'x', y: 'y' }] }],
    ['no key', { keys: [] }],
    ['a key outside a set', jwkOf(own.publicKey, '1')],
    ['a text', 'key'],
  ])('registers %s for nobody', (_, private_key_jwt) => {
    const clients = [{ ...bank, credentials: { private_key_jwt } }]
    const register = () =>
      stage({ clients, clientAuthenticationMethods: [privateKeyJwt(audience, memoryCounters())] })
    expect(register).toThrow(ConfigurationError)
    expect(register).toThrow('clients[0].credentials.private_key_jwt must be')
  })
})
