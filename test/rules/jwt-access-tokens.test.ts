import { createLocalJWKSet, jwtVerify } from 'jose'
import type { Extension } from '../../lib/index'
import { jwtAccessTokens, signingKeys } from '../../lib/paths/jwt'
import { authorizationRequest } from '../support/flows/flow'
import { keySecret, partOf, sharedKeys, withJwts } from '../support/flows/jwt-tokens'
import { fragmentOf } from '../support/flows/redirection'
import {
  gallery,
  job,
  mountResources,
  photosApi,
  printApi,
  reportsApi,
  widget,
} from '../support/flows/resources'
import { setStage } from '../support/flows/stage'
import { exchangeOf } from '../support/flows/token-exchange'
import { refusalOf } from '../support/flows/tokens'

const ofPhotos = { scope: 'photos:read', resource: photosApi }
const byItself = { grant_type: 'client_credentials' }
const how = { authTime: 1_700_000_000, acr: 'mfa', amr: ['pwd', 'otp'] }
const stage = (...given: Parameters<typeof withJwts>) =>
  setStage(withJwts(...given), { mount: mountResources })
type Set = ReturnType<typeof stage>

async function tokensFor({ flow }: Set, bend: Parameters<typeof flow.approve>[1] = ofPhotos) {
  const { body } = await flow.redeem(gallery, await flow.approve(gallery, bend))
  return { token: String(body.access_token), refreshToken: String(body.refresh_token), body }
}

/** An access token of each grant that gives one. */
async function everyToken(set: Set): Promise<readonly (readonly [string, string])[]> {
  const { flow } = set
  const { token, refreshToken } = await tokensFor(set)
  const refreshed = await flow.refresh(gallery, refreshToken)
  const own = await flow.request(job, { ...byItself, ...ofPhotos })
  const exchanged = await flow.request(job, exchangeOf(token, { resource: photosApi }))
  const asked = { ...authorizationRequest(widget), ...ofPhotos, response_type: 'token' }
  const implicit = fragmentOf(await flow.decide(await flow.ask(asked, 'alice'), 'approve', 'alice'))
  return [
    ['authorization_code', token],
    ['refresh_token', String(refreshed.body.access_token)],
    ['client_credentials', String(own.body.access_token)],
    ['token-exchange', String(exchanged.body.access_token)],
    ['implicit', String(implicit.parameters['access_token'])],
  ]
}

test('[JAT-1, JAT-4] the access token of every grant is an at+jwt with the claims of RFC 9068, each of its type', async () => {
  for (const [grant, token] of await everyToken(stage())) {
    expect([grant, partOf(token, 0)['typ']]).toEqual([grant, 'at+jwt'])
    expect([grant, partOf(token, 1)]).toEqual([
      grant,
      expect.objectContaining({
        iss: 'http://localhost',
        exp: expect.any(Number),
        aud: photosApi,
        sub: expect.any(String),
        client_id: expect.any(String),
        iat: expect.any(Number),
        jti: expect.any(String),
      }),
    ])
  }
})

test.each(['ES256', 'EdDSA', 'RS256', 'PS256'] as const)(
  '[JAT-2, JAT-3] a published key verifies the signature, here by %s',
  async (alg) => {
    const set = stage({}, {}, signingKeys({ secrets: [keySecret], algorithms: [alg] }))
    const { token } = await tokensFor(set)
    const { body } = await set.flow.open('/.well-known/jwks.json')
    const { protectedHeader } = await jwtVerify(token, createLocalJWKSet(body), {
      currentDate: new Date(set.clock.read()),
    })
    expect(protectedHeader).toEqual({ alg, typ: 'at+jwt', kid: body.keys[0].kid })
  },
)

test.each(['none', 'HS256'])('[JAT-2] no token is signed by %s', (algorithm) => {
  expect(() =>
    Reflect.apply(signingKeys, undefined, [{ secrets: [keySecret], algorithms: [algorithm] }]),
  ).toThrow(/algorithms must be/)
  expect(() => Reflect.apply(jwtAccessTokens, undefined, [{ keys: sharedKeys(), algorithm }])).toThrow(
    /algorithm must be/,
  )
})

