import { createHmac } from 'node:crypto'
import type { Response } from 'supertest'
import type { AuthorizationServerOptions, ClientRegistration } from '../../lib/index'
import { dpop } from '../../lib/paths/dpop'
import { jwtBearer, type JwtBearerOptions } from '../../lib/paths/grants'
import { privateKeyJwt, type PrivateKeyJwtOptions } from '../../lib/paths/jwt'
import { claimsAt, hub, hubOnCurve, issuers, json, jwt, partner } from '../support/assertions/jwt'
import { KeyServer } from '../support/assertions/key-server'
import { bent, nightlyReport, photoPrint } from '../support/flows/clients'
import { type Fields, formOf } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'
import { Prover } from '../support/flows/prover'
import { photosApi, reach, mountResources, threeResources } from '../support/flows/resources'
import { describeRegistration, notesApp } from '../support/flows/registering'
import { refusedOptions } from '../support/flows/refused-fields'
import { describeOnStores, type SetStage, type Stage } from '../support/flows/stores-of-run'
import { refusalOf, tokensOf } from '../support/flows/tokens'
import { grantTypeOf } from '../support/grant-type-of'

const platforms = issuers.map((issuer) => ({ ...issuer, repeatable: issuer.issuer === hub.issuer }))
const trusting = (bend: Partial<JwtBearerOptions> = {}) =>
  jwtBearer({ issuers: platforms, resourceOwner: ({ subject }) => subject, ...bend })
const accounts = new Map([['alice@issuer.example', 'alice']])
const grant_type = grantTypeOf(trusting())
const desk = bent(photoPrint, { grant_types: ['authorization_code', 'refresh_token', grant_type] })

const open = (
  stage: SetStage,
  bend: Partial<JwtBearerOptions> = {},
  more: Partial<AuthorizationServerOptions> = {},
) => stage({ plugins: [trusting(bend)], clients: [desk.registration], ...more })

/** A token as a platform writes it into a file, without an id. */
function tokenAt(
  { clock }: Pick<Stage, 'clock'>,
  claims: object = {},
  times: Readonly<Record<string, number>> = {},
) {
  const now = Math.floor(clock.read() / 1000)
  const ahead = Object.fromEntries(Object.entries(times).map(([name, seconds]) => [name, now + seconds]))
  return jwt(hub, { ...claimsAt(now), jti: undefined, ...claims, ...ahead }, { typ: undefined })
}
const ask = ({ flow }: Pick<Stage, 'flow'>, assertion: string, more: object = {}) =>
  flow.request(desk, { grant_type, assertion, scope: 'photos:read', ...more })

