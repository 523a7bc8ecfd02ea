import { spawn, type ChildProcess } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import * as oauth from 'oauth4webapi'
import type { TokenType } from '../../../lib/index'
import type { IntrospectionSource, StandaloneGuardOptions } from '../../../lib/paths/guards'
import type { GivenKey } from '../../../lib/paths/jwt'
import { introspectedPhotos } from '../../support/flows/introspection-server'
import { Flow } from '../../support/flows/flow'

// oidc-provider is another implementation of RFC 7662, by other people. Its package is an ES module, so it runs in a
// process of its own.

const insecure = { [oauth.allowInsecureRequests]: true }
const client_secret = 'a secret: of 32 characters & more'
const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const key: GivenKey = { privateKey: pair.privateKey, kid: 'guard-1' }
const photosApi = 'https://photos.example/'

let child: ChildProcess
let issuer = ''
beforeAll(async () => {
  const program = join(__dirname, 'oidc-provider-process.mjs')
  const jwk = { ...pair.publicKey.export({ format: 'jwk' }), kid: 'guard-1', alg: 'ES256', use: 'sig' }
  const started = spawn(process.execPath, [program, JSON.stringify(jwk)], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  child = started
  for await (const line of createInterface(started.stdout)) {
    issuer = /^issuer (\S+)$/.exec(line)?.[1] ?? ''
    if (issuer !== '') break
  }
  if (issuer === '') throw new Error('oidc-provider did not start.')
})
afterAll(async () => {
  const gone = once(child, 'exit')
  child.kill()
  await gone
})

const job = { client_id: 'job' }
const ofJob = oauth.ClientSecretBasic(client_secret)
const server = async () =>
  oauth.processDiscoveryResponse(
    new URL(issuer),
    await oauth.discoveryRequest(new URL(issuer), { algorithm: 'oauth2', ...insecure }),
  )

/** An access token of the job. */
async function tokenFor(resource: string | undefined, dpop?: oauth.DPoPHandle): Promise<string> {
  const as = await server()
  const parameters = { scope: 'photos:read', ...(resource !== undefined && { resource }) }
  const proof = dpop === undefined ? {} : { DPoP: dpop }
  const sent = await oauth.clientCredentialsGrantRequest(as, job, ofJob, parameters, {
    ...insecure,
    ...proof,
  })
  return (await oauth.processClientCredentialsResponse(as, job, sent)).access_token
}

const guarded = (bend: Partial<IntrospectionSource> = {}, more: Partial<StandaloneGuardOptions> = {}) =>
  introspectedPhotos(
    issuer,
    { client: { client_id: 'by-basic', client_secret }, maximumAge: 0, ...bend },
    more,
  )

test.each<[string, () => IntrospectionSource['client']]>([
  ['client_secret_basic', () => ({ client_id: 'by-basic', client_secret })],
  ['client_secret_post', () => ({ client_id: 'by-post', client_secret, method: 'client_secret_post' })],
  ['private_key_jwt', () => ({ client_id: 'by-key', key })],
])('a guard asks oidc-provider by %s, and finds its endpoint', async (_method, client) => {
  const { ask, failures } = guarded({ client: client() })
  const token = await tokenFor(undefined)
  const { status, body } = await ask(token)
  expect([status, failures]).toEqual([200, []])
  expect(body).toMatchObject({
    clientId: 'job',
    scope: ['photos:read'],
    tokenType: 'bearer',
    claims: { iss: issuer },
  })
  expect((await ask(`${token}x`)).status).toBe(401)
  expect((await ask(token, '/print')).status).toBe(403)
})

test('a revocation at oidc-provider ends the token', async () => {
  const { ask } = guarded()
  const token = await tokenFor(undefined)
  expect((await ask(token)).status).toBe(200)
  await oauth.processRevocationResponse(
    await oauth.revocationRequest(await server(), job, ofJob, token, insecure),
  )
  expect((await ask(token)).status).toBe(401)
})

test('a token of oidc-provider for a resource passes the guard of this resource alone', async () => {
  const token = await tokenFor(photosApi)
  expect((await guarded({ audience: photosApi }).ask(token)).status).toBe(200)
  expect((await guarded({ audience: 'https://print.example/' }).ask(token)).status).toBe(401)
  expect((await guarded().ask(token)).status).toBe(401)
})

test('JWTs, which oidc-provider refuses with 400, are 401 and stop no other token', async () => {
  const { ask, failures } = guarded()
  const jwt = await tokenFor('https://photos.example/jwt')
  for (let call = 0; call < 7; call++) expect((await ask(`${jwt}${'x'.repeat(call)}`)).status).toBe(401)
  expect((await ask(await tokenFor(undefined))).status).toBe(200)
  expect(new Set(failures.map(({ reason }) => reason))).toEqual(new Set(['token_invalid']))
})

test('a wrong secret at oidc-provider is 503, and an event', async () => {
  const { ask, failures } = guarded({ client: { client_id: 'by-basic', client_secret: 'wrong' } })
  expect((await ask(await tokenFor(undefined))).status).toBe(503)
  expect(failures).toMatchObject([{ reason: 'introspection_not_authorized' }])
})

/** Compares a header with the key of the token. A real token type verifies a signature of the key. */
const bound: TokenType = {
  name: 'DPoP',
  scheme: 'DPoP',
  confirmationMethod: 'jkt',
  read: (accessToken) => ({
    accessToken,
    rejectReason: async ({ request, tokenData }) =>
      request.headers['thumbprint']?.[0] === tokenData ? undefined : 'key_wrong',
  }),
}

test('a token that oidc-provider binds to a key passes with its proof alone', async () => {
  const keys = await oauth.generateKeyPair('ES256')
  const handle = oauth.DPoP({}, keys)
  const token = await tokenFor(undefined, handle)
  const Thumbprint = await handle.calculateThumbprint()
  const flow = new Flow(guarded({}, { plugins: [{ name: 'host-token-types', tokenTypes: [bound] }] }).app)
  const call = (headers: Readonly<Record<string, string>>) => flow.open('/photos', undefined, headers)
  const passed = await call({ Authorization: `DPoP ${token}`, Thumbprint })
  expect([passed.status, passed.body.tokenType]).toEqual([200, 'DPoP'])
  expect((await call({ Authorization: `DPoP ${token}`, Thumbprint: 'x' })).status).toBe(401)
  expect((await call({ Authorization: `Bearer ${token}`, Thumbprint })).status).toBe(401)
  const { ask, failures } = guarded()
  expect((await ask(token)).status).toBe(401)
  expect(failures).toMatchObject([{ reason: 'token_bound_to_key' }])
})
