import express from 'express'
import { type BearerGuard, type BearerGuardOptions, createAuthorizationServer, stepUp } from '../../lib/index'
import { createBearerGuard } from '../../lib/paths/guards'
import { canonicalOptions } from '../support/flows/application'
import { nightlyReport, photoPrint } from '../support/flows/clients'
import { jwt, signer } from '../support/assertions/jwt'
import { Flow } from '../support/flows/flow'
import { IntrospectionServer } from '../support/flows/introspection-server'
import { partOf } from '../support/flows/jwt-tokens'
import { keyedTokens } from '../support/flows/keyed-tokens'
import { loginOf } from '../support/flows/login-stage'
import { outcomeOf } from '../support/flows/outcome'
import { codeOf } from '../support/flows/redirection'
import { gallery, job, photosApi } from '../support/flows/resources'
import { setStage } from '../support/flows/stage'
import { guardNames, outcomeAt, stepUpStage } from '../support/flows/step-up-stage'

type Stage = Awaited<ReturnType<typeof stepUpStage>>

const [gold, silver] = ['urn:example:gold', 'urn:example:silver']
const insufficient = '401 insufficient_user_authentication'

/** The attributes of a challenge. */
const attributesIn = (challenge: string | undefined) =>
  Object.fromEntries(
    [...(challenge ?? '').matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  )

describe('A guard of RFC 9470', () => {
  let set: Stage
  beforeAll(async () => {
    set = await stepUpStage({ plugins: [stepUp({ acrValues: [gold, silver] })] })
  })
  afterAll(() => set.stop())

  const tokenOf = async (secondsAgo: number, acr?: string, scope = 'photos:read') => {
    const how = { authTime: set.now() - secondsAgo, ...(acr !== undefined && { acr }) }
    return String((await set.tokens(how, { scope })).access_token)
  }

  test('[SUA-1] answers a login that does not meet its requirement with 401 and its error', async () => {
    const token = await tokenOf(60, silver)
    for (const terms of [{ maxAge: 59 }, { acr: gold }])
      for (const { status, body, headers } of await set.answersOf(token, terms)) {
        expect([status, body.error]).toEqual([401, 'insufficient_user_authentication'])
        expect(String(headers['www-authenticate'])).toMatch(
          /^Bearer realm="oauth", scope="photos:read", error="insufficient_user_authentication", error_description="[^"]+", /,
        )
      }
  })

  test('[SUA-2] lists the classes in its order of preference, and takes a login of any of them', async () => {
    const token = await tokenOf(0, silver)
    expect(await set.verdictOf(token, { acr: ['b', 'a'] })).toBe(`${insufficient} acr_values="b a"`)
    expect(await set.verdictOf(token, { acr: ['b', silver] })).toBe('200')
    expect(await set.verdictOf(token, { acr: silver.toUpperCase() })).toMatch(insufficient)
  })

  test('[SUA-3] names the seconds, and takes a login of exactly this age', async () => {
    const token = await tokenOf(60)
    expect(await set.verdictOf(token, { maxAge: 60 })).toBe('200')
    expect(await set.verdictOf(token, { maxAge: 59 })).toBe(`${insufficient} max_age="59"`)
    for (const maxAge of [0, -1, 0.5])
      expect(() => set.guarded('same process', 'photos:read', { maxAge })).toThrow(/maxAge must be whole/)
  })

  test('[SUA-4] names class, age and scope in one challenge, and checks the login before the scope', async () => {
    const token = await tokenOf(60, silver)
    const terms = { acr: gold, maxAge: 59 }
    for (const response of await set.answersOf(token, terms, 'photos:read photos:print')) {
      expect(outcomeAt(response)).toBe(`${insufficient} acr_values="${gold}" max_age="59"`)
      expect(attributesIn(response.get('WWW-Authenticate'))['scope']).toBe('photos:read photos:print')
    }
    // Such a login, and the scope is still missing.
    expect(await set.verdictOf(await tokenOf(0, gold), terms, 'photos:print')).toBe('403 insufficient_scope')
  })

  test('[SUA-5] names its requirement under each scheme', async () => {
    const { oauth, flow, clock } = setStage({ plugins: [keyedTokens] })
    const guard = oauth.bearerGuard('photos:read', { acr: gold, maxAge: 59 })
    const { accessToken } = await flow.tokens(photoPrint)
    clock.advance(1)
    const response = await new Flow(express().get('/photos', guard)).photos(accessToken)
    const challenges = String(response.headers['www-authenticate']).split(/, (?=Keyed )/)
    expect(challenges.map((challenge) => challenge.split(' ')[0])).toEqual(['Bearer', 'Keyed'])
    for (const challenge of challenges)
      expect(attributesIn(challenge)).toMatchObject({ acr_values: gold, max_age: '59' })
    // RFC 9449 7.2: the scheme that the request used.
    expect(challenges.map((challenge) => attributesIn(challenge)['error'])).toEqual([
      'insufficient_user_authentication',
      undefined,
    ])
  })

  test('[SUA-6] takes no token without an owner, and none that does not say when the owner logged in', async () => {
    const byItself = { grant_type: 'client_credentials', scope: 'photos:read', resource: photosApi }
    const ofClient = (await set.flow.request(job, byItself)).body.access_token
    const unknown = (await set.tokens({})).access_token
    for (const token of [ofClient, unknown])
      for (const terms of [{ maxAge: 315_360_000 }, { acr: [gold, silver] }])
        expect(await set.verdictOf(token, terms)).toMatch(insufficient)
  })

  test('[SUA-7] tells its requirement to a request with a valid token alone', async () => {
    const terms = { acr: gold, maxAge: 59 }
    for (const [token, code] of [
      ['at_unknown', 'invalid_token'],
      [(await tokenOf(60)).slice(0, -4), 'invalid_token'],
    ] as const)
      expect(await set.verdictOf(token, terms)).toBe(`401 ${code}`)
    for (const name of guardNames) {
      const challenge = (await set.guarded(name, 'photos:read', terms).open('/photos')).get(
        'WWW-Authenticate',
      )
      expect(challenge).toMatch(/^Bearer realm="oauth", scope="photos:read"/)
      expect(challenge).not.toMatch(/acr_values|max_age/)
    }
  })

  test('[SUA-8] a class that the login did not meet ends in unmet_authentication_requirements', async () => {
    set.login.current = { authTime: set.now() - 5, acr: silver }
    const { back } = loginOf(await set.ask({ acr_values: gold }))
    set.clock.advance(1)
    set.login.current = { authTime: set.now(), acr: silver }
    const answer = await set.flow.open(back, 'alice')
    expect(outcomeOf(answer)).toBe('redirect unmet_authentication_requirements')
    expect(outcomeOf(await set.ask({ acr_values: 'urn:example:other' }))).toBe(
      'redirect unmet_authentication_requirements',
    )
  })

  test('[SUA-9] max_age demands a newer login: a token has it, and without it the answer is login_required', async () => {
    set.login.current = { authTime: set.now() - 61, acr: silver }
    const { back } = loginOf(await set.ask({ max_age: '60' }))
    expect(outcomeOf(await set.flow.open(back, 'alice'))).toBe('redirect login_required')
    set.clock.advance(1)
    set.login.current = { authTime: set.now(), acr: silver }
    const page = await set.flow.open(back, 'alice')
    const { body } = await set.flow.redeem(gallery, codeOf(await set.flow.decide(page, 'approve', 'alice')))
    expect(partOf(body.access_token, 1)).toMatchObject({ auth_time: set.now() })
    expect(await set.verdictOf(body.access_token, { maxAge: 60 })).toBe('200')
  })

  test('[SUA-10, SUA-11] JWT and introspection carry acr and auth_time, which no refresh renews', async () => {
    const login = { auth_time: set.now() - 60, acr: silver }
    const first = await set.tokens({ authTime: login.auth_time, acr: silver })
    set.login.current = { authTime: set.now(), acr: gold }
    const second = (await set.flow.refresh(gallery, first.refresh_token)).body
    for (const { access_token } of [first, second]) {
      expect(partOf(access_token, 1)).toMatchObject(login)
      expect((await set.flow.introspect(job, access_token)).body).toMatchObject({ active: true, ...login })
    }
  })

  test('[SUA-12] acr_values_supported lists the classes, with stepUp() alone', async () => {
    const document = async ({ flow }: { flow: Flow }) =>
      (await flow.open('/.well-known/oauth-authorization-server')).body
    expect(await document(set)).toMatchObject({ acr_values_supported: [gold, silver] })
    expect(await document(setStage())).not.toHaveProperty('acr_values_supported')
    const plugins = [stepUp({ acrValues: [gold] })]
    const { resourceOwner: _owner, ...own } = canonicalOptions
    const app = express()
    app.use(createAuthorizationServer({ ...own, clients: [nightlyReport.registration], plugins }).metadata())
    expect(await document({ flow: new Flow(app) })).not.toHaveProperty('acr_values_supported')
  })
})

