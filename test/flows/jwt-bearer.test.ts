import { generateKeyPairSync } from 'node:crypto'
import jsonwebtoken from 'jsonwebtoken'
import type { Json } from '../../lib/index'
import { jwtBearer, type Assertion, type JwtBearerOptions } from '../../lib/paths/grants'
import { privateKeyJwt } from '../../lib/paths/jwt'
import { forgedJwts } from '../support/assertions/forged-jwts'
import { noon } from '../support/noon'
import {
  audience,
  claimsAt,
  hub,
  hubOnCurve,
  issuers,
  jwt,
  partner,
  signer,
  type Signer,
} from '../support/assertions/jwt'
import { KeyServer } from '../support/assertions/key-server'
import { bent, photoBook, photoPrint } from '../support/flows/clients'
import { setStage } from '../support/flows/stage'
import { describeOnStores, type SetStage, type Stage } from '../support/flows/stores-of-run'
import { refusalOf, tokensOf } from '../support/flows/tokens'
import { grantTypeOf } from '../support/grant-type-of'

const accounts = new Map([['alice@issuer.example', 'alice']])
const grantType = jwtBearer({
  issuers,
  audience,
  resourceOwner: ({ subject }) => accounts.get(subject),
})
const grant_type = grantTypeOf(grantType)
const desk = bent(photoPrint, { grant_types: ['authorization_code', 'refresh_token', grant_type] })
const clients = [desk.registration, photoBook.registration]

const open = (stage: SetStage, grantTypes = [grantType]) => stage({ plugins: [...grantTypes], clients })
const claimsNow = ({ clock }: Stage) => claimsAt(Math.floor(clock.read() / 1000))
const fields = (assertion: string) => ({ grant_type, assertion, scope: 'photos:read' })

describeOnStores('A JWT as a grant', (stage) => {
  test("gives an access token in its owner's name, and no refresh token even to a client that may refresh", async () => {
    const set = open(stage)
    const response = await set.flow.request(desk, fields(jwt(hub, claimsNow(set))))
    expect(Object.keys(response.body)).toEqual(['access_token', 'token_type', 'expires_in', 'scope'])
    expect((await set.flow.photos(tokensOf(response).accessToken)).body).toMatchObject({
      subject: 'alice',
      clientId: 'photo-print',
      scope: ['photos:read'],
    })
  })

  test('is accepted once, for as long as it would be valid [jwt-16]', async () => {
    const set = open(stage)
    const assertion = jwt(hub, claimsNow(set))
    tokensOf(await set.flow.request(desk, fields(assertion)))
    for (const seconds of [0, 329, 1]) {
      set.clock.advance(seconds)
      expect(refusalOf(await set.flow.request(desk, fields(assertion)))).toBe('400 invalid_grant')
    }
    expect(set.failures.map(({ reason }) => reason)).toEqual([
      'assertion_replayed',
      'assertion_replayed',
      'assertion_expired',
    ])
  })

  test('of 20 parallel requests with one assertion exactly one wins [jwt-15]', async () => {
    const set = open(stage)
    const request = fields(jwt(hub, claimsNow(set)))
    const responses = await Promise.all(Array.from({ length: 20 }, () => set.flow.request(desk, request)))
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(responses.filter(({ body }) => body.error === 'invalid_grant')).toHaveLength(19)
  })

  test('that ends between two seconds is taken', async () => {
    const set = open(stage)
    const claims = claimsNow(set)
    const assertion = jwt(hub, { ...claims, exp: Number(claims['exp']) + 0.123 })
    expect(tokensOf(await set.flow.request(desk, fields(assertion))).scope).toBe('photos:read')
  })

  test('is not spent by a request that is refused', async () => {
    const set = open(stage)
    const good = fields(jwt(hub, claimsNow(set)))
    const ask = async (bend: object, client = desk) =>
      refusalOf(await set.flow.request(client, { ...good, ...bend }))
    expect(await ask({ scope: 'reports:write' })).toBe('400 invalid_scope')
    expect(await ask({ scope: undefined })).toBe('400 invalid_scope')
    expect(await ask({ assertion: '' })).toBe('400 invalid_request')
    expect(await ask({}, photoBook)).toBe('400 unauthorized_client')
    expect(await ask({}, { ...desk, secret: 'wrong' })).toBe('401 invalid_client')
    tokensOf(await set.flow.request(desk, good))
  })

  test('about an unknown subject is refused, and its event contains nothing of it [jwt-18]', async () => {
    const set = open(stage)
    const assertion = jwt(hub, { ...claimsNow(set), sub: 'mallory' })
    expect(refusalOf(await set.flow.request(desk, fields(assertion)))).toBe('400 invalid_grant')
    expect(set.failures).toMatchObject([{ reason: 'assertion_subject_refused', cause: undefined }])
    expect(refusalOf(await set.flow.request(desk, fields(jwt(hub, { ...claimsNow(set), aud: 'x' }))))).toBe(
      '400 invalid_grant',
    )
    expect(set.failures).toMatchObject([{}, { reason: 'assertion_audience_wrong', cause: undefined }])
  })
})

