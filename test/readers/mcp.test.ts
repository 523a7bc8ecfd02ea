import express from 'express'
import request from 'supertest'
import { ConfigurationError, createAuthorizationServer } from '../../lib/index'
import { mcp, type McpOptions } from '../../lib/paths/mcp'
import { Flow } from '../support/flows/flow'

const issuer = 'http://localhost'
const resource = 'http://localhost/mcp'
const scopes = { 'notes:read': 'Read your notes', 'notes:write': 'Write notes' }
const desktop = {
  client_id: 'desktop',
  client_type: 'public',
  redirect_uris: ['http://127.0.0.1/callback'],
  scope: 'notes:read notes:write',
} as const

/** A host with a logged-in owner, and a guarded route that tells what the guard says of the token. */
function hostWith(options: McpOptions, further: object = {}) {
  const oauth = createAuthorizationServer({
    issuer,
    ...mcp(options),
    resourceOwner: () => 'ada',
    ...further,
  })
  const app = express().use(oauth.router(), oauth.protectedResource())
  app.all('/mcp', oauth.bearerGuard('notes:read'), (_request, response) => void response.json({}))
  return { oauth, app }
}

/** The error that the client gets for a request with these parameters. */
async function errorFor(app: express.Express, parameters: Readonly<Record<string, string>>) {
  const { headers } = await request(app)
    .get('/authorize')
    .query({ response_type: 'code', client_id: 'desktop', ...parameters })
  return new URL(headers['location'] ?? 'none:').searchParams.get('error')
}

const messagesOf = (make: () => unknown): readonly string[] => {
  try {
    make()
    return []
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    return error.issues.map(({ path }) => path)
  }
}

const pkce = { code_challenge: 'A'.repeat(43), code_challenge_method: 'S256' }

