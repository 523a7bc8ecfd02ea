import { once } from 'node:events'
import { createServer } from 'node:http'
import express from 'express'
import { addNotes } from '../../../docs/examples/mcp'
import { createAuthorizationServer } from '../../../lib/index'
import { mcp } from '../../../lib/paths/mcp'
import { redisStore } from '../../../lib/paths/redis'
import { withoutLimits } from '../../support/flows/application'
import { listening } from '../../support/listening'
import { freePort } from '../../support/mcp/free-port'
import { desk } from '../../support/mcp/mcp-clients'
import { runClient } from '../../support/mcp/run-client'
import { startRedis } from '../../support/redis-server'
import { read, runExample } from './example'

const page = read('docs/mcp.md')
const redirectUri = 'http://127.0.0.1:3333/callback'
const client = { kind: 'known', clientId: desk.registration.client_id, redirectUri } as const
const clients = [{ ...desk.registration, scope: 'notes:read notes:write' }]
const resourceOwner = (request: express.Request) => request.get('X-Owner')

async function open() {
  const http = createServer()
  const { port, close } = await listening(http, { address: 'localhost' })
  return { http, issuer: `http://localhost:${port}`, close }
}

test('the server registers every redirection URI of the known clients, but a scheme that the host does not admit', async () => {
  const { http, issuer, close } = await open()
  const app = express()
  addNotes(app, { issuer, resourceOwner, dynamicRegistration: { registerAllScopes: true } })
  http.on('request', app)
  const [, table = ''] = /^## Known clients\n(.*?)^- /ms.exec(page) ?? []
  const written = table.matchAll(/`([a-z]+:\/\/[^`]+)`/g)
  const uris = Array.from(written, ([, uri = '']) => uri.replace('PORT', '15396').replace('…', 'a1'))
  const answer = await fetch(`${issuer}/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: uris, token_endpoint_auth_method: 'none' }),
  })
  const registered: unknown = await answer.json()
  await close()
  expect(uris).toHaveLength(10)
  const others = uris.filter((uri) => !uri.startsWith('cursor:'))
  expect(registered).toMatchObject({ redirect_uris: expect.arrayContaining(others) })
  expect(registered).not.toMatchObject({ redirect_uris: expect.arrayContaining(uris) })
})

describe('the MCP server behind a login', () => {
  let issuer: string
  let close: () => Promise<void>
  beforeAll(async () => {
    const opened = await open()
    ;({ issuer, close } = opened)
    const app = express()
    addNotes(app, { issuer, resourceOwner, clients })
    opened.http.on('request', app)
  })
  afterAll(() => close())

  test('leads a client from one 401 to the authorization server', async () => {
    const refused = await fetch(`${issuer}/mcp`, { method: 'POST' })
    expect(refused.status).toBe(401)
    const [, url = ''] =
      /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '') ?? []
    expect(await (await fetch(url)).json()).toMatchObject({
      resource: `${issuer}/mcp`,
      authorization_servers: [issuer],
      scopes_supported: ['notes:read'],
    })
    const metadata: unknown = await (await fetch(`${issuer}/.well-known/oauth-authorization-server`)).json()
    expect(metadata).toMatchObject({ issuer, client_id_metadata_document_supported: true })
  })

  test.each([1, 2] as const)(
    'lets a client of generation %s list notes, and write one after a step-up',
    async (generation) => {
      const note = `from generation ${generation}`
      const { results, requests, error } = await runClient({
        generation,
        server: `${issuer}/mcp`,
        issuer,
        client,
        tools: ['list_notes', 'write_note', 'list_notes'],
        arguments: { write_note: { text: note } },
      })
      expect(error).toBeUndefined()
      expect(results).toEqual([expect.not.stringContaining(note), 'Written.', expect.stringContaining(note)])
      // The newer SDK asks for what the metadata list, and so keeps its refresh token.
      const further = generation === 1 ? '' : ' offline_access'
      expect(requests.map((request) => request.get('scope'))).toEqual([
        `notes:read${further}`,
        `notes:read notes:write${further}`,
      ])
    },
  )

  test('lets mcp-remote write a note after a step-up', async () => {
    const port = await freePort()
    const { results, error } = await runClient({
      generation: 'remote',
      server: `${issuer}/mcp`,
      issuer,
      client: { ...client, redirectUri: `http://127.0.0.1:${port}/oauth/callback` },
      tools: ['list_notes', 'write_note'],
      arguments: { write_note: { text: 'from far away' } },
    })
    expect({ error, last: results.at(-1) }).toEqual({ error: undefined, last: 'Written.' })
  })
})

test('the MCP server in a process of its own takes tokens of the authorization server on its Redis', async () => {
  const redis = await startRedis()
  const { http, issuer, close } = await open()
  const port = await freePort()
  const server = `http://localhost:${port}/mcp`
  const scopes = { 'notes:read': 'Read your notes', 'notes:write': 'Write notes for you' }
  const store = redisStore({ url: redis.url })
  const oauth = createAuthorizationServer({
    issuer,
    ...mcp({ resource: server, scopes, clients }),
    resourceOwner,
    store,
    ...withoutLimits,
  })
  http.on('request', express().use(oauth.router()))
  const child = runExample('mcp-server-process.ts', {
    ISSUER: issuer,
    REDIS_URL: redis.url,
    PORT: String(port),
  })
  try {
    await once(child, 'message')
    const run = await runClient({ generation: 2, server, issuer, client, tools: ['whoami'] })
    expect(run).toMatchObject({ error: undefined, results: ['alice'] })
  } finally {
    child.kill()
    await once(child, 'exit')
    await oauth.close()
    await close()
    await redis.stop()
  }
  // It stops in good order.
  expect(child.exitCode).toBe(0)
})
