/** A host that serves the example of docs/mcp.md behind its login, and a client that calls it, as a program. */
export const mcpHost = `import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import express from 'express'
import { approve } from 'express-authorization-server/testing'
import request from 'supertest'
import { addNotes } from './mcp'

const redirectUri = 'http://127.0.0.1/callback'
const desk = {
  client_id: 'desk',
  client_type: 'public',
  redirect_uris: [redirectUri],
  scope: 'notes:read notes:write',
} as const

async function run(): Promise<void> {
  const app = express()
  const server = createServer(app).listen(0, 'localhost')
  await once(server, 'listening')
  const address = server.address()
  const issuer = 'http://localhost:' + (typeof address === 'object' ? address?.port : '')
  addNotes(app, { issuer, resourceOwner: () => ({ subject: 'ada' }), clients: [desk] })

  const refused = await fetch(issuer + '/mcp', { method: 'POST' })
  assert.equal(refused.status, 401)
  const [, url = ''] = /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '') ?? []
  const document: any = await (await fetch(url)).json()
  assert.equal(document.resource, issuer + '/mcp')
  assert.deepEqual(document.authorization_servers, [issuer])

  const { tokens } = await approve(request(app), { clientId: 'desk', redirectUri })
  const headers = { Authorization: 'Bearer ' + tokens.access_token }
  const client = new Client({ name: 'desk', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(issuer + '/mcp'), { requestInit: { headers } }))
  const call = async (name: string, given: Record<string, unknown>) =>
    JSON.stringify((await client.callTool({ name, arguments: given })).content)
  assert.match(await call('write_note', { text: 'Buy milk' }), /Written/)
  assert.match(await call('list_notes', {}), /Buy milk/)
  await client.close()
  server.closeAllConnections()
  server.close()
}

run().then(() => console.log('served'))
`
