import { options as deviceTokens } from '../../docs/examples/device-token'
import { nightlyReport } from '../support/flows/clients'
import { basic, Flow } from '../support/flows/flow'
import { describeOnStores } from '../support/flows/stores-of-run'
import { refusalOf, tokensOf } from '../support/flows/tokens'
import { ConfigurationError, type Extension, memoryStore, type TokenType } from '../../lib/index'
import { createBearerGuard } from '../../lib/paths/guards'
import { hub } from '../support/assertions/jwt'
import { failuresOf } from '../support/events'
import { introspectedPhotos, IntrospectionServer } from '../support/flows/introspection-server'
import { keyedTokens, thumbprint } from '../support/flows/keyed-tokens'
import { photosApi } from '../support/flows/resources'
import { guardedPhotos } from '../support/jwt-guard/guarded-photos'
import type { StartedServer } from '../support/start-server'

describe('device token', () => {
  const [registration] = deviceTokens.clients
  if (registration === undefined) throw new Error('The example registers no client.')
  const camera = { registration }

  describeOnStores('The token type of docs/examples/device-token.ts', (stage) => {
    test('fits in from outside: the token is good with its key alone', async () => {
      const { flow, failures } = stage(deviceTokens)
      const { body, status } = await flow.redeem(camera, await flow.approve(camera))
      expect(status).toBe(200)
      expect(body).toMatchObject({
        token_type: registration.token_type,
        device_key: expect.stringMatching(/^[\w-]{43}$/),
      })
      const call = (headers: Record<string, string>) => flow.open('/photos', undefined, headers)
      const Authorization = `Device ${body.access_token}`
      const answer = await call({ Authorization, 'Device-Key': body.device_key })
      expect(answer.body).toMatchObject({ subject: 'alice', tokenType: registration.token_type })
      for (const headers of [
        { Authorization },
        { Authorization, 'Device-Key': 'another' },
        { Authorization: `Bearer ${body.access_token}`, 'Device-Key': body.device_key },
      ])
        expect((await call(headers)).status).toBe(401)
      expect(failures.map(({ reason }) => reason)).toEqual([
        'device_key_wrong',
        'device_key_wrong',
        'token_of_another_type',
      ])
    })
  })
})

describe('token response', () => {
  const { registration, secret } = nightlyReport
  const Authorization = basic(registration.client_id, secret)
  const grant = { grant_type: 'client_credentials', scope: 'photos:read' }

  describeOnStores('The token endpoint', (stage) => {
    test.each(['text/html', 'application/xml', 'image/*;q=0'])(
      'negotiates no other form: %s',
      async (Accept) => {
        const { flow } = stage()
        const headers = { Accept, Authorization }
        expect(tokensOf(await flow.submit('/token', grant, undefined, headers)).scope).toBe('photos:read')
        expect(refusalOf(await flow.submit('/token', {}, undefined, headers))).toBe('400 invalid_request')
      },
    )

    test.each([
      ['wrong secret', { Authorization: basic(registration.client_id, 'ünïque-secret') }],
      ['odd grant type', { Authorization }],
    ])('echoes nothing of a request that it refuses: %s [input-12]', async (_, headers) => {
      const { flow } = stage()
      const odd = { grant_type: '<ünïque-secret>', scope: 'ünïque-secret', code: 'ünïque-secret' }
      const response = await flow.submit('/token', odd, undefined, headers)
      expect(refusalOf(response)).toMatch(/^40[01] /)
      expect(response.text + JSON.stringify(response.headers)).not.toContain('secret')
    })
  })
})

