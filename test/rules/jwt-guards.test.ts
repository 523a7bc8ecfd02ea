import { generateKeyPairSync } from 'node:crypto'
import { memoryStore, type AuthorizationServerOptions } from '../../lib/index'
import { createBearerGuard } from '../../lib/paths/guards'
import { jwtAccessTokenReader, signingKeys } from '../../lib/paths/jwt'
import { jwt, signer, type Signer } from '../support/assertions/jwt'
import { application, canonicalOptions } from '../support/flows/application'
import { bent } from '../support/flows/clients'
import { Clock } from '../support/flows/clock'
import { partOf, withJwts } from '../support/flows/jwt-tokens'
import { inMemory, notesApp, registeringOn } from '../support/flows/registering'
import { gallery, job, mountResources, photosApi, printApi } from '../support/flows/resources'

const { issuer } = canonicalOptions

/** The key with which the server signs, so that a test can sign what the server never would. */
const ownKey = signer(issuer, 'own')

type Members = Readonly<Record<string, unknown>>

/** A server whose access tokens are JWTs, and every guard of its tokens that verifies them. */
function ownGuards(options: Partial<AuthorizationServerOptions> = {}) {
  const clock = new Clock()
  const store = memoryStore({ clock: clock.read })
  const signing = signingKeys({ keys: [{ privateKey: ownKey.privateKey, kid: ownKey.kid }] })
  const set = application(withJwts({ store, clock: clock.read, ...options }, {}, signing), {
    mount: mountResources,
  })
  const jwks = { keys: [ownKey.jwk] }
  const elsewhere = createBearerGuard({
    issuer,
    store,
    clock: clock.read,
    resources: { [photosApi]: { scopes: ['photos:read'] } },
    plugins: [jwtAccessTokenReader({ jwks })],
  })
  const alone = createBearerGuard({ issuer, clock: clock.read, jwt: { audience: photosApi, jwks } })
  const ofServer = { resource: photosApi }
  const guards = {
    '/store': set.oauth.bearerGuard('photos:read', ofServer),
    '/signature': set.oauth.bearerGuard('photos:read', { ...ofServer, verify: 'signature' }),
    '/elsewhere': elsewhere('photos:read'),
    '/alone': alone('photos:read'),
  }
  for (const [path, guard] of Object.entries(guards))
    set.app.get(path, guard, (request, response) => void response.json(request.oauth))
  const paths = Object.keys(guards)

  const open = (path: string, token: string) =>
    set.flow.open(path, undefined, { Authorization: `Bearer ${token}` })
  const answersOf = (token: string) => Promise.all(paths.map((path) => open(path, token)))
  return {
    ...set,
    clock,
    paths,
    open,
    answersOf,
    /** The status of each guard for a token; one number if all agree. */
    async statusOf(token: string): Promise<number | readonly number[]> {
      const statuses = (await answersOf(token)).map(({ status }) => status)
      const [first = 0] = statuses
      return statuses.every((status) => status === first) ? first : statuses
    },
    /** An access token that an owner approved for the photos. */
    async token(asking: Parameters<typeof set.flow.approve>[1] = {}): Promise<string> {
      const asked = { scope: 'photos:read', resource: photosApi, ...asking }
      const { body } = await set.flow.redeem(gallery, await set.flow.approve(gallery, asked))
      return String(body.access_token)
    },
    /** The same token, bent, and signed again: the record of the token stays good. */
    signed: (token: string, claims: Members = {}, header: Members = {}, by: Signer = ownKey) =>
      jwt(by, { ...partOf(token, 1), ...claims }, { ...partOf(token, 0), ...header }),
  }
}

const slash = 'http://localhost/'

// A good token with some claims and header members changed, signed again by the key of the server.
test.each<[title: string, status: number, header?: Members, claims?: Members]>([
  ['[JAT-18] the type at+jwt', 200],
  ['[JAT-18] the type in full', 200, { typ: 'application/at+jwt' }],
  ['[JAT-18] the type in another letter case', 200, { typ: 'at+JWT' }],
  ['[JAT-18] the type JWT', 401, { typ: 'JWT' }],
  ['[JAT-18] a type of another kind', 401, { typ: 'logout+jwt' }],
  ['[JAT-18] a type with a space', 401, { typ: 'at+jwt ' }],
  ['[JAT-18] an empty type', 401, { typ: '' }],
  ['[JAT-18] no type', 401, { typ: undefined }],
  ['[JAT-18] a list of types', 401, { typ: ['at+jwt'] }],
  ['[JAT-19] the issuer with a slash', 401, {}, { iss: slash }],
  ['[JAT-19] the issuer in another letter case', 401, {}, { iss: 'HTTP://localhost' }],
  ['[JAT-19] a longer issuer', 401, {}, { iss: 'http://localhost.example' }],
  ['[JAT-19] another scheme', 401, {}, { iss: 'https://localhost' }],
  ['[JAT-19] no issuer', 401, {}, { iss: undefined }],
])('%s is answered by %i at every guard', async (_title, status, header = {}, claims = {}) => {
  const set = ownGuards()
  expect(await set.statusOf(set.signed(await set.token(), claims, header))).toBe(status)
})