test('[JAT-5] iat and exp are the times of the response, and no two tokens have one jti', async () => {
  const set = stage()
  const now = Math.floor(set.clock.read() / 1000)
  const { token, body } = await tokensFor(set)
  expect(partOf(token, 1)).toMatchObject({ iat: now, exp: now + body.expires_in })
  const jtis = (await everyToken(set)).map(([, each]) => partOf(each, 1)['jti'])
  expect(new Set(jtis).size).toBe(jtis.length)
})

test('[JAT-6] sub is the owner, and the client where it acts for itself', async () => {
  const subjects = (await everyToken(stage())).map(([grant, token]) => [grant, partOf(token, 1)['sub']])
  expect(Object.fromEntries(subjects)).toEqual({
    authorization_code: 'alice',
    refresh_token: 'alice',
    client_credentials: 'job',
    'token-exchange': 'alice',
    implicit: 'alice',
  })
})

test('[JAT-8] auth_time, acr and amr of the login stay the same in every token that descends from it', async () => {
  const login: { current: object } = { current: how }
  const set = stage({ resourceOwner: () => ({ subject: 'alice', ...login.current }) })
  const said = (token: unknown) => {
    const { auth_time, acr, amr } = partOf(String(token), 1)
    return { auth_time, acr, amr }
  }
  const { token, refreshToken } = await tokensFor(set)
  login.current = { authTime: how.authTime + 900, acr: 'pwd', amr: ['pwd'] }
  const refreshed = await set.flow.refresh(gallery, refreshToken)
  const exchanged = await set.flow.request(job, exchangeOf(token, { resource: photosApi }))
  for (const each of [token, refreshed.body.access_token, exchanged.body.access_token])
    expect(said(each)).toEqual({ auth_time: how.authTime, acr: 'mfa', amr: ['pwd', 'otp'] })
})

test('[JAT-8] without a known login the token says nothing about it', async () => {
  const { token } = await tokensFor(stage())
  for (const claim of ['auth_time', 'acr', 'amr']) expect(partOf(token, 1)).not.toHaveProperty(claim)
})

test('[JAT-9] scope is that of the response, and each value has a meaning for a resource of the token', async () => {
  const set = stage()
  const everything = 'photos:read photos:print reports:write'
  const { refreshToken } = await tokensFor(set, {
    scope: everything,
    resource: [photosApi, printApi, reportsApi],
  })
  const refreshed = async (resource: string) => {
    const { body } = await set.flow.refresh(gallery, refreshToken, { resource })
    expect(partOf(body.access_token, 1)['scope']).toBe(body.scope)
    return body.scope
  }
  expect(await refreshed(photosApi)).toBe('photos:read')
  const other = await set.flow.request(job, { ...byItself, scope: 'reports:write', resource: photosApi })
  expect(refusalOf(other)).toBe('400 invalid_scope')
})

test.each([
  ['the resource', photosApi, photosApi],
  ['each of several resources', [printApi, photosApi], [photosApi, printApi]],
])('[JAT-10] aud is %s of the request', async (_what, resource, aud) => {
  const set = stage()
  expect(partOf((await tokensFor(set, { scope: 'photos:read', resource })).token, 1)['aud']).toEqual(aud)
  const { body } = await set.flow.request(job, { ...byItself, scope: 'photos:read', resource })
  expect(partOf(body.access_token, 1)['aud']).toEqual(aud)
})

test('[JAT-11] aud is the default resource where the request names none', async () => {
  const set = stage({ defaultResource: photosApi })
  for (const [grant, token] of [
    ['authorization_code', (await tokensFor(set, { scope: 'photos:read' })).token],
    [
      'client_credentials',
      (await set.flow.request(job, { ...byItself, scope: 'photos:read' })).body.access_token,
    ],
  ] as const)
    expect([grant, partOf(token, 1)['aud']]).toEqual([grant, photosApi])
})

