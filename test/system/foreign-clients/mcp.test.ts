import { jwtBearer } from '../../../lib/paths/grants'
import { privateKeyJwt } from '../../../lib/paths/jwt'
import { issuers } from '../../support/assertions/jwt'
import { DocumentOrigin } from '../../support/flows/document-origin'
import type { ClientIdentity, ClientPlan } from '../../support/mcp/client-plan'
import { freePort } from '../../support/mcp/free-port'
import { IdentityProvider, idToken } from './identity-provider'
import { cloud, company, desk, keyRobot, mcpClients, robot } from '../../support/mcp/mcp-clients'
import { runClient } from '../../support/mcp/run-client'
import { type McpStage, startMcp } from '../../support/mcp/stage'

const redirectUri = 'http://127.0.0.1:3333/callback'
const scope = 'mcp:read mcp:write'

let origin: DocumentOrigin
let provider: IdentityProvider

beforeAll(async () => {
  origin = await DocumentOrigin.start()
  origin.members = { redirect_uris: ['http://127.0.0.1/callback', 'http://127.0.0.1/oauth/callback'] }
  provider = await IdentityProvider.start(company.registration.client_id)
})
afterAll(async () => {
  await origin.stop()
  await provider.close()
})

const identities: Readonly<Record<string, () => ClientIdentity>> = {
  'by a document': () => ({ kind: 'document', url: origin.clientId, redirectUri }),
  'as a client that registers itself': () => ({ kind: 'dynamic', redirectUri }),
  'as a known public client': () => ({ kind: 'known', clientId: desk.registration.client_id, redirectUri }),
  'as a known confidential client': () => ({
    kind: 'known',
    clientId: cloud.registration.client_id,
    clientSecret: cloud.secret,
    redirectUri: 'https://cloud.example/callback',
  }),
  'by client credentials with a secret': () => ({
    kind: 'secret',
    clientId: robot.registration.client_id,
    clientSecret: robot.secret,
    scope,
  }),
  'by client credentials with a key': () => ({
    kind: 'key',
    clientId: keyRobot.registration.client_id,
    privateKey: keyRobot.privateKey,
    algorithm: 'ES256',
    scope,
  }),
  'by an ID-JAG': () => ({
    kind: 'id-jag',
    clientId: company.registration.client_id,
    clientSecret: company.secret,
    identityProvider: provider.url,
    idToken,
  }),
}

/** The identifier of a client, as far as it knows it; one that registers itself is told its own. */
function idOf(client: ClientIdentity): string {
  if (client.kind === 'dynamic') return 'dynamic_'
  return client.kind === 'document' ? client.url : client.clientId
}

// mcp-registration.test.ts shows an issuer without a path, and how mcp-remote registers.
describe('at an issuer with a path', () => {
  let stage: McpStage

  beforeAll(async () => {
    stage = await startMcp({
      issuerPath: '/tenants/one',
      mcp: { clients: mcpClients, ...origin.reach },
      options: {
        dynamicRegistration: {},
        plugins: [privateKeyJwt(), jwtBearer({ identityProviders: issuers, resourceOwner: () => 'alice' })],
      },
    })
  })
  afterAll(() => stage.close())

  const run = (generation: ClientPlan['generation'], client: ClientIdentity, tools: readonly string[]) =>
    runClient({ generation, server: stage.server, issuer: stage.issuer, client, tools })

  describe.each([1, 2] as const)('generation %s of the MCP client', (generation) => {
    test.each(Object.entries(identities))('goes from 401 to a result %s', async (_name, identity) => {
      const client = identity()
      const { results, error } = await run(generation, client, ['whoami'])
      expect(error).toBeUndefined()
      expect(JSON.parse(results[0] ?? '')).toMatchObject({
        clientId: expect.stringContaining(idOf(client)),
        scopes: expect.arrayContaining(['mcp:read']),
        resource: stage.server,
      })
    })

    test.each([
      ['a guard', 'write-note'],
      ['requireScopes() of the SDK', 'edit-note'],
    ])('reaches a tool for which %s demands one scope more', async (_demands, tool) => {
      const client: ClientIdentity = { kind: 'known', clientId: desk.registration.client_id, redirectUri }
      const { results, requests, error } = await run(generation, client, ['whoami', tool, 'whoami'])
      expect(error).toBeUndefined()
      expect(results).toHaveLength(3)
      // The newer SDK asks for what the metadata list, if it may refresh.
      const asked = requests.map((request) => request.get('scope')?.replace(' offline_access', ''))
      expect(asked).toEqual(['mcp:read', scope])
      expect(requests.map((request) => request.get('resource'))).toEqual([stage.server, stage.server])
    })
  })

  test('mcp-remote goes from 401 to a result by a document, and reaches a tool that needs one scope more', async () => {
    const callback = `http://127.0.0.1:${await freePort()}/oauth/callback`
    const client: ClientIdentity = { kind: 'document', url: origin.clientId, redirectUri: callback }
    const { results, error } = await run('remote', client, ['whoami', 'write-note'])
    expect(error).toBeUndefined()
    expect(results).toEqual([expect.any(String), 'written'])
    expect(JSON.parse(results[0] ?? '')).toMatchObject({ clientId: origin.clientId, resource: stage.server })
  })
})
