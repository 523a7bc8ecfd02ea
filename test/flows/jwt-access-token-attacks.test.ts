import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import express from 'express'
import { memoryStore, type AuthorizationServerOptions } from '../../lib/index'
import { createBearerGuard } from '../../lib/paths/guards'
import {
  jwtAccessTokenReader,
  signingKeys,
  type GivenKey,
  type JwtAccessTokensOptions,
} from '../../lib/paths/jwt'
import { KeyServer } from '../support/assertions/key-server'
import { application, canonicalOptions } from '../support/flows/application'
import { Clock } from '../support/flows/clock'
import { Flow } from '../support/flows/flow'
import { partOf, withJwts } from '../support/flows/jwt-tokens'
import { gallery, job, mountResources, photosApi } from '../support/flows/resources'
import { refusalOf } from '../support/flows/tokens'

const { issuer } = canonicalOptions
const ofPhotos = { scope: 'photos:read', resource: photosApi }
const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const own: GivenKey = { privateKey, kid: 'own' }
const jwkOf = (key: KeyObject) => key.export({ format: 'jwk' })
// OpenID Connect Discovery 3: each server has a key for RS256.
const ownSet = { keys: [{ ...jwkOf(publicKey), kid: 'own', alg: 'ES256', use: 'sig' }] }

/** The guards of another process, which needs the store or no store, and never a secret. */
function guardsElsewhere(options: Pick<AuthorizationServerOptions, 'store' | 'clock'>, seconds = 5) {
  const { store = memoryStore(), clock = Date.now } = options
  const resources = { [photosApi]: { scopes: ['photos:read'] } }
  const plugins = [jwtAccessTokenReader({ jwks: ownSet })]
  const guard = createBearerGuard({ issuer, store, clock, resources, plugins })
  const jwt = { audience: photosApi, jwks: ownSet, clockTolerance: seconds }
  const offline = createBearerGuard({ issuer, clock, jwt })
  const app = express()
  const end: express.RequestHandler = (_request, response) => void response.end()
  app.get('/store', guard('photos:read'), end)
  app.get('/signature', guard('photos:read', { verify: 'signature' }), end)
  app.get('/offline', offline('photos:read'), end)
  return new Flow(app)
}

/** A server whose tokens five guards take: two of its own, and three of another process. */
function open(bend: Partial<AuthorizationServerOptions> = {}, tokens: Partial<JwtAccessTokensOptions> = {}) {
  const clock = new Clock()
  const store = memoryStore({ clock: clock.read })
  const time = { store, clock: clock.read }
  const set = application(withJwts({ ...time, ...bend }, tokens, signingKeys({ keys: [own] })), {
    mount: mountResources,
  })
  const guard = set.oauth.bearerGuard('photos:read', { resource: photosApi, verify: 'signature' })
  set.app.get('/signed', guard, (_request, response) => void response.end())
  const elsewhere = guardsElsewhere(time)
  const ways: readonly (readonly [Flow, string])[] = [
    [set.flow, '/api/photos'],
    [set.flow, '/signed'],
    [elsewhere, '/store'],
    [elsewhere, '/signature'],
    [elsewhere, '/offline'],
  ]
  return {
    ...set,
    ...time,
    clock,
    async token() {
      const { body } = await set.flow.redeem(gallery, await set.flow.approve(gallery, ofPhotos))
      return String(body.access_token)
    },
    /** The status that each guard answers. */
    async statuses(token: string): Promise<unknown> {
      const headers = { Authorization: `Bearer ${token}` }
      const answers = ways.map(async ([flow, path]) => [
        path,
        (await flow.open(path, undefined, headers)).status,
      ])
      return Object.fromEntries(await Promise.all(answers))
    },
  }
}

const everywhere = (status: unknown) => ({
  '/api/photos': status,
  '/signed': status,
  '/store': status,
  '/signature': status,
  '/offline': status,
})
const good = everywhere(200)
const unknown = everywhere(401)
const claimsOf = (token: string) => partOf(token, 1)

