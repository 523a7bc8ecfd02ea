import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as second from '@modelcontextprotocol/client'
import * as first from '@modelcontextprotocol/sdk/client/auth.js'
import { memoryStore } from '../../../lib/index'
import { Clock } from '../../support/flows/clock'
import { freePort } from '../../support/mcp/free-port'
import { runClient } from '../../support/mcp/run-client'
import { type McpStage, startMcp } from '../../support/mcp/stage'

const grantTypes = ['authorization_code', 'refresh_token', 'client_credentials']
const day = 24 * 3600

let stage: McpStage
let clock: Clock

beforeEach(async () => {
  clock = new Clock()
  const store = memoryStore({ clock: clock.read })
  stage = await startMcp({ options: { store, clock: clock.read, dynamicRegistration: { grantTypes } } })
})
afterEach(() => stage.close())

const callback = 'http://127.0.0.1:3333/callback'

describe.each([
  ['1', first.registerClient],
  ['2', second.registerClient],
] as const)('generation %s of the SDK', (_generation, registerClient) => {
  test.each([
    ['a public client', { token_endpoint_auth_method: 'none', redirect_uris: [callback] }],
    ['a confidential client', { redirect_uris: [callback] }],
    ['a client that acts for itself', { redirect_uris: [], grant_types: ['client_credentials'] }],
  ])('accepts the registration of %s', async (_name, clientMetadata) => {
    const client = await registerClient(stage.issuer, { clientMetadata })
    expect(client.client_id).toMatch(/^dynamic_/)
    expect(client.redirect_uris).toEqual(clientMetadata.redirect_uris)
    expect(Object.values(client)).not.toContain(null)
  })

  test('says why a registration was refused', async () => {
    const clientMetadata = { redirect_uris: ['http://notes.example/callback'] }
    await expect(registerClient(stage.issuer, { clientMetadata })).rejects.toThrow('redirect_uris must be')
  })
})

test('mcp-remote keeps its registration from run to run, and registers again where that and its tokens have ended', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mcp-remote-'))
  const redirectUri = `http://127.0.0.1:${await freePort()}/oauth/callback`
  const { server, issuer } = stage
  const client = { kind: 'dynamic', redirectUri } as const
  const plan = { generation: 'remote', server, issuer, client, tools: ['whoami'], folder } as const
  const registrations = () => stage.asked.filter((request) => request === 'POST /register').length
  try {
    expect((await runClient(plan)).results).toHaveLength(1)
    const again = await runClient(plan)
    expect([again.results.length, again.requests.length, registrations()]).toEqual([1, 0, 1])
    clock.advance(91 * day)
    const { results, error } = await runClient(plan)
    expect(error).toBeUndefined()
    expect([results.length, registrations()]).toEqual([1, 2])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
