import { cloud, desk, mcpClients, robot } from '../support/mcp/mcp-clients'
import type { ClientIdentity } from '../support/mcp/client-plan'
import { freePort } from '../support/mcp/free-port'
import { runClient } from '../support/mcp/run-client'
import { startMcp, type McpStage } from '../support/mcp/stage'

const redirectUri = 'http://127.0.0.1:3333/callback'

const identities = {
  'known and public': { kind: 'known', clientId: desk.registration.client_id, redirectUri },
  'known and confidential': {
    kind: 'known',
    clientId: cloud.registration.client_id,
    clientSecret: cloud.secret,
    redirectUri: 'https://cloud.example/callback',
  },
  'client credentials': {
    kind: 'secret',
    clientId: robot.registration.client_id,
    clientSecret: robot.secret,
    scope: 'mcp:read mcp:write',
  },
} satisfies Record<string, ClientIdentity>

describe.each([
  ['without a path', ''],
  ['with a path', '/tenants/one'],
])('at an issuer %s', (_where, issuerPath) => {
  let stage: McpStage

  beforeAll(async () => {
    stage = await startMcp({ issuerPath, clients: mcpClients })
  })
  afterAll(() => stage.close())

  test.each(
    ([1, 2] as const).flatMap((generation) =>
      Object.entries(identities).map(([name, client]) => [generation, name, client] as const),
    ),
  )('generation %s of the MCP client goes from 401 to a result: %s', async (generation, _name, client) => {
    const { server, issuer } = stage
    const { results, error } = await runClient({ generation, server, issuer, client, tools: ['whoami'] })
    expect(error).toBeUndefined()
    const [whoami = ''] = results
    expect(JSON.parse(whoami)).toMatchObject({ clientId: client.clientId })
  })

  test.each([1, 2] as const)(
    'generation %s of the MCP client reaches a tool that needs one scope more',
    async (generation) => {
      const { server, issuer } = stage
      const client = identities['known and public']
      const tools = ['whoami', 'write-note', 'whoami']
      const { results, requests, error } = await runClient({ generation, server, issuer, client, tools })
      expect(error).toBeUndefined()
      expect(results).toHaveLength(3)
      expect(requests.map((request) => request.get('scope'))).toEqual(['mcp:read', 'mcp:read mcp:write'])
    },
  )

  test('mcp-remote goes from 401 to a result, and reaches a tool that needs one scope more', async () => {
    const { server, issuer } = stage
    const port = await freePort()
    const client = {
      ...identities['known and public'],
      redirectUri: `http://127.0.0.1:${port}/oauth/callback`,
    }
    const tools = ['whoami', 'write-note']
    const { results, error } = await runClient({ generation: 'remote', server, issuer, client, tools })
    expect(error).toBeUndefined()
    expect(results).toHaveLength(2)
  })
})