describe('Bound tokens', () => {
  const started: StartedServer[] = []
  const server = new IntrospectionServer()
  beforeAll(() => server.start())
  beforeEach(() => server.reset({ active: false }))
  afterAll(async () => {
    await server.stop()
    await Promise.all(started.map(({ stop }) => stop()))
  })

  /** Binds tokens to what the request has in a header, in place of a certificate (RFC 8705 3). */
  const certified: Extension = {
    name: 'certified',
    confirmationMethod: 'x5t#S256',
    admit: ({ request: { headers }, tokenData }) =>
      tokenData === undefined || headers['certificate']?.[0] === tokenData ? undefined : 'certificate_wrong',
  }

  const jkt = thumbprint('k-1')
  const provable = { plugins: [certified, keyedTokens] }
  const proof = { Key: 'k-1', Certificate: 'c-1' }

  describe.each<[string, 'jwt' | 'introspection']>([
    ['a JWT', 'jwt'],
    ['an introspection', 'introspection'],
  ])('cnf of %s', (_what, kind) => {
    const [refusedFor, otherType] = ['token_bound_to_key', 'token_of_another_kind']

    async function statusOf(members: object, scheme: string, headers: object, options: object) {
      const guarded =
        kind === 'jwt' ? guardedPhotos({}, options) : introspectedPhotos(server.issuer, {}, options)
      const failures = failuresOf(guarded.guard.events)
      server.answer = { active: true, client_id: 'photo-book', scope: 'photos:read', ...members }
      const token = kind === 'jwt' ? guardedPhotos().token(members) : 'token'
      const sent = { Authorization: `${scheme} ${token}`, 'Key-Use': '1', ...headers }
      const { status } = await new Flow(guarded.app).open('/photos', undefined, sent)
      return status === 401 ? failures.map(({ reason }) => reason).join() : status
    }

    test.each<[string, object, string, object, number | string]>([
      ['a key, with its proof', { cnf: { jkt } }, 'Keyed', proof, 200],
      ['a key, and token_type', { cnf: { jkt }, token_type: 'keyed' }, 'Keyed', proof, 200],
      ['a key, with another one', { cnf: { jkt } }, 'Keyed', { Key: 'k-2' }, 'key_wrong'],
      ['a key, under Bearer', { cnf: { jkt } }, 'Bearer', proof, 'token_of_another_type'],
      ['a key, and token_type Bearer', { cnf: { jkt }, token_type: 'Bearer' }, 'Keyed', proof, otherType],
      ['no key, under the other scheme', {}, 'Keyed', proof, 'token_of_another_type'],
      ['no key, and the other token_type', { token_type: 'Keyed' }, 'Bearer', proof, otherType],
      ['a certificate', { cnf: { 'x5t#S256': 'c-1' } }, 'Bearer', proof, 200],
      [
        'a certificate, with another one',
        { cnf: { 'x5t#S256': 'c-2' } },
        'Bearer',
        proof,
        'certificate_wrong',
      ],
      ['both', { cnf: { jkt, 'x5t#S256': 'c-1' } }, 'Keyed', proof, 200],
      ['both, with one proof', { cnf: { jkt, 'x5t#S256': 'c-2' } }, 'Keyed', proof, 'certificate_wrong'],
      ['what nothing checks', { cnf: { kid: 'a' } }, 'Bearer', proof, refusedFor],
      ['what nothing checks, beside a key', { cnf: { jkt, kid: 'a' } }, 'Keyed', proof, refusedFor],
      ['nothing', { cnf: {} }, 'Bearer', proof, refusedFor],
      ['a text', { cnf: jkt }, 'Bearer', proof, refusedFor],
      ['a list', { cnf: [jkt] }, 'Bearer', proof, refusedFor],
      ['null as its key', { cnf: { jkt: null } }, 'Keyed', proof, refusedFor],
      ['a list as its key', { cnf: { jkt: [jkt] } }, 'Keyed', proof, refusedFor],
    ])('with %s: the guard decides', async (_with, members, scheme, headers, expected) => {
      expect(await statusOf(members, scheme, headers, provable)).toBe(expected)
    })

    test('with __proto__ names no plug-in', async () => {
      const cnf: unknown = JSON.parse(`{"__proto__":{"jkt":"${jkt}"}}`)
      expect(await statusOf({ cnf }, 'Keyed', proof, provable)).toBe(refusedFor)
    })

    test('binds also where no token type can check it', async () => {
      expect(await statusOf({ cnf: { jkt } }, 'Bearer', proof, {})).toBe(refusedFor)
    })
  })

  test('guards without a store that share counters use a proof up together, within limits.singleUses', async () => {
    const counters = memoryStore()
    server.answer = { active: true, client_id: 'photo-book', scope: 'photos:read', cnf: { jkt } }
    const limits = { singleUses: { attempts: 1, seconds: 60 } }
    const options = { plugins: [keyedTokens], counters }
    const [one, two, bounded] = [options, options, { ...options, limits }].map(
      (given) => new Flow(introspectedPhotos(server.issuer, {}, given).app),
    )
    const statusOf = async (flow: Flow | undefined, use: string) =>
      (await flow?.open('/photos', undefined, { Authorization: 'Keyed token', Key: 'k-1', 'Key-Use': use }))
        ?.status
    expect([await statusOf(one, 'a'), await statusOf(two, 'a')]).toEqual([200, 401])
    expect([await statusOf(bounded, 'b'), await statusOf(bounded, 'c')]).toEqual([200, 429])
  })

  test('a guard without a store needs token types with a confirmation method, each with its own', () => {
    const bare: TokenType = { name: 'a', scheme: 'A', read: () => undefined }
    const [one, two] = [
      { ...bare, confirmationMethod: 'jkt' },
      { ...bare, name: 'b', scheme: 'B', confirmationMethod: 'jkt' },
    ]
    const { issuer } = hub
    const introspection = { client: { client_id: 'a', client_secret: 'b' } }
    const jwt = { audience: photosApi, jwks: { keys: [hub.jwk] } }
    for (const tokenTypes of [[bare], [one, two]])
      for (const source of [{ introspection }, { jwt }])
        expect(() =>
          createBearerGuard({ issuer, ...source, plugins: [{ name: 'host-token-types', tokenTypes }] }),
        ).toThrow(/confirmationMethod/)
    expect(() =>
      createBearerGuard({ issuer, jwt, plugins: [{ name: 'host-token-types', tokenTypes: [one] }] }),
    ).not.toThrow(ConfigurationError)
  })
})
