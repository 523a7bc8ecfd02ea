import { bent, type ClientApplication } from '../../support/flows/clients'
import { type Check, runConformanceTool } from './conformance-tool'
import { freePort } from '../../support/mcp/free-port'
import { cloud, desk } from '../../support/mcp/mcp-clients'
import { type McpScene, startMcp } from '../../support/mcp/stage'

const scenes: readonly (readonly [string, ClientApplication, Partial<McpScene>])[] = [
  ['a public client', desk, {}],
  ['a public client, at an issuer with a path', desk, { issuerPath: '/tenants/one' }],
  ['a confidential client', cloud, { document: withoutPublicClients }],
]

test.each(scenes)('the conformance tool of MCP finds no fault with %s', async (_name, client, scene) => {
  const port = await freePort()
  const { registration, secret } = bent(client, { redirect_uris: [`http://127.0.0.1:${port}/callback`] })
  const stage = await startMcp({ mcp: { clients: [registration] }, ...scene })
  const checks = await runConformanceTool({
    url: stage.issuer,
    clientId: registration.client_id,
    ...(secret !== undefined && { clientSecret: secret }),
    resource: stage.server,
    port,
  })
  await stage.close()
  expect(checks.map(wordsOf).toSorted()).toEqual([
    'authorization-code-grant: SUCCESS',
    'authorization-server-metadata-cimd: SUCCESS',
    'authorization-server-metadata: SUCCESS',
  ])
})

const wordsOf = ({ id, status, errorMessage }: Check) =>
  [`${id}: ${status}`, errorMessage].filter(Boolean).join(', ')

/**
 * What a host publishes that registers confidential clients only. The tool keeps the secret to itself where a server
 * lists `none`, although a client that has a secret must authenticate (RFC 6749 3.2.1).
 */
function withoutPublicClients(metadata: Record<string, unknown>): Record<string, unknown> {
  const name = 'token_endpoint_auth_methods_supported'
  const methods: readonly unknown[] = [metadata[name]].flat()
  return { ...metadata, [name]: methods.filter((method) => method !== 'none') }
}
