import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import * as oauth from 'oauth4webapi'
import * as client from 'openid-client'
import { deviceAuthorization } from '../../../lib/paths/devices'
import { foreignStage } from '../../support/clients/foreign-stage'
import { discovered, insecure, Party } from '../../support/clients/oauth4webapi'
import { consentFormOf } from '../../support/flows/consent-form'
import { deviceSecret, television } from '../../support/flows/device-stage'
import { goPath, goProgram, pythonProgram, requireProgram } from '../../support/program'

const { client_id } = television.registration
const stage = foreignStage(() => ({
  clients: [television.registration],
  plugins: [deviceAuthorization({ secret: deviceSecret, interval: 1 })],
}))
const photos = async (token: string) => (await stage().flow.photos(token)).status

async function decide(userCode: string, decision: 'approve' | 'deny'): Promise<void> {
  const { flow } = stage()
  const page = await flow.enterCode({ user_code: userCode }, 'alice')
  await flow.submit('/device', { ...consentFormOf(page, '/device').fields, decision }, 'alice')
}

describe('openid-client', () => {
  const asked = async () => {
    const config = await client.discovery(new URL(stage().issuer), client_id, undefined, client.None(), {
      algorithm: 'oauth2',
      execute: [client.allowInsecureRequests],
    })
    return { config, device: await client.initiateDeviceAuthorization(config, { scope: 'photos:read' }) }
  }

  test('gets the tokens of a device, and refreshes them', async () => {
    const { config, device } = await asked()
    expect(device.verification_uri_complete).toContain(device.user_code)
    const polled = client.pollDeviceAuthorizationGrant(config, device)
    await decide(device.user_code, 'approve')
    const { access_token, refresh_token = '' } = await polled
    expect(await photos(access_token)).toBe(200)
    expect(await photos((await client.refreshTokenGrant(config, refresh_token)).access_token)).toBe(200)
  })

  test('hears that its owner refused', async () => {
    const { config, device } = await asked()
    await decide(device.user_code, 'deny')
    await expect(client.pollDeviceAuthorizationGrant(config, device)).rejects.toMatchObject({
      error: 'access_denied',
    })
  })
})

test('oauth4webapi hears authorization_pending, and gets the tokens of a device', async () => {
  const { server, client: own, authentication } = new Party(await discovered(stage().issuer), client_id)
  const scope = { scope: 'photos:read' }
  const asked = await oauth.deviceAuthorizationRequest(server, own, authentication, scope, insecure)
  const device = await oauth.processDeviceAuthorizationResponse(server, own, asked)
  const poll = async () => {
    const given = [server, own, authentication, device.device_code] as const
    return oauth.processDeviceCodeResponse(
      server,
      own,
      await oauth.deviceCodeGrantRequest(...given, insecure),
    )
  }
  await expect(poll()).rejects.toMatchObject({ error: 'authorization_pending' })
  await decide(device.user_code, 'approve')
  expect(await photos((await poll()).access_token)).toBe(200)
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
      const { next, ended } = started(binary, [stage().issuer, client_id])
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
      expect(await Promise.all(tokens.map(photos))).toEqual(decision === 'deny' ? [] : [200, 200])
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
  const words = [join(__dirname, 'device.py'), stage().issuer, client_id]
  const overHttp = { OAUTHLIB_INSECURE_TRANSPORT: '1' }
  const { next, ended } = started(requireProgram(pythonProgram), words, overHttp)
  await decide(String((await next())['user_code']), decision)
  const { heard, ...rest } = await next()
  expect(rest).toEqual(outcome)
  // A slow machine decides after the first poll.
  const heardAtLast = [heard].flat().filter((code) => code !== 'authorization_pending')
  expect(heardAtLast).toEqual(decision === 'deny' ? ['access_denied'] : [])
  await ended
})