describeOnStores('Keys that an issuer publishes', (stage) => {
  let server: KeyServer
  beforeEach(async () => {
    server = new KeyServer()
    await server.start()
  })
  afterEach(() => server.stop())

  const openWithServer = () =>
    open(stage, [
      jwtBearer({
        issuers: [{ issuer: hub.issuer, jwks_uri: server.uri }],
        audience,
        resourceOwner: () => 'alice',
      }),
    ])

  test('may change: a new key is good soon, an old one not for long [jwt-11]', async () => {
    server.publish(hub.jwk)
    const set = openWithServer()
    const ask = (by: typeof hub) => set.flow.request(desk, fields(jwt(by, claimsNow(set))))
    tokensOf(await ask(hub))
    server.publish(hubOnCurve.jwk)
    set.clock.advance(10)
    tokensOf(await ask(hubOnCurve))
    expect(refusalOf(await ask(hub))).toBe('400 invalid_grant')
    expect(server.requests).toBe(2)
  })

  test('that cannot be had are no fault of the assertion, which is good when they can', async () => {
    server.say((_request, response) => void response.writeHead(503).end())
    const set = openWithServer()
    const request = fields(jwt(hub, claimsNow(set)))
    const response = await set.flow.request(desk, request)
    expect(refusalOf(response)).toBe('400 temporarily_unavailable')
    expect(response.get('Retry-After')).toBe('1')
    expect(set.failures).toMatchObject([
      {
        reason: 'assertion_keys_unavailable',
        cause: { message: `${server.uri} responded with status 503.` },
      },
    ])
    server.publish(hub.jwk)
    set.clock.advance(10)
    tokensOf(await set.flow.request(desk, request))
  })
})
/** A server at noon whose owner is whom an assertion names, and a client that presents assertions to it. */
function atNoon(bend: Partial<JwtBearerOptions> = {}) {
  const seen: Assertion[] = []
  const resourceOwner: JwtBearerOptions['resourceOwner'] = (assertion) => {
    seen.push(assertion)
    return assertion.subject
  }
  const grantTypes = [jwtBearer({ issuers, audience, resourceOwner, ...bend })]
  const { flow, failures } = setStage({ plugins: [...grantTypes], clients, clock: () => noon * 1000 })
  return { seen, failures, present: (assertion: string) => flow.request(desk, fields(assertion)) }
}

/** What the host is told of an assertion at noon, or the reason of its refusal. */
async function verdictOn(assertion: string, bend: Partial<JwtBearerOptions> = {}) {
  const { present, seen, failures } = atNoon(bend)
  const response = await present(assertion)
  if (response.status === 200) return seen[0]
  expect(refusalOf(response)).toBe('400 invalid_grant')
  return failures[0]?.reason
}