describeOnStores('An assertion of a platform', (stage) => {
  test('may come again, and each access token ends with it or after five minutes, and no refresh token comes', async () => {
    const set = open(stage)
    const assertion = tokenAt(set, {}, { exp: 400 })
    const lives: number[] = []
    for (const seconds of [0, 0, 90, 250, 59]) {
      set.clock.advance(seconds)
      const tokens = tokensOf(await ask(set, assertion))
      expect(tokens.refreshToken).toBe('')
      lives.push(tokens.expiresIn)
    }
    expect(lives).toEqual([300, 300, 300, 60, 1])
    set.clock.advance(1)
    expect(refusalOf(await ask(set, assertion))).toBe('400 invalid_grant')
    expect(set.failures).toMatchObject([{ reason: 'assertion_expired' }])
  })

  test.each<[string, Partial<JwtBearerOptions>, number]>([
    ['an option', { repeatableTokenLifetime: 900 }, 900],
    ['the server', { repeatableTokenLifetime: 86_400 }, 3600],
  ])('gives tokens for as long as %s allows', async (_, bend, expected) => {
    const set = open(stage, bend)
    expect(tokensOf(await ask(set, tokenAt(set, {}, { exp: 86_430 }))).expiresIn).toBe(expected)
  })

  test.each<
    [
      reason: string,
      claims: object,
      times: Readonly<Record<string, number>>,
      bend?: Partial<JwtBearerOptions>,
    ]
  >([
    ['too_long_lived', {}, { exp: 86_431 }],
    ['not_yet_valid', {}, { nbf: 31 }],
    ['audience_wrong', { aud: 'https://kubernetes.default.svc' }, {}],
    ['subject_refused', { sub: '__proto__' }, {}, { resourceOwner: ({ subject }) => accounts.get(subject) }],
    ['incomplete', {}, {}, { issuers }],
    [
      'incomplete',
      { iss: partner.issuer },
      {},
      { issuers: [{ issuer: partner.issuer, jwks: { keys: [hub.jwk] } }] },
    ],
  ])('is refused (%s) with %j and %j', async (reason, claims, times, bend = {}) => {
    const set = open(stage, bend)
    expect(refusalOf(await ask(set, tokenAt(set, claims, times)))).toBe('400 invalid_grant')
    expect(set.failures).toMatchObject([{ reason: `assertion_${reason}` }])
  })

  test('is no word for another issuer, whose assertions stay good once', async () => {
    const set = open(stage)
    const now = Math.floor(set.clock.read() / 1000)
    const assertion = jwt(partner, claimsAt(now, partner))
    tokensOf(await ask(set, assertion))
    expect(refusalOf(await ask(set, assertion))).toBe('400 invalid_grant')
    expect(set.failures).toMatchObject([{ reason: 'assertion_replayed' }])
  })

  test('gives tokens that are bound to a key and to a resource, if the request proves the one and names the other', async () => {
    const set = stage(
      {
        clients: [desk.registration],
        resources: threeResources,
        plugins: [trusting(), dpop({ baseUrl: 'http://localhost' })],
      },
      { mount: mountResources },
    )
    const assertion = tokenAt(set)
    const plain = tokensOf(await ask(set, assertion, { resource: photosApi }))
    expect((await reach(set, plain.accessToken)).passed).toEqual([photosApi])
    const prover = new Prover(set.clock.read)
    const fields = { grant_type, assertion, scope: 'photos:read', resource: photosApi }
    const bound = (await prover.tokens(set.flow, fields, desk)).body
    expect(bound).toMatchObject({ token_type: 'DPoP', expires_in: 300 })
    expect((await prover.call(set.flow, bound.access_token, '/api/photos')).status).toBe(200)
    expect((await reach(set, bound.access_token)).passed).toEqual([])
  })
})

const subjectOf = (name: string) => `system:serviceaccount:shop:${name}`
const long = 'x'.repeat(300)

/** The registration of a program that the platform runs. */
const program = (client_id: string, subject: string, more: object = {}): ClientRegistration => ({
  client_id,
  client_type: 'confidential',
  credentials: { private_key_jwt: { issuer: hub.issuer, subject } },
  token_endpoint_auth_method: 'private_key_jwt',
  grant_types: ['client_credentials'],
  scope: 'photos:read',
  may_introspect: true,
  ...more,
})

const programs = [
  program('report', subjectOf('report')),
  program('other', subjectOf('other')),
  program('gone', subjectOf('gone'), { disabled: true }),
  program('twin-1', subjectOf('twin')),
  program('twin-2', subjectOf('twin')),
  program(subjectOf('named'), subjectOf('named')),
  program('long', long),
  program('build', 'build', {
    credentials: { private_key_jwt: { issuer: partner.issuer, subject: 'build' } },
  }),
  program('signer', 'x', { credentials: { private_key_jwt: { keys: [hub.jwk] } } }),
  nightlyReport.registration,
]
const methods = (bend: PrivateKeyJwtOptions = {}) => ({
  plugins: [privateKeyJwt({ issuers: platforms, ...bend })],
})
const run = (stage: SetStage, options: Partial<AuthorizationServerOptions> = {}) =>
  stage({ clients: programs, ...methods(), ...options })

const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
const come = ({ flow }: Pick<Stage, 'flow'>, client_assertion: string, more: Fields = {}, path = '/token') =>
  flow.submit(path, { ...grant, client_assertion_type, client_assertion, ...more })