describe('At every guard, a JWT access token', () => {
  test('that white space divides or surrounds is unknown', async () => {
    const set = open()
    const token = await set.token()
    const [header, payload, signature] = token.split('.')
    expect(await set.statuses(`${header} .${payload}.${signature}`)).toEqual(everywhere(400))
    expect(await set.statuses(`${header}.${payload}.\t${signature}`)).toEqual(unknown)
    for (const text of [` ${token}`, `${token} `, `${token}\n`, `${header}.\r\n${payload}.${signature}`]) {
      expect((await set.flow.introspect(job, text)).body).toEqual({ active: false })
      await set.flow.revoke(gallery, text)
    }
    expect(await set.statuses(token)).toEqual(good)
  })

  test('lives by the clock of its guard: one that is 300 s behind or ahead takes it only if its host allows so much', async () => {
    const set = open()
    const token = await set.token()
    const statusesAt = async (seconds: number) => {
      const clock = () => set.clock.read() + seconds * 1000
      const flow = guardsElsewhere({ store: set.store, clock }, 300)
      const answers = ['/store', '/signature', '/offline'].map(async (path) => {
        const { status } = await flow.open(path, undefined, { Authorization: `Bearer ${token}` })
        return status
      })
      return Promise.all(answers)
    }
    expect(await statusesAt(-301)).toEqual([200, 200, 401])
    expect(await statusesAt(-300)).toEqual([200, 200, 200])
    expect(await statusesAt(599)).toEqual([200, 200, 200])
    expect(await statusesAt(600)).toEqual([401, 401, 200])
    expect(await statusesAt(900)).toEqual([401, 401, 401])
  })

  test('of a key that its server has withdrawn ends when the guard asks for the keys again', async () => {
    const set = open()
    const token = await set.token()
    const keyServer = new KeyServer()
    await keyServer.start()
    keyServer.publish(...ownSet.keys)
    const { store, clock } = set
    const plugins = [jwtAccessTokenReader({ jwks_uri: keyServer.uri })]
    const resources = { [photosApi]: { scopes: ['photos:read'] } }
    const guard = createBearerGuard({ issuer, store, clock: clock.read, resources, plugins })
    const app = express()
    for (const verify of ['store', 'signature'] as const)
      app.get(`/${verify}`, guard('photos:read', { verify }), (_request, response) => void response.end())
    const flow = new Flow(app)
    const statuses = () =>
      Promise.all(
        ['/store', '/signature'].map(async (path) => {
          const { status } = await flow.open(path, undefined, { Authorization: `Bearer ${token}` })
          return status
        }),
      )
    expect(await statuses()).toEqual([200, 200])
    keyServer.publish({ ...jwkOf(stranger.publicKey), kid: 'new', alg: 'ES256', use: 'sig' })
    clock.advance(599)
    expect(await statuses()).toEqual([200, 200])
    const later = await set.token()
    clock.advance(1)
    expect(await statuses()).toEqual([401, 401])
    const headers = { Authorization: `Bearer ${later}` }
    expect((await flow.open('/signature', undefined, headers)).status).toBe(401)
    await keyServer.stop()
    // The next deployment of the server itself.
    const keys = signingKeys({ keys: [{ privateKey: stranger.privateKey, kid: 'new' }] })
    const next = application(withJwts({ store, clock: clock.read }, {}, keys), { mount: mountResources })
    expect((await next.flow.open('/api/photos', undefined, headers)).status).toBe(401)
  })
})

describe('Claims of the host', () => {
  const cycle: Record<string, unknown> = {}
  cycle['again'] = cycle
  const throwing = Object.defineProperty({}, 'roles', {
    enumerable: true,
    get() {
      throw new Error('The roles are away.')
    },
  })

  const wrong: Readonly<Record<string, () => unknown>> = {
    undefined: () => ({ roles: undefined }),
    'a symbol': () => ({ roles: Symbol('roles') }),
    'a BigInt': () => ({ level: 7n }),
    Infinity: () => ({ level: Infinity }),
    'a cycle': () => cycle,
    'a hole': () => ({ roles: [, 'editor'] }), // oxlint-disable-line no-sparse-arrays
    'a Date': () => ({ since: new Date(0) }),
    toJSON: () => ({ toJSON: () => ({ sub: 'mallory' }) }),
    'a toJSON in it': () => ({ roles: { toJSON: () => 'admin' } }),
    'a prototype': () => ({ __proto__: { roles: ['admin'] } }),
    'half of a surrogate pair': () => ({ name: 'Alice \ud83d' }),
    'a getter that throws': () => throwing,
    '1025 bytes in UTF-8': () => ({ text: `xx${'é'.repeat(506)}` }),
    'a claim of the server': () => ({ sub: 'mallory' }),
    'a registered name': () => ({ azp: 'other' }),
    'what makes an ID token of it': () => ({ at_hash: 'x' }),
    'no object': () => Object('text'),
    'a list': () => [],
  }

  test('that cannot stand in a token fail the request, which spends nothing', async () => {
    let claims: () => unknown = () => ({})
    const set = open({}, { claims: (): object => Object(claims()) })
    const code = await set.flow.approve(gallery, ofPhotos)
    for (claims of Object.values(wrong))
      expect([claims, refusalOf(await set.flow.redeem(gallery, code))]).toEqual([claims, '500 server_error'])
    claims = () => ({})
    const { body } = await set.flow.redeem(gallery, code)
    expect(await set.statuses(body.access_token)).toEqual(good)
  })

  test.each<[string, object, object]>([
    ['1024 bytes', { text: 'x'.repeat(1024 - '{"text":""}'.length) }, {}],
    ['a whole surrogate pair', { name: 'Alice 😀' }, { name: 'Alice 😀' }],
    ['minus zero, which JSON does not know', { level: -0 }, { level: 0 }],
  ])('may have %s', async (_what, claims, seen) => {
    const set = open({}, { claims: () => claims })
    const token = await set.token()
    expect(claimsOf(token)).toMatchObject(seen)
    expect(await set.statuses(token)).toEqual(good)
  })

  test('with a member __proto__ change no claim of the server', async () => {
    const claims = () => JSON.parse('{"__proto__":{"sub":"mallory","roles":["admin"]},"constructor":1}')
    const set = open({}, { claims })
    const token = await set.token()
    expect(claimsOf(token)).toMatchObject({ sub: 'alice', client_id: 'gallery', iss: issuer })
    expect(await set.statuses(token)).toEqual(good)
    expect(Reflect.get({}, 'roles')).toBeUndefined()
  })
})