describe('A sound JWT is believed, and the host is told its claims:', () => {
  const claims = claimsAt(noon)
  const { iss: _issuer, sub: _subject, jti: id, exp: _end, ...others } = claims
  const alice = {
    issuer: hub.issuer,
    subject: 'alice@issuer.example',
    id,
    expiresAt: noon + 300,
    claims: others,
  }

  test.each<[string, string, object]>([
    ['as it is', jwt(hub, claims), alice],
    ['of another issuer', jwt(partner, { ...claims, iss: partner.issuer }), { issuer: partner.issuer }],
    [
      'with every other claim',
      jwt(hub, { ...claims, groups: ['staff'], nbf: noon }),
      { claims: { ...others, groups: ['staff'], nbf: noon } },
    ],
    ['by another key of the set', jwt(hubOnCurve, claims), alice],
    ['without typ and kid', jwt(hub, claims, { typ: undefined, kid: undefined }), alice],
    ['of the type application/JWT', jwt(hub, claims, { typ: 'application/JWT' }), alice],
    ['with headers that only hint at keys', jwt(hub, claims, { jku: 'https://a.example', x5t: 'x' }), alice],
    ['for several audiences', jwt(hub, { ...claims, aud: ['https://b.example', audience] }), {}],
    [
      'that has expired within the tolerance',
      jwt(hub, { ...claims, exp: noon - 29 }),
      { expiresAt: noon - 29 },
    ],
    ['of the longest life', jwt(hub, { ...claims, exp: noon + 3600 }), { expiresAt: noon + 3600 }],
    [
      'from a clock that is ahead within the tolerance',
      jwt(hub, { ...claims, iat: noon + 30, nbf: noon + 30 }),
      {},
    ],
    ['without iat', jwt(hub, { ...claims, iat: undefined }), {}],
    // RFC 7519 4: a parser that takes the last of two is one of the two that are allowed.
    [
      'with a claim beside it named __proto__',
      jwt(hub, JSON.parse(`{"__proto__":{"a":1},${JSON.stringify(claims).slice(1)}`)),
      {},
    ],
  ])('%s', async (_how, assertion, expected) => {
    expect(await verdictOn(assertion)).toEqual({ ...alice, claims: expect.anything(), ...expected })
  })

  test.each([hub, hubOnCurve])('made by jsonwebtoken, $alg', async ({ privateKey, alg, kid }) => {
    const token = jsonwebtoken.sign(claims, privateKey, { algorithm: alg, keyid: kid })
    expect(await verdictOn(token)).toEqual(alice)
  })
})

