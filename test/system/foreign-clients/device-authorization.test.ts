import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import express from 'express'
import * as oauth from 'oauth4webapi'
import * as client from 'openid-client'
import { createAuthorizationServer, deviceAuthorization } from '../../../lib/index'
import { canonicalOptions, mountAll } from '../../support/flows/application'
import { consentFormOf } from '../../support/flows/consent-form'
import { deviceSecret, television } from '../../support/flows/device-stage'
import { Flow } from '../../support/flows/flow'
import { goPath, goProgram, pythonProgram, requireProgram } from '../../support/program'
import { type StartedServer, startServer } from '../../support/rooms/start-server'

const { client_id } = television.registration
let server: StartedServer
let flow: Flow
let issuer: string
beforeAll(async () => {
  const app = express()
  server = await startServer(app)
  issuer = `http://127.0.0.1:${server.port}`
  flow = new Flow(issuer)
  const plugIns = [deviceAuthorization({ secret: deviceSecret, interval: 1 })]
  mountAll(
    app,
    createAuthorizationServer({ ...canonicalOptions, issuer, clients: [television.registration], plugIns }),
  )
})
afterAll(() => server.stop())

async function decide(userCode: string, decision: 'approve' | 'deny'): Promise<void> {
  const page = await flow.enterCode({ user_code: userCode }, 'alice')
  await flow.submit('/device', { ...consentFormOf(page, '/device').fields, decision }, 'alice')
}

describe('openid-client', () => {
  const configuration = () =>
    client.discovery(new URL(issuer), client_id, undefined, client.None(), {
      algorithm: 'oauth2',
      execute: [client.allowInsecureRequests],
    })

  test('gets the tokens of a device, and refreshes them', async () => {
    const config = await configuration()
    const device = await client.initiateDeviceAuthorization(config, { scope: 'photos:read' })
    expect(device.verification_uri_complete).toContain(device.user_code)
    const polled = client.pollDeviceAuthorizationGrant(config, device)
    await decide(device.user_code, 'approve')
    const { access_token, refresh_token = '' } = await polled
    expect((await flow.photos(access_token)).status).toBe(200)
    const refreshed = await client.refreshTokenGrant(config, refresh_token)
    expect((await flow.photos(refreshed.access_token)).status).toBe(200)
  })

  test('hears that its owner refused', async () => {
    const config = await configuration()
    const device = await client.initiateDeviceAuthorization(config, { scope: 'photos:read' })
    await decide(device.user_code, 'deny')
    await expect(client.pollDeviceAuthorizationGrant(config, device)).rejects.toMatchObject({
      error: 'access_denied',
    })
  })
})

test('oauth4webapi hears authorization_pending and slow_down, and gets the tokens of a device', async () => {
  const insecure = { [oauth.allowInsecureRequests]: true }
  const found = await oauth.discoveryRequest(new URL(issuer), { algorithm: 'oauth2', ...insecure })
  const metadata = await oauth.processDiscoveryResponse(new URL(issuer), found)
  const asked = await oauth.deviceAuthorizationRequest(
    metadata,
    { client_id },
    oauth.None(),
    { scope: 'photos:read' },
    insecure,
  )
  const device = await oauth.processDeviceAuthorizationResponse(metadata, { client_id }, asked)
  const poll = async () => {
    const response = await oauth.deviceCodeGrantRequest(
      metadata,
      { client_id },
      oauth.None(),
      device.device_code,
      insecure,
    )
    return oauth.processDeviceCodeResponse(metadata, { client_id }, response)
  }
  await expect(poll()).rejects.toMatchObject({ error: 'authorization_pending' })
  await decide(device.user_code, 'approve')
  expect((await flow.photos((await poll()).access_token)).status).toBe(200)
})

describe('x/oauth2 for Go, whose polls come by Basic and at once again in the body', () => {
  const folder = mkdtempSync(join(tmpdir(), 'go-'))
  const binary = join(folder, 'device')
  beforeAll(() => {
    const environment = { GOPATH: goPath, GO111MODULE: 'off', GOFLAGS: '', GOCACHE: join(folder, 'cache') }
    const { status, error, stderr } = spawnSync(
      requireProgram(goProgram),
      ['build', '-o', binary, join(__dirname, 'device.go')],
      { env: { ...process.env, ...environment }, encoding: 'utf8', timeout: 240_000 },
    )
    if (status !== 0)
      throw new Error(`Go did not build the device within 4 minutes:\n${stderr}`, { cause: error })
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test.each(['approve', 'deny'] as const)(
    'waits at the usual pace until its owner decides: %s',
    async (decision) => {
      const { next, ended } = started(binary, [issuer, client_id])
      const { user_code, status } = await next()
      expect(status).toBe(200)
      for (let polls = 0; polls < 3; polls += 1)
        expect(await next()).toEqual({ heard: 'authorization_pending' })
      await decide(String(user_code), decision)
      let last = await next()
      while (last['heard'] === 'authorization_pending') last = await next()
      const heard = [last['heard']].flat().filter((code) => code !== 'authorization_pending')
      expect(heard).toEqual(decision === 'deny' ? ['access_denied'] : [])
      const tokens = [last['first'], last['second']].filter((token) => typeof token === 'string')
      const answers = await Promise.all(tokens.map((token) => flow.photos(token)))
      expect(answers.map((answer) => answer.status)).toEqual(decision === 'deny' ? [] : [200, 200])
      await ended
    },
  )
})

/** A device that tells lines of JSON. */
function started(program: string, words: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  const device = spawn(program, words, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...environment },
  })
  const ended = once(device, 'close')
  const lines = createInterface({ input: device.stdout })[Symbol.asyncIterator]()
  const next = async (): Promise<Readonly<Record<string, unknown>>> => {
    const { value, done } = await lines.next()
    if (done === true) throw new Error('The device ended without a word.')
    return JSON.parse(value)
  }
  return { next, ended }
}

test.each([
  ['approve', { photos: 200 }],
  ['deny', { photos: null }],
] as const)('oauthlib for Python polls until its owner has decided: %s', async (decision, outcome) => {
  const words = [join(__dirname, 'device.py'), issuer, client_id]
  const insecure = { OAUTHLIB_INSECURE_TRANSPORT: '1' }
  const { next, ended } = started(requireProgram(pythonProgram), words, insecure)
  await decide(String((await next())['user_code']), decision)
  const { heard, ...rest } = await next()
  expect(rest).toEqual(outcome)
  expect(heard).toEqual(decision === 'deny' ? ['access_denied'] : [])
  await ended
})