test('[JAT-20] every guard refuses a token for another resource, and takes one for several', async () => {
  const set = ownGuards()
  expect(await set.statusOf(await set.token({ resource: printApi }))).toBe(401)
  expect(await set.statusOf(await set.token({ resource: [photosApi, printApi] }))).toBe(200)
})

test('[JAT-21] every guard refuses what no key of the server has signed [access-1]', async () => {
  const set = ownGuards()
  const token = await set.token()
  const [header = '', , signature = ''] = token.split('.')
  const claims = Buffer.from(JSON.stringify({ ...partOf(token, 1), sub: 'mallory' })).toString('base64url')
  expect(await set.statusOf(`${header}.${claims}.${signature}`)).toBe(401)
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'own' }
  const mallory = {
    issuer: 'http://localhost',
    kid: 'own',
    alg: 'ES256',
    privateKey,
    publicKey,
    jwk,
  } as const
  expect(await set.statusOf(set.signed(token, {}, {}, mallory))).toBe(401)
  expect(await set.statusOf(set.signed(token))).toBe(200)
})

test('[JAT-22] every guard refuses alg none, with and without a signature', async () => {
  const set = ownGuards()
  const token = await set.token()
  const [, claims = '', signature = ''] = token.split('.')
  for (const alg of ['none', 'None', 'NONE']) {
    const header = Buffer.from(JSON.stringify({ ...partOf(token, 0), alg })).toString('base64url')
    for (const end of ['', signature]) expect(await set.statusOf(`${header}.${claims}.${end}`)).toBe(401)
  }
})

test('[JAT-23] every guard refuses a token that has expired, a few seconds after exp at most', async () => {
  const set = ownGuards()
  const token = await set.token()
  const now = Math.floor(set.clock.read() / 1000)
  expect(await set.statusOf(set.signed(token, { exp: now - 5 }))).toBe(401)
  expect(await set.statusOf(token)).toBe(200)
  set.clock.advance(600 + 5)
  expect(await set.statusOf(token)).toBe(401)
})

test('[JAT-24] every failure of the checks is 401 with invalid_token, in the challenge and the body', async () => {
  const set = ownGuards()
  const token = await set.token()
  for (const bad of [set.signed(token, {}, { typ: 'JWT' }), set.signed(token, { exp: 1 }), `${token}x`])
    for (const response of await set.answersOf(bad)) {
      expect([response.status, response.body.error]).toEqual([401, 'invalid_token'])
      expect(response.get('WWW-Authenticate')).toMatch(/^Bearer .*error="invalid_token"/)
    }
})

test('[JAT-25] every guard lets the scope of the token decide', async () => {
  const set = ownGuards()
  const token = await set.token({ scope: 'photos:print', resource: [photosApi, printApi] })
  for (const response of await set.answersOf(token)) {
    expect([response.status, response.body.error]).toEqual([403, 'insufficient_scope'])
  }
})

test('[JAT-7] no guard takes a client that acts for itself for the owner with its name [access-18]', async () => {
  const alice = bent(job, { client_id: 'alice' })
  const set = ownGuards({ clients: [alice.registration] })
  const asked = { grant_type: 'client_credentials', scope: 'photos:read', resource: photosApi }
  const { body } = await set.flow.request(alice, asked)
  for (const answer of await set.answersOf(String(body.access_token)))
    expect([answer.status, answer.body.clientId, answer.body.subject]).toEqual([200, 'alice', undefined])
})

test.each(['none', 'client_secret_basic'])(
  '[JAT-7] a client that registers itself for %s does not choose its client_id, which could name an owner',
  async (token_endpoint_auth_method) => {
    const { register } = registeringOn(inMemory)()
    const { body } = await register({ ...notesApp, token_endpoint_auth_method, client_id: 'alice' })
    expect(body.client_id).toMatch(/^[\w-]{22,}$/)
  },
)