describe('A JWT is refused', () => {
  test('for each forgery with its reason, and the good one keeps its use [jwt-1, jwt-2, jwt-3, jwt-4, jwt-5, jwt-6, jwt-12, jwt-13, jwt-14]', async () => {
    const claims = claimsAt(noon)
    const forgeries = forgedJwts(claims, noon)
    const { present, seen, failures } = atNoon()
    for (const { token } of forgeries) expect(refusalOf(await present(token))).toBe('400 invalid_grant')
    expect(failures.map(({ reason }, index) => [forgeries[index]?.title, reason])).toEqual(
      forgeries.map(({ title, reason }) => [title, reason]),
    )
    expect(seen).toEqual([])
    tokensOf(await present(jwt(hub, claims)))
  })

  const second = signer(hub.issuer, 'hub-3', 'RS256')
  const twoThatFit = { issuers: [{ issuer: hub.issuer, jwks: { keys: [hub.jwk, second.jwk] } }] }
  const strict = { clockTolerance: 0, maximumLifetime: 60 }
  const short = { exp: noon + 60 }

  test.each<[string, string, object, Readonly<Record<string, unknown>>, Partial<JwtBearerOptions>]>([
    [
      'with a response_type, which makes it an authorization request',
      'assertion_header_refused',
      { response_type: 'code' },
      {},
      {},
    ],
    ['without kid where two keys fit', 'assertion_key_unknown', {}, { kid: undefined }, twoThatFit],
    [
      'by an algorithm that the host did not allow',
      'assertion_algorithm_refused',
      {},
      {},
      { algorithms: ['ES256'] },
    ],
    ['after its end, without tolerance [jwt-17]', 'assertion_expired', { exp: noon }, {}, strict],
    ['a second longer than the host allows', 'assertion_too_long_lived', { exp: noon + 61 }, {}, strict],
    [
      'from the future, without tolerance',
      'assertion_not_yet_valid',
      { ...short, iat: noon + 1 },
      {},
      strict,
    ],
    [
      'before its time, without tolerance',
      'assertion_not_yet_valid',
      { ...short, nbf: noon + 1 },
      {},
      strict,
    ],
  ])('%s: %s', async (_how, reason, claims, header, bend) => {
    expect(await verdictOn(jwt(hub, { ...claimsAt(noon), ...claims }, header), bend)).toBe(reason)
  })

  test('a second time, and another issuer may use the same name for one of its own', async () => {
    const { present, failures } = atNoon()
    const { jti } = claimsAt(noon)
    tokensOf(await present(jwt(hub, { ...claimsAt(noon), jti })))
    tokensOf(await present(jwt(partner, { ...claimsAt(noon, partner), jti })))
    expect(refusalOf(await present(jwt(hubOnCurve, { ...claimsAt(noon), jti })))).toBe('400 invalid_grant')
    expect(failures).toMatchObject([{ reason: 'assertion_replayed' }])
  })
})

test('An address in the header of a JWT is never asked [jwt-7]', async () => {
  const server = new KeyServer()
  await server.start()
  try {
    const stranger = signer(hub.issuer, hub.kid, 'RS256')
    server.publish(stranger.jwk)
    const { flow, clock } = setStage({ plugins: [grantType], clients })
    const claims = claimsAt(Math.floor(clock.read() / 1000))
    for (const name of ['jku', 'x5u', 'kid', 'jwks_uri']) {
      const assertion = jwt(stranger, claims, { [name]: server.uri })
      const response = await flow.request(desk, { grant_type, assertion, scope: 'photos:read' })
      expect(refusalOf(response)).toBe('400 invalid_grant')
    }
    expect(server.requests).toBe(0)
  } finally {
    await server.stop()
  }
})

test('An assertion by which a client authenticates is no grant, and a grant authenticates no client [client-32]', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwk: Json = JSON.parse(JSON.stringify({ ...publicKey.export({ format: 'jwk' }), kid: '1' }))
  const bank = bent(desk, {
    client_id: 'bank',
    client_secret_hashes: undefined,
    credentials: { private_key_jwt: { keys: [jwk] } },
  })
  const { flow, clock } = setStage({
    plugins: [grantType, privateKeyJwt()],
    clients: [...clients, bank.registration],
  })
  const own: Signer = { issuer: 'bank', kid: '1', alg: 'ES256', privateKey, publicKey, jwk: { kid: '1' } }
  const now = Math.floor(clock.read() / 1000)
  const proof = () => jwt(own, { ...claimsAt(now, own), sub: 'bank', exp: now + 60 })
  const grant = () => jwt(hub, claimsAt(now))
  const ask = (client_assertion: string, assertion: string) => {
    const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
    return flow.submit('/token', {
      grant_type,
      client_assertion_type,
      client_assertion,
      assertion,
      scope: 'photos:read',
    })
  }
  expect(refusalOf(await ask(proof(), proof()))).toBe('400 invalid_grant')
  expect(refusalOf(await ask(grant(), grant()))).toBe('401 invalid_client')
  tokensOf(await ask(proof(), grant()))
})