describe('mcp()', () => {
  it('announces metadata documents, PKCE and the scopes, and no registration', async () => {
    const { app } = hostWith({ resource, scopes })
    const { body } = await request(app).get('/.well-known/oauth-authorization-server')
    expect(body).toMatchObject({
      client_id_metadata_document_supported: true,
      code_challenge_methods_supported: ['S256'],
      scopes_supported: [...Object.keys(scopes), 'offline_access'],
    })
    expect(body).not.toHaveProperty('registration_endpoint')
  })

  it('returns the options of a server that gives every scope, whose clients use PKCE and whose guards serve browsers of every origin', () => {
    expect(mcp({ resource, scopes })).toEqual({
      scopes,
      defaultScope: 'notes:read notes:write',
      resources: { [resource]: { scopes: ['notes:read', 'notes:write'] } },
      defaultResource: resource,
      clients: expect.anything(),
      pkce: 'all',
      redirectUris: 'https or loopback',
      guards: { authInfo: true, cors: true },
      offlineAccess: true,
    })
    expect(mcp({ resource, scopes, defaultScope: 'notes:read' }).defaultScope).toBe('notes:read')
  })

  it('lets clients ask for offline_access, which has no effect, and shows it in its own metadata alone', async () => {
    const registration = { ...desktop, grant_types: ['authorization_code', 'refresh_token'] }
    const { app } = hostWith({ resource, scopes, clients: [registration] }, { plugins: [] })
    const { body } = await request(app).get('/.well-known/oauth-authorization-server')
    expect(body.scopes_supported).toContain('offline_access')
    const refused = await request(app).post('/mcp').expect(401)
    const document = await request(app).get('/.well-known/oauth-protected-resource/mcp').expect(200)
    for (const said of [JSON.stringify(refused.headers), document.text])
      expect(said).not.toContain('offline_access')
    const flow = new Flow(app)
    const asked = { scope: 'notes:read offline_access' }
    const { body: tokens } = await flow.redeem({ registration }, await flow.approve({ registration }, asked))
    const { body: refreshed } = await flow.refresh({ registration }, tokens.refresh_token, asked)
    expect([tokens.scope, refreshed.scope]).toEqual(['notes:read', 'notes:read'])
    expect(await errorFor(app, { scope: 'notes:read offline_acces', ...pkce })).toBe('invalid_scope')
  })

  it.each([
    ['a list', ['http://localhost/mcp', 'http://localhost/more'] as const],
    ['names', { 'http://localhost/mcp': 'Notes', 'http://localhost/more': 'More' }],
  ])('takes the first of several MCP servers in %s for requests that name none', (_form, others) => {
    expect(mcp({ resource: others, scopes })).toMatchObject({
      defaultResource: 'http://localhost/mcp',
      resources: { 'http://localhost/mcp': {}, 'http://localhost/more': {} },
    })
  })

  it('names an MCP server in one place, for the consent page and for the metadata', async () => {
    const { app } = hostWith({ resource: { [resource]: 'Notes of Ada' }, scopes, clients: [desktop] })
    const query = { response_type: 'code', client_id: 'desktop', code_challenge: 'A'.repeat(43) }
    const page = await request(app)
      .get('/authorize')
      .query({ ...query, code_challenge_method: 'S256' })
    expect(page.text).toMatch(/Access to[^]*Notes of Ada[^]*http:\/\/localhost\/mcp/)
    const { body } = await request(app).get('/.well-known/oauth-protected-resource/mcp')
    expect(body).toMatchObject({ resource, resource_name: 'Notes of Ada' })
  })

  it.each([
    ['without the scheme of its app', {}, 2],
    ['with it, where the host admits it', { redirectUris: { schemes: ['cursor'] } }, 3],
  ])('lets Cursor register %s', async (_how, admitted, count) => {
    const { app } = hostWith(
      { resource, scopes },
      { dynamicRegistration: { registerAllScopes: true }, ...admitted },
    )
    const redirect_uris = [
      'http://localhost:8787/callback',
      'https://www.cursor.com/agents/mcp/oauth/callback',
      'cursor://anysphere.cursor-mcp/oauth/callback',
    ]
    const metadata = { client_name: 'Cursor', token_endpoint_auth_method: 'none', redirect_uris }
    const { status, body } = await request(app).post('/register').send(metadata)
    expect(status).toBe(201)
    expect(body.redirect_uris.toSorted()).toEqual(redirect_uris.slice(0, count).toSorted())
  })

  it('refuses clients whose redirection URI another app can claim', () => {
    const clients = [{ ...desktop, redirect_uris: ['com.example.app:/callback'] }]
    expect(messagesOf(() => hostWith({ resource, scopes, clients }))).toEqual([
      'clients.registered[0].redirect_uris[0]',
    ])
  })

  it.each([
    ['no resource', { scopes }, ['resource']],
    ['an empty list of resources', { resource: [], scopes }, ['resource']],
    ['a resource without a host', { resource: 'urn:example:mcp', scopes }, ['resource']],
    ['a resource at plain http', { resource: [resource, 'http://api.example/mcp'], scopes }, ['resource']],
    ['a resource with a password', { resource: 'https://a:b@api.example/mcp', scopes }, ['resource']],
    ['no resource among names', { resource: {}, scopes }, ['resource']],
    ['a resource without a text for its name', { resource: { [resource]: '' }, scopes }, ['resource']],
    ['a named resource at plain http', { resource: { 'http://api.example/mcp': 'A' }, scopes }, ['resource']],
    ['no scopes', { resource }, ['scopes']],
    ['a scope without a text', { resource, scopes: { 'notes:read': '' } }, ['scopes']],
    ['an unknown option', { resource, scopes, registration: true }, ['registration']],
    ['several mistakes at once', { resource: 7, scope: 'notes:read' }, ['resource', 'scopes', 'scope']],
  ])('refuses %s at construction', (_what, options, paths) => {
    expect(messagesOf(() => Reflect.apply(mcp, undefined, [options]))).toEqual(paths)
  })

  it('leaves mistakes in the values of other options to the server, which lists them', () => {
    expect(messagesOf(() => hostWith({ resource: 'not a URL', scopes }))).toContainEqual(
      expect.stringMatching(/^resources/),
    )
    expect(messagesOf(() => hostWith({ resource, scopes, defaultScope: 'other' }))).toEqual(['defaultScope'])
  })
})