describe('The examples of RFC 9470', () => {
  const introspection = new IntrospectionServer()
  beforeAll(() => introspection.start())
  afterAll(() => introspection.stop())

  // Sections 6.1 and 6.2.
  const claims = {
    iss: 'https://as.example.net',
    sub: 'someone@example.net',
    aud: 'https://rs.example.com',
    exp: 1_646_343_000,
    iat: 1_646_340_200,
    jti: 'e1j3V_bKic8-LAEB_lccD0G',
    client_id: 's6BhdRkqt3',
    scope: 'purchase',
    auth_time: 1_646_340_198,
    acr: 'myACR',
  }
  const key = signer(claims.iss, 'LTacESbw')
  const token = jwt(key, claims, { typ: 'at+JWT' })

  const at = (guard: BearerGuard, terms: BearerGuardOptions) =>
    new Flow(
      express().get('/photos', guard('purchase', terms), (request, response) => {
        response.json(request.oauth?.login)
      }),
    )
  const byJwt = (now: number) =>
    createBearerGuard({
      issuer: claims.iss,
      jwt: { audience: claims.aud, jwks: { keys: [key.jwk] } },
      clock: () => now * 1000,
    })

  test('[SUA-10] section 6.1: the claims of a JWT', async () => {
    const response = await at(byJwt(claims.iat), { acr: 'myACR', maxAge: 5 }).photos(token)
    expect([response.status, response.body]).toEqual([200, { authTime: claims.auth_time, acr: 'myACR' }])
  })

  test('[SUA-11] section 6.2: the members of an introspection', async () => {
    const { jti: _jti, ...members } = claims
    const iss = introspection.issuer
    introspection.answer = { active: true, ...members, iss, exp: 1_639_528_912, iat: 1_618_354_090 }
    const client = { client_id: 'rs', client_secret: 'a secret' }
    const guard = createBearerGuard({
      issuer: iss,
      introspection: { client, audience: claims.aud },
      clock: () => 1_639_528_900_000,
    })
    // The token of the example expires before the login, so no age fits it.
    const response = await at(guard, { acr: 'myACR' }).photos('token')
    expect([response.status, response.body]).toEqual([200, { authTime: claims.auth_time, acr: 'myACR' }])
  })
})
