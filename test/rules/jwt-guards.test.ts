import { generateKeyPairSync } from 'node:crypto'
import { ownGuards } from '../support/jwt-guard/own-guards'
import { bent } from '../support/flows/clients'
import { partOf } from '../support/flows/jwt-tokens'
import { inMemory, notesApp, registeringOn } from '../support/flows/registering'
import { job, photosApi, printApi } from '../support/flows/resources'

test.each(['at+jwt', 'application/at+jwt', 'at+JWT'])(
  '[JAT-18] every guard takes the type %s',
  async (typ) => {
    const set = ownGuards()
    expect(await set.statusOf(set.signed(await set.token(), {}, { typ }))).toBe(200)
  },
)

test.each(['JWT', 'jwt', 'at', 'logout+jwt', 'at+jwt ', 'application/jwt', '', undefined, null, ['at+jwt']])(
  '[JAT-18] every guard refuses the type %j',
  async (typ) => {
    const set = ownGuards()
    expect(await set.statusOf(set.signed(await set.token(), {}, { typ }))).toBe(401)
  },
)

test.each([
  'http://localhost/',
  'HTTP://localhost',
  'http://localhost.example',
  'https://localhost',
  undefined,
])('[JAT-19] every guard refuses the issuer %j', async (iss) => {
  const set = ownGuards()
  expect(await set.statusOf(set.signed(await set.token(), { iss }))).toBe(401)
})

test('[JAT-20] every guard refuses a token for another resource, and takes one for several', async () => {
  const set = ownGuards()
  expect(await set.statusOf(await set.token({ resource: printApi }))).toBe(401)
  expect(await set.statusOf(await set.token({ resource: [photosApi, printApi] }))).toBe(200)
})

test('[JAT-21] every guard refuses what no key of the server has signed', async () => {
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
