import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as second from '@modelcontextprotocol/client'
import * as first from '@modelcontextprotocol/sdk/client/auth.js'
import { memoryDynamicClients } from '../../../lib/index'
import { Clock } from '../../support/flows/clock'
import type { ClientPlan } from '../../support/mcp/client-plan'
import { freePort } from '../../support/mcp/free-port'
import { runClient } from '../../support/mcp/run-client'
import { type McpStage, startMcp } from '../../support/mcp/stage'

const grantTypes = ['authorization_code', 'refresh_token', 'client_credentials']
const day = 24 * 3600

let stage: McpStage
let clock: Clock

beforeEach(async () => {
  clock = new Clock()
  const store = memoryDynamicClients({ clock: clock.read })
  stage = await startMcp({ options: { clock: clock.read, dynamicRegistration: { store, grantTypes } } })
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

describe('mcp-remote', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'mcp-remote-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const runs = async () => {
    const redirectUri = `http://127.0.0.1:${await freePort()}/oauth/callback`
    const { server, issuer } = stage
    return (plan: Partial<ClientPlan>) =>
      runClient({
        generation: 'remote',
        server,
        issuer,
        client: { kind: 'dynamic', redirectUri },
        tools: ['whoami'],
        folder,
        ...plan,
      })
  }
  const registrations = () => stage.asked.filter((request) => request === 'POST /register').length

  test('keeps its registration from run to run', async () => {
    const run = await runs()
    expect((await run({})).results).toHaveLength(1)
    const again = await run({})
    expect(again.results).toHaveLength(1)
    expect(again.requests).toHaveLength(0)
    expect(registrations()).toBe(1)
  })

  test('registers again where its registration has ended before its owner has decided', async () => {
    const run = await runs()
    const left = await run({ ownerLeaves: true })
    expect(left.requests).toHaveLength(1)
    clock.advance(3601)
    // It learns that from the authorization endpoint, and registers. This version then takes its own next attempt for
    // one of another process and opens no page, until its owner starts it again.
    await run({ ownerLeaves: true })
    expect(registrations()).toBe(2)
    const { results, error } = await run({})
    expect(error).toBeUndefined()
    expect(results).toHaveLength(1)
    expect(registrations()).toBe(2)
  })

  test('registers again where its registration and its tokens have ended', async () => {
    const run = await runs()
    expect((await run({})).results).toHaveLength(1)
    clock.advance(91 * day)
    const { results, error } = await run({})
    expect(error).toBeUndefined()
    expect(results).toHaveLength(1)
    expect(registrations()).toBe(2)
  })
})