const tokenOf = (set: Pick<Stage, 'clock'>, name: string, claims: object = {}) =>
  tokenAt(set, { sub: subjectOf(name), ...claims })

/** The client that the token is for, or the reason of the refusal, of which the answer must not tell. */
async function clientOrReason({ flow, failures }: Stage, answer: Response): Promise<unknown> {
  if (answer.status === 200) return (await flow.photos(tokensOf(answer).accessToken)).body.clientId
  expect(refusalOf(answer)).toBe('401 invalid_client')
  expect(answer.body.error_description).toBe('Client authentication failed.')
  return failures.at(-1)?.reason
}

describeOnStores('A program that a platform runs', (stage) => {
  test('authenticates by the token of the platform, again and again, at each endpoint of clients', async () => {
    const set = run(stage)
    const token = tokenOf(set, 'report')
    const { accessToken } = tokensOf(await come(set, token))
    expect((await set.flow.photos(accessToken)).body).toMatchObject({ clientId: 'report' })
    expect((await come(set, token, { token: accessToken }, '/introspect')).body).toMatchObject({
      active: true,
    })
    expect((await come(set, token, { token: accessToken }, '/revoke')).status).toBe(200)
    expect((await come(set, token, { token: accessToken }, '/introspect')).body).toEqual({ active: false })
    set.clock.advance(330)
    expect(refusalOf(await come(set, token))).toBe('401 invalid_client')
    expect(set.failures).toMatchObject([{ reason: 'client_assertion_expired' }])
  })

  const unknown = 'client_unknown'
  const another = 'client_assertion_subject_wrong'
  test.each<[name: string, client_id: string | undefined, outcome: string]>([
    ['report', undefined, 'report'],
    ['report', 'report', 'report'],
    ['report', 'other', another],
    ['report', 'build', another],
    ['report', 'signer', another],
    ['report', 'nightly-report', 'client_not_authenticated'],
    ['report', 'nobody', unknown],
    ['nobody', undefined, unknown],
    ['nobody', 'report', another],
    ['twin', undefined, unknown],
    ['twin', 'twin-2', 'twin-2'],
    ['named', undefined, subjectOf('named')],
    ['gone', undefined, 'client_disabled'],
    ['gone', 'gone', 'client_disabled'],
  ])('%s, with the client_id %s, is %s', async (name, client_id, outcome) => {
    const set = run(stage)
    const answer = await come(set, tokenOf(set, name), { client_id })
    expect(await clientOrReason(set, answer)).toBe(outcome)
  })

  test('of a store is named by client_id, or has its subject as client_id', async () => {
    const find = async (id: string) => programs.find(({ client_id }) => client_id === id)
    const set = run(stage, { clients: { find } })
    const outcomes = []
    for (const [name, client_id] of [
      ['report', 'report'],
      ['report'],
      ['named'],
      ['report', 'other'],
    ] as const)
      outcomes.push(outcomeOf(await come(set, tokenOf(set, name), { client_id })))
    expect(outcomes).toEqual(['tokens', '401 invalid_client', 'tokens', '401 invalid_client'])
  })

  test('has a subject of any length, and an answer does not tell whether it is registered', async () => {
    const set = run(stage)
    tokensOf(await come(set, tokenAt(set, { sub: long })))
    expect(refusalOf(await come(set, tokenAt(set, { sub: `${long}x` })))).toBe('401 invalid_client')
  })

  const secret = hub.publicKey.export({ type: 'spki', format: 'pem' })
  const hmac = (input: string) => `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`
  const unsigned = (token: string, alg: string) =>
    `${json({ alg, kid: hub.kid })}.${token.split('.')[1] ?? ''}`

  test.each<[title: string, reason: string, forge: (good: string, set: Stage) => string]>([
    [
      'by the key of another platform',
      'signature_wrong',
      (_, set) => jwt({ ...partner, kid: hubOnCurve.kid }, claimsOf(set)),
    ],
    ['by an unknown key', 'key_unknown', (_, set) => jwt(hub, claimsOf(set), { kid: 'x' })],
    ['without a signature', 'algorithm_refused', (good) => `${unsigned(good, 'none')}.${good.split('.')[2]}`],
    ['with HS256 and the public key', 'algorithm_refused', (good) => hmac(unsigned(good, 'HS256'))],
    [
      'for the API of the platform',
      'audience_wrong',
      (_, set) => tokenOf(set, 'report', { aud: hub.issuer }),
    ],
    [
      'for others, too',
      'audience_wrong',
      (_, set) => tokenOf(set, 'report', { aud: ['http://localhost', hub.issuer] }),
    ],
    [
      'for the token endpoint',
      'audience_wrong',
      (_, set) => tokenOf(set, 'report', { aud: 'http://localhost/token' }),
    ],
    ['that has ended', 'expired', (_, set) => tokenAt(set, { sub: subjectOf('report') }, { exp: -30 })],
    ['that never ends', 'incomplete', (_, set) => tokenOf(set, 'report', { exp: undefined })],
    [
      'that ends after a day',
      'too_long_lived',
      (_, set) => tokenAt(set, { sub: subjectOf('report') }, { exp: 86_431 }),
    ],
    [
      'that is not good yet',
      'not_yet_valid',
      (_, set) => tokenAt(set, { sub: subjectOf('report') }, { nbf: 31 }),
    ],
    ['that is an access token', 'header_refused', (_, set) => jwt(hub, claimsOf(set), { typ: 'at+jwt' })],
    [
      'that is an identity assertion',
      'header_refused',
      (_, set) => jwt(hub, claimsOf(set), { typ: 'oauth-id-jag+jwt' }),
    ],
    [
      'that is an authorization request',
      'header_refused',
      (_, set) => tokenOf(set, 'report', { response_type: 'code' }),
    ],
    ['that is its own word', 'key_unknown', (_, set) => tokenAt(set, { iss: 'report', sub: 'report' })],
  ])('is refused with a token %s (%s)', async (_, reason, forge) => {
    const set = run(stage)
    const answer = await come(set, forge(tokenOf(set, 'report'), set))
    expect(await clientOrReason(set, answer)).toBe(`client_assertion_${reason}`)
  })
  const claimsOf = ({ clock }: Stage) => ({
    ...claimsAt(Math.floor(clock.read() / 1000)),
    sub: subjectOf('report'),
  })

  test('sends an invalid request with two methods, a repeated parameter, or a token that is no JWT or too large', async () => {
    const set = run(stage)
    const typed = (client_assertion: string, more: Fields = {}) =>
      formOf({ ...grant, client_assertion_type, client_assertion, ...more })
    const good = tokenOf(set, 'report')
    for (const sent of [
      typed(good, { client_id: 'nightly-report', client_secret: nightlyReport.secret }),
      `${typed(good)}&client_assertion=x`,
      `${typed(good)}&client_id=report&client_id=report`,
      typed(tokenOf(set, 'report', { more: 'x'.repeat(16_384) })),
      typed(tokenAt(set, { sub: undefined })),
      typed(tokenAt(set, JSON.parse('{"sub":"","__proto__":{"sub":"x"}}'))),
    ]) {
      const refused = refusalOf(await set.flow.submit('/token', sent))
      expect([sent, refused]).toEqual([sent, '400 invalid_request'])
    }
    for (const sub of ['__proto__', 'constructor'])
      expect(refusalOf(await come(set, tokenAt(set, { sub })))).toBe('401 invalid_client')
    expect(
      refusalOf(
        await set.flow.request(nightlyReport, { ...grant, client_assertion_type, client_assertion: good }),
      ),
    ).toBe('400 invalid_request')
  })

  test('uses a token up if its platform makes one for each request', async () => {
    const set = run(stage)
    const now = Math.floor(set.clock.read() / 1000)
    const token = jwt(partner, { ...claimsAt(now, partner), sub: 'build' })
    tokensOf(await come(set, token))
    expect(refusalOf(await come(set, token))).toBe('401 invalid_client')
    const withoutId = jwt(partner, { ...claimsAt(now, partner), sub: 'build', jti: undefined })
    expect(refusalOf(await come(set, withoutId))).toBe('401 invalid_client')
    const reasons = set.failures.map(({ reason }) => reason)
    expect(reasons).toEqual(['client_assertion_replayed', 'client_assertion_incomplete'])
  })

  test('gets tokens that are bound to a key and to a resource', async () => {
    const plugins = [dpop({ baseUrl: 'http://localhost' })]
    const set = stage(
      { clients: programs, resources: threeResources, plugins: [...methods().plugins, ...plugins] },
      { mount: mountResources },
    )
    const prover = new Prover(set.clock.read)
    const form = {
      ...grant,
      client_assertion_type,
      client_assertion: tokenOf(set, 'report'),
      resource: photosApi,
    }
    const DPoP = prover.proof('POST', '/token')
    const { body } = await set.flow.submit('/token', form, undefined, { DPoP })
    expect(body).toMatchObject({ token_type: 'DPoP' })
    expect((await prover.call(set.flow, body.access_token, '/api/photos')).status).toBe(200)
    expect((await prover.call(set.flow, body.access_token, '/api/print')).status).toBe(401)
  })

  test('waits for keys that the platform publishes, and then has another key', async () => {
    const server = new KeyServer()
    await server.start()
    server.say((_request, response) => void response.writeHead(503).end())
    const published = { issuer: hub.issuer, jwks_uri: server.uri, repeatable: true }
    const set = stage({ clients: programs.slice(0, 1), ...methods({ issuers: [published] }) })
    try {
      const token = tokenOf(set, 'report')
      expect(refusalOf(await come(set, token))).toBe('400 temporarily_unavailable')
      expect(set.failures).toMatchObject([{ reason: 'client_keys_unavailable' }])
      for (const key of [hub, hubOnCurve]) {
        server.publish(key.jwk)
        set.clock.advance(10)
        tokensOf(await come(set, jwt(key, claimsOf(set))))
      }
      expect(refusalOf(await come(set, token))).toBe('401 invalid_client')
    } finally {
      await server.stop()
    }
  })
})

