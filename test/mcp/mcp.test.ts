import express from 'express'
import request from 'supertest'
import { ConfigurationError, createAuthorizationServer, mcp, type McpOptions } from '../../lib/index'

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

describe('mcp()', () => {
  it('announces metadata documents, PKCE and the scopes, and no registration', async () => {
    const { app } = hostWith({ resource, scopes })
    const { body } = await request(app).get('/.well-known/oauth-authorization-server')
    expect(body).toMatchObject({
      client_id_metadata_document_supported: true,
      code_challenge_methods_supported: ['S256'],
      scopes_supported: Object.keys(scopes),
    })
    expect(body).not.toHaveProperty('registration_endpoint')
  })

  it('lets a client find everything from one 401', async () => {
    const { app } = hostWith({ resource, scopes })
    const refused = await request(app).post('/mcp').expect(401)
    expect(refused.headers['www-authenticate']).toBe(
      'Bearer realm="oauth", scope="notes:read", resource_metadata="http://localhost/.well-known/oauth-protected-resource/mcp"',
    )
    const { body } = await request(app).get('/.well-known/oauth-protected-resource/mcp').expect(200)
    expect(body).toMatchObject({
      resource,
      authorization_servers: [issuer],
      scopes_supported: Object.keys(scopes),
    })
  })

  it('lets browsers of every origin call the MCP server', async () => {
    const { app } = hostWith({ resource, scopes })
    const { status, headers } = await request(app)
      .options('/mcp')
      .set({ Origin: 'https://inspector.example', 'Access-Control-Request-Method': 'POST' })
    expect(status).toBe(204)
    expect(headers['access-control-allow-origin']).toBe('*')
  })

  it('demands PKCE of every client, a confidential one included', async () => {
    const { app } = hostWith({
      resource,
      scopes,
      clients: [
        {
          ...desktop,
          client_type: 'confidential',
          client_secret_hashes: [`sha256:${'A'.repeat(43)}`],
        },
      ],
    })
    expect(await errorFor(app, {})).toBe('invalid_request')
  })

  it('gives every scope to a request that names none, unless defaultScope says otherwise', async () => {
    const pkce = { code_challenge: 'A'.repeat(43), code_challenge_method: 'S256' }
    const pageOf = async (options: McpOptions) => {
      const { app } = hostWith({ ...options, clients: [desktop] })
      const query = { response_type: 'code', client_id: 'desktop', ...pkce }
      return (await request(app).get('/authorize').query(query).expect(200)).text
    }
    const every = await pageOf({ resource, scopes })
    expect(every).toContain('Read your notes')
    expect(every).toContain('Write notes')
    expect(await pageOf({ resource, scopes, defaultScope: 'notes:read' })).not.toContain('Write notes')
  })

  it('takes the first of several MCP servers for requests that name none', () => {
    const others = ['http://localhost/mcp', 'http://localhost/more'] as const
    expect(mcp({ resource: others, scopes })).toMatchObject({
      defaultResource: 'http://localhost/mcp',
      resources: { 'http://localhost/mcp': {}, 'http://localhost/more': {} },
    })
  })

  it('refuses clients whose redirection URI another app can claim', () => {
    const clients = [{ ...desktop, redirect_uris: ['com.example.app:/callback'] }]
    expect(messagesOf(() => hostWith({ resource, scopes, clients }))).toEqual([
      'clients.besides[0].redirect_uris[0]',
    ])
  })

  it.each([
    ['no resource', { scopes }, ['resource']],
    ['an empty list of resources', { resource: [], scopes }, ['resource']],
    ['a resource without a host', { resource: 'urn:example:mcp', scopes }, ['resource']],
    ['a resource at plain http', { resource: [resource, 'http://api.example/mcp'], scopes }, ['resource']],
    ['a resource with a password', { resource: 'https://a:b@api.example/mcp', scopes }, ['resource']],
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