test('[JAT-12] without a resource and without a default there is no token', async () => {
  const set = stage()
  const request = await set.flow.request(job, { ...byItself, scope: 'photos:read' })
  expect(refusalOf(request)).toBe('400 invalid_target')
  const { parameters } = await redirected(set, { scope: 'photos:read' })
  expect(parameters['error']).toBe('invalid_target')
})

test('[JAT-13] a scope of another resource than the default is invalid_scope', async () => {
  const set = stage({ defaultResource: photosApi })
  const request = await set.flow.request(job, { ...byItself, scope: 'photos:read reports:write' })
  expect(refusalOf(request)).toBe('400 invalid_scope')
  const { parameters } = await redirected(set, { scope: 'photos:read reports:write' })
  expect(parameters['error']).toBe('invalid_scope')
})

async function redirected({ flow }: Set, bend: Record<string, string>) {
  const response = await flow.ask({ ...authorizationRequest(gallery), ...bend }, 'alice')
  const url = new URL(String(response.get('Location')))
  return { parameters: Object.fromEntries(url.searchParams) }
}

test('[JAT-14] no two resources have one aud, and a token for one is not good at the other', async () => {
  const twins = {
    [photosApi]: { scopes: ['photos:read'] },
    'https://API.example/photos': { scopes: ['photos:read'] },
  }
  expect(() => stage({ resources: twins })).toThrow(/names the same resource as another key/)
  const set = stage()
  const { token } = await tokensFor(set)
  const headers = { Authorization: `Bearer ${token}` }
  expect((await set.flow.open('/api/photos', undefined, headers)).status).toBe(200)
  const other = await set.flow.open('/api/print', undefined, headers)
  expect([other.status, other.body.error]).toEqual([401, 'invalid_token'])
})

test('[JAT-15] the metadata name issuer and jwks_uri, alike at both well-known names', async () => {
  const { flow } = stage()
  for (const name of ['oauth-authorization-server', 'openid-configuration']) {
    const { body } = await flow.open(`/.well-known/${name}`)
    expect([name, body.issuer, body.jwks_uri]).toEqual([
      name,
      'http://localhost',
      'http://localhost/.well-known/jwks.json',
    ])
  }
})

test('[JAT-16] no claim of an extension or of the host takes the place of a claim of the server', async () => {
  const bold: Extension = {
    name: 'bold',
    describe: () => ({
      iss: 'https://evil.example',
      sub: 'mallory',
      exp: 9e9,
      client_id: 'mallory',
      roles: ['x'],
    }),
  }
  const keys = sharedKeys()
  const { token } = await tokensFor(stage({ plugins: [keys, jwtAccessTokens({ keys }), bold] }))
  expect(partOf(token, 1)).toMatchObject({ iss: 'http://localhost', sub: 'alice', client_id: 'gallery' })
  for (const name of [
    'iss',
    'sub',
    'aud',
    'exp',
    'iat',
    'nbf',
    'jti',
    'client_id',
    'scope',
    'auth_time',
    'cnf',
  ]) {
    const set = stage({}, { claims: () => ({ [name]: 'mine' }) })
    const refused = await set.flow.redeem(gallery, await set.flow.approve(gallery, ofPhotos))
    expect([name, refusalOf(refused)]).toEqual([name, '500 server_error'])
  }
})

test('[JAT-17] a token says what the rules and the host want it to say, and nothing more', async () => {
  const { token } = await tokensFor(stage({}, { claims: () => ({ roles: ['editor'] }) }))
  expect(Object.keys(partOf(token, 1)).toSorted()).toEqual(
    ['aud', 'client_id', 'exp', 'iat', 'iss', 'jti', 'roles', 'scope', 'sub'].toSorted(),
  )
  expect(Object.keys(partOf(token, 0)).toSorted()).toEqual(['alg', 'kid', 'typ'])
})