describeRegistration('A client that registers itself', (stage) => {
  test('does not name a program of a platform as itself', async () => {
    const { register } = stage({ grantTypes: ['client_credentials', 'authorization_code'] }, methods())
    const workload = { issuer: hub.issuer, subject: subjectOf('report') }
    const stated = { ...notesApp, token_endpoint_auth_method: 'private_key_jwt' }
    for (const jwks of [workload, { ...workload, keys: [] }])
      expect(await register({ ...stated, jwks })).toMatchObject({
        status: 400,
        body: { error: 'invalid_client_metadata' },
      })
    expect((await register({ ...stated, credentials: { private_key_jwt: workload } })).status).toBe(400)
    const { status, body } = await register({ ...stated, jwks: { ...workload, keys: [hub.jwk] } })
    expect([status, Object.keys(body.jwks)]).toEqual([201, ['keys']])
  })
})

test('A registration names a platform of the option issuers and a subject, and no more', () => {
  const refusedWith = (private_key_jwt: unknown) =>
    refusedOptions({ clients: [program('x', 'x', { credentials: { private_key_jwt } })], ...methods() })
  const right = { issuer: hub.issuer, subject: 'x' }
  expect(refusedWith(right)).toEqual([])
  for (const wrong of [
    { ...right, issuer: 'https://nobody.example' },
    { ...right, issuer: '__proto__' },
    { ...right, subject: '' },
    { ...right, subject: ['x'] },
    { issuer: hub.issuer },
    { subject: 'x' },
    { ...right, keys: [hub.jwk] },
    { ...right, audience: 'x' },
  ])
    expect([wrong, refusedWith(wrong)]).toEqual([wrong, ['clients[0].credentials.private_key_jwt']])
})
