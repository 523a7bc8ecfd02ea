import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import request from 'supertest'
import type { ClientApplication } from '../../support/flows/clients'
import { consentFormOf } from '../../support/flows/consent-form'
import { authorizationRequest, Flow, redemption } from '../../support/flows/flow'
import { loginOf } from '../../support/flows/login-stage'
import { Prover } from '../../support/flows/prover'
import { codeOf } from '../../support/flows/redirection'
import { freePort } from '../../support/mcp/free-port'
import { requireNode } from '../../support/nodes'
import { read, runExample, serveExample } from './example'

/** The client of several guides. */
const album = (scope: string): ClientApplication => ({
  registration: {
    client_id: 'album',
    client_type: 'public',
    redirect_uris: ['http://127.0.0.1:4000/callback'],
    scope,
  },
})

const stops: (() => Promise<unknown>)[] = []
afterEach(() => Promise.all(stops.splice(0).map((stop) => stop())))
async function serve(file: string): Promise<string> {
  const { issuer, stop } = await serveExample(file)
  stops.push(stop)
  return issuer
}

test('the server in the README grants a code for its address and a token for its form, which outlives a restart', async () => {
  const readme = read('README.md')
  const [, address = ''] = /^http:\/\/localhost:3000(\/authorize\?\S+)$/m.exec(readme) ?? []
  const sent = [...readme.matchAll(/ -d (\w+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value])
  const folder = mkdtempSync(join(tmpdir(), 'readme-'))
  const start = () => serveExample('server.ts', {}, folder, requireNode(24))
  const first = await start()
  const flow = new Flow(first.issuer)
  const code = codeOf(await flow.decide(await flow.open(address), 'approve'))
  const { body } = await flow.submit('/token', { ...Object.fromEntries(sent), code })
  expect(body).toMatchObject({ token_type: 'bearer', scope: 'photos:read' })
  await first.stop()

  const second = await start()
  stops.push(second.stop)
  const later = new Flow(second.issuer)
  expect((await later.photos(body.access_token)).body).toEqual({ of: 'ada' })
  expect((await later.open('/photos')).status).toBe(401)
})

test('the server of step-up challenges a weak login as the guide says, and takes a token of a stronger one', async () => {
  const issuer = await serve('step-up.ts')
  const flow = new Flow(issuer)
  const remove = (token: string) => request(issuer).delete('/photos').set('Authorization', `Bearer ${token}`)
  const { accessToken } = await flow.tokens(album('photos'))
  expect((await flow.photos(accessToken)).status).toBe(200)
  const [challenge] = (await remove(accessToken)).get('WWW-Authenticate') ?? []
  expect(read('docs/guides/step-up.md')).toContain(`WWW-Authenticate: ${challenge}`)

  const stronger = { acr_values: 'urn:example:mfa', max_age: '300' }
  const { back } = loginOf(await flow.ask({ ...authorizationRequest(album('photos')), ...stronger }))
  const loggedIn = await request(issuer)
    .post('/login')
    .query({ return_to: back, ...stronger })
  const consent = await flow.open(String(loggedIn.get('Location')).slice(issuer.length))
  const { body } = await flow.redeem(album('photos'), codeOf(await flow.decide(consent, 'approve')))
  const removed = await remove(body.access_token)
  const seen = { deletedBy: 'ada', login: { acr: 'urn:example:mfa' } }
  expect([removed.status, removed.body]).toMatchObject([200, seen])
})

test('the server of JWT access tokens prints a command that gets a JWT, which its API and any verifier take', async () => {
  const [issuer, port] = [`http://localhost:${await freePort()}`, await freePort()]
  const running = runExample('jwt-access-tokens.ts', { ISSUER: issuer, PORT: String(port) })
  stops.push(async () => running.kill())
  const [line]: unknown[] = running.stdout === null ? [] : await once(running.stdout, 'data')
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', String(line)])
  const { access_token: token } = JSON.parse(stdout)
  const api = new Flow(`http://localhost:${port}`)
  const { status, body } = await api.photos(token)
  expect([status, body, (await api.open('/photos')).status]).toEqual([200, { for: 'job' }, 401])

  // The table for gateways.
  const { body: metadata } = await new Flow(issuer).open('/.well-known/oauth-authorization-server')
  const keySet = `${issuer}/.well-known/jwks.json`
  expect(metadata).toMatchObject({ jwks_uri: keySet })
  const told = { issuer, audience: 'https://api.example.com', typ: 'at+jwt', algorithms: ['ES256'] }
  const { payload } = await jwtVerify(token, createRemoteJWKSet(new URL(keySet)), told)
  expect(payload).toMatchObject({ scope: 'photos:read', client_id: 'job', sub: 'job' })
  expect((await fetch(keySet)).headers.get('cache-control')).toBe('public, max-age=600')
})

test('the server and the device of the guide: the code that the device prints brings it the photos of its owner', async () => {
  const issuer = await serve('devices.ts')
  const device = runExample('device-client.ts', { ISSUER: issuer })
  stops.push(async () => device.kill())
  if (device.stdout === null) throw new Error('The device prints nothing.')
  const lines = createInterface({ input: device.stdout })[Symbol.asyncIterator]()
  const prompt = String((await lines.next()).value)
  const [, link = '', userCode = ''] = /^Open (\S+) and enter (\S+)$/.exec(prompt) ?? []
  const { pathname, origin } = new URL(link)
  const flow = new Flow(origin)
  const { fields } = consentFormOf(await flow.open(pathname), pathname)
  const question = await flow.submit(pathname, { ...fields, user_code: userCode })
  expect(question.text).toContain('See your photos')
  await flow.submit(pathname, { ...consentFormOf(question, pathname).fields, decision: 'approve' })
  expect(JSON.parse(String((await lines.next()).value))).toEqual({ photosOf: 'u-1815' })
})

test('the server of proofs of possession binds a token to a key, which its guarded route demands', async () => {
  const issuer = await serve('dpop.ts')
  const flow = new Flow(issuer)
  const client = new Prover(Date.now, issuer)
  const app = album('photos:read')
  const { body } = await client.tokens(flow, redemption(app, await flow.approve(app)), app)
  expect(body.token_type).toBe('DPoP')
  expect((await client.call(flow, body.access_token)).body).toEqual({ of: 'ada' })
  expect((await flow.photos(body.access_token)).status).toBe(401)
})

test('the server of pushed requests takes the request of the guide, and shows the consent page for it', async () => {
  const flow = new Flow(await serve('pushed-requests.ts'))
  const [, sent = ''] =
    /curl http:\/\/localhost:3000\/par (.*)/.exec(read('docs/guides/pushed-requests.md')) ?? []
  const query = sent.replaceAll('-d ', '').split(' ').join('&')
  const { status, body } = await flow.submit('/par', Object.fromEntries(new URLSearchParams(query)))
  expect(status).toBe(201)
  const consent = await flow.ask({ client_id: 'album', request_uri: body.request_uri })
  expect(consent.text).toContain('See your photos')
  expect((await flow.open(`/authorize?${query}`)).status).toBe(400)
})
