import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import express, { type Express, type RequestHandler } from 'express'
import * as oauth from 'oauth4webapi'
import request from 'supertest'
import {
  type BearerGuard,
  createAuthorizationServer,
  createBearerGuard,
  createJwtBearerGuard,
  mac,
  memoryStore,
  type ProtectedResourcePart,
} from '../../lib/index'
import { hub } from '../support/assertions/jwt'
import { canonicalOptions } from '../support/flows/application'
import { nightlyReport } from '../support/flows/clients'
import { Flow } from '../support/flows/flow'
import { tokensOf } from '../support/flows/tokens'
import { accessClaims, accessJwt } from '../support/jwt-guard/access-tokens'
import { hubKeys } from '../support/jwt-guard/guarded-photos'

const api = 'https://api.example/mcp'
const apiMetadata = 'https://api.example/.well-known/oauth-protected-resource/mcp'
const photos = { scopes: ['photos:read', 'photos:print'] }
const wellKnown = '/.well-known/oauth-protected-resource'

/** A guard, and the part that serves the metadata of its resource. */
interface Guarded {
  readonly guard: BearerGuard
  readonly protectedResource: ProtectedResourcePart
  readonly issuer: string
  /** A token for `photos:read` alone. */
  readonly token: () => Promise<string>
}

/** Each kind of guard, for the resource of this URI. */
const kinds: readonly [string, (uri: string, issuer?: string) => Guarded][] = [
  [
    'a guard of the server',
    (uri, issuer = 'http://localhost') => {
      const server = createAuthorizationServer({ ...canonicalOptions, issuer, resources: { [uri]: photos } })
      const app = express().use(new URL(issuer).pathname, server.router())
      const { bearerGuard: guard, protectedResource } = server
      return { guard, protectedResource, issuer, token: tokenFrom(app, issuer) }
    },
  ],
  [
    'a guard in another process',
    (uri, issuer = 'http://localhost') => {
      const resources = { [uri]: photos }
      const store = memoryStore()
      const server = createAuthorizationServer({ ...canonicalOptions, issuer, store, resources })
      const guard = createBearerGuard({ issuer, store, resources })
      const app = express().use(new URL(issuer).pathname, server.router())
      const { protectedResource } = guard
      return { guard, protectedResource, issuer, token: tokenFrom(app, issuer) }
    },
  ],
  [
    'a guard for JWTs',
    (uri) => {
      const { issuer } = hub
      const guard = createJwtBearerGuard({ issuer, audience: uri, resource: uri, keys: hubKeys })
      const token = async () => accessJwt(accessClaims(Math.floor(Date.now() / 1000), { aud: uri }))
      return { guard, protectedResource: guard.protectedResource, issuer, token }
    },
  ],
]

function tokenFrom(app: Express, issuer: string): () => Promise<string> {
  const token = `${new URL(issuer).pathname.replace(/\/$/, '')}/token`
  const asked = { grant_type: 'client_credentials', scope: 'photos:read' }
  return async () => tokensOf(await new Flow(app).request(nightlyReport, asked, token)).accessToken
}

const answer: RequestHandler = (req, res) => {
  res.json(req.auth ?? 'in')
}

async function ask(guard: RequestHandler, token?: string, headers: Record<string, string> = {}) {
  const test = request(express().get('/', guard, answer))
    .get('/')
    .set(headers)
  const response = await (token === undefined ? test : test.auth(token, { type: 'bearer' }))
  return { status: response.status, challenge: response.get('WWW-Authenticate'), body: response.body }
}

describe.each(kinds)('%s', (kind, start) => {
  test('serves the metadata of its resource between host and path', async () => {
    const { protectedResource, issuer } = start(api)
    const app = express().use(protectedResource(api))
    const { status, headers, body } = await request(app).get(`${wellKnown}/mcp`)
    expect(status).toBe(200)
    expect(body).toEqual({
      ...(kind === 'a guard for JWTs' ? {} : { scopes_supported: photos.scopes }),
      resource: api,
      authorization_servers: [issuer],
      bearer_methods_supported: ['header'],
    })
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'public, max-age=3600',
      'access-control-allow-origin': '*',
      'x-content-type-options': 'nosniff',
    })
    const head = await request(app).head(`${wellKnown}/mcp`)
    expect([head.status, head.get('Content-Length')]).toEqual([200, headers['content-length']])
    for (const path of [wellKnown, '/mcp', `${wellKnown}/mcp/`, `${wellKnown}/mcp/x`, `${wellKnown}/mcp?a=b`])
      expect((await request(app).get(path)).status).toBe(404)
  })

  test.each([
    ['https://api.example', wellKnown],
    ['https://api.example/', wellKnown],
    ['https://api.example/a/b/', `${wellKnown}/a/b/`],
    ['https://api.example/mcp?tenant=a%20b&x', `${wellKnown}/mcp?tenant=a%20b&x`],
    ['https://api.example?tenant=a', `${wellKnown}?tenant=a`],
    ['https://API.example:8443/Mcp', `${wellKnown}/Mcp`],
    ['http://127.0.0.1:3000/mcp', `${wellKnown}/mcp`],
  ])('serves the metadata of %s at %s, and names the URL in challenges', async (uri, path) => {
    const { protectedResource, guard } = start(uri)
    const { status, body } = await request(express().use(protectedResource())).get(path)
    expect(status).toBe(200)
    expect(body.resource).toBe(uri)
    expect((await ask(guard())).challenge).toBe(
      `Bearer realm="oauth", resource_metadata="${new URL(uri).origin}${path}"`,
    )
  })

  test('serves it only to GET and HEAD', async () => {
    const app = express().use(start(api).protectedResource())
    for (const method of ['post', 'put', 'delete', 'patch'] as const) {
      const { status, headers } = await request(app)[method](`${wellKnown}/mcp`)
      expect([status, headers['allow']]).toEqual([405, 'GET, HEAD'])
    }
  })

  test('names the metadata in every challenge, with every scope of the route', async () => {
    const { guard, token } = start(api)
    const metadata = `resource_metadata="${apiMetadata}"`
    const both = 'Bearer realm="oauth", scope="photos:read photos:print", '
    const one = await token()
    const spoofed = {
      Host: 'evil.example',
      'X-Forwarded-Host': 'evil.example',
      Forwarded: 'host=evil.example',
    }
    for (const match of ['all', 'any'] as const) {
      const guarded = guard('photos:read photos:print', { match })
      expect(await ask(guarded, undefined, spoofed)).toMatchObject({
        status: 401,
        challenge: `${both}${metadata}`,
      })
      const bad = await ask(guarded, 'x', spoofed)
      expect(bad.status).toBe(401)
      expect(bad.challenge).toContain(both)
      expect(bad.challenge).toContain(metadata)
    }
    const poor = await ask(guard('photos:read photos:print', { attributes: { a: 'b' } }), one)
    expect(poor.status).toBe(403)
    expect(poor.challenge).toBe(
      `${both}error="insufficient_scope", error_description="The access token does not have the scope that this resource needs.", ${metadata}, a="b"`,
    )
    const malformed = await ask(guard('photos:read'), 'a b')
    expect([malformed.status, malformed.challenge?.endsWith(metadata)]).toEqual([400, true])
  })

  test('gives the SDK for MCP servers the resource and its metadata', async () => {
    const { guard, token } = start(api)
    const { body } = await ask(guard('photos:read', { authInfo: true }), await token())
    expect(body).toMatchObject({
      clientId: expect.any(String),
      resource: api,
      resourceMetadataUrl: apiMetadata,
    })
  })

  test('adds members of the host, and lets no member of its own be changed', async () => {
    const { protectedResource } = start(api)
    const members = {
      scopes_supported: ['photos:read'],
      'resource_name#de': 'Fotos',
      resource_documentation: 'https://api.example/docs#mcp',
      resource_policy_uri: 'https://api.example/policy',
      dpop_bound_access_tokens_required: false,
    }
    const { body } = await request(express().use(protectedResource(api, members))).get(`${wellKnown}/mcp`)
    expect(body).toMatchObject(members)
    for (const name of ['resource', 'authorization_servers', 'bearer_methods_supported'])
      expect(() => protectedResource(api, { [name]: 'x' })).toThrow(
        `members.${name} is a member that the server itself sets.`,
      )
    expect(() => protectedResource(api, { resource_tos_uri: 'javascript:alert(1)' })).toThrow(
      'members.resource_tos_uri must be the URL of a page',
    )
    expect(() => protectedResource(api, { scopes_supported: ['a b'] })).toThrow('members.scopes_supported')
  })

  test('serves no document of a resource that it does not know', () => {
    const { protectedResource } = start(api)
    const cure = `oauth.protectedResource() cannot work:\n  - resource must be one of ${api}.`
    for (const uri of ['https://api.example', `${api}/`, 'mcp', '', '__proto__'])
      expect(() => protectedResource(uri)).toThrow(cure)
  })

  test('reports that a host mounted it without a call', async () => {
    const javascript: { use(part: unknown): Express } = express()
    const { protectedResource } = start(api)
    const { status, text } = await request(javascript.use(protectedResource)).get('/')
    expect(status).toBe(500)
    expect(text).toContain('oauth.protectedResource')
  })
})

describe('several resources', () => {
  const other = 'https://api.example/notes'
  const resources = {
    [api]: { ...photos, name: 'Photos', documentation: 'https://api.example/docs' },
    [other]: { scopes: ['reports:write'] },
  }

  test('have documents beside each other, and guards that name their own', async () => {
    const server = createAuthorizationServer({ ...canonicalOptions, resources })
    const app = express().use(server.protectedResource(api)).use(server.protectedResource(other))
    expect((await request(app).get(`${wellKnown}/mcp`)).body).toMatchObject({
      resource: api,
      scopes_supported: ['photos:read', 'photos:print'],
      resource_name: 'Photos',
      resource_documentation: 'https://api.example/docs',
    })
    const { body } = await request(app).get(`${wellKnown}/notes`)
    expect(body).toMatchObject({ resource: other, scopes_supported: ['reports:write'] })
    expect(body).not.toHaveProperty('resource_name')
    const { challenge } = await ask(server.bearerGuard('reports:write', { resource: other }))
    expect(challenge).toBe(
      `Bearer realm="oauth", scope="reports:write", resource_metadata="https://api.example${wellKnown}/notes"`,
    )
  })

  test('have their names in the option resources alone, where the consent page finds them', () => {
    const server = createAuthorizationServer({ ...canonicalOptions, resources })
    expect(() => server.protectedResource(api, { resource_name: 'My photos' })).toThrow(
      'members.resource_name belongs in the option resources',
    )
  })

  test('of one path on one host differ in their queries', async () => {
    const one = 'https://api.example/mcp?tenant=1'
    const two = 'https://api.example/mcp?tenant=2'
    const server = createAuthorizationServer({
      ...canonicalOptions,
      resources: { [one]: photos, [two]: photos },
    })
    const app = express().use(server.protectedResource(one)).use(server.protectedResource(two))
    expect((await request(app).get(`${wellKnown}/mcp?tenant=2`)).body.resource).toBe(two)
    expect((await request(app).get(`${wellKnown}/mcp?tenant=1`)).body.resource).toBe(one)
    expect((await request(app).get(`${wellKnown}/mcp?tenant=3`)).status).toBe(404)
    expect((await request(app).get(`${wellKnown}/mcp`)).status).toBe(404)
  })

  test('need a name, unless one of them is the default', async () => {
    const server = createAuthorizationServer({ ...canonicalOptions, resources })
    expect(() => server.protectedResource()).toThrow(`resource must be one of ${api}, ${other}.`)
    const withDefault = createAuthorizationServer({ ...canonicalOptions, resources, defaultResource: other })
    const app = express().use(withDefault.protectedResource())
    expect((await request(app).get(`${wellKnown}/notes`)).body.resource).toBe(other)
  })

  test('find their documents as the host of the router mounts them: below a path too', async () => {
    const server = createAuthorizationServer({ ...canonicalOptions, resources })
    const app = express().use('/.well-known', server.protectedResource(api))
    expect((await request(app).get(`${wellKnown}/mcp`)).status).toBe(200)
  })
})

test('a resource that clients cannot look up has no metadata, and its challenges name none', async () => {
  for (const uri of ['urn:example:photos', 'http://api.example/mcp']) {
    const server = createAuthorizationServer({ ...canonicalOptions, resources: { [uri]: photos } })
    expect((await ask(server.bearerGuard('photos:read'))).challenge).toBe(
      'Bearer realm="oauth", scope="photos:read"',
    )
    expect(() => server.protectedResource()).toThrow('only a resource at https')
  }
})

test('without resources there is no document, and the error says what to do', () => {
  const store = memoryStore()
  const server = createAuthorizationServer({ ...canonicalOptions, store })
  const guard = createBearerGuard({ issuer: 'http://localhost', store })
  for (const { protectedResource } of [server, guard])
    expect(() => protectedResource(api)).toThrow('resource needs the option resources, such as')
})

test('the scheme of each token type gets the metadata', async () => {
  const server = createAuthorizationServer({
    ...canonicalOptions,
    resources: { [api]: photos },
    tokenTypes: [mac({ hosts: ['api.example'] })],
  })
  const { headers } = await request(express().get('/', server.bearerGuard())).get('/')
  expect(headers['www-authenticate']).toBe(
    `Bearer realm="oauth", resource_metadata="${apiMetadata}", MAC realm="oauth", resource_metadata="${apiMetadata}"`,
  )
})

describe('a guard for JWTs whose audience is a URI', () => {
  const options = { issuer: hub.issuer, keys: hubKeys }

  test('names the metadata as soon as the host serves it, and not before', async () => {
    const guard = createJwtBearerGuard({ ...options, audience: api })
    const route = guard('photos:read')
    expect((await ask(route)).challenge).toBe('Bearer realm="oauth", scope="photos:read"')
    const app = express().use(guard.protectedResource(api, { scopes_supported: ['photos:read'] }))
    expect((await request(app).get(`${wellKnown}/mcp`)).body).toEqual({
      resource: api,
      authorization_servers: [hub.issuer],
      bearer_methods_supported: ['header'],
      scopes_supported: ['photos:read'],
    })
    expect((await ask(route)).challenge).toBe(
      `Bearer realm="oauth", scope="photos:read", resource_metadata="${apiMetadata}"`,
    )
  })

  test.each([['photos'], ['urn:example:photos'], ['http://api.example'], [[api, 'https://api.example']]])(
    'needs the option resource if the audience is %j',
    async (audience) => {
      const plain = createJwtBearerGuard({ ...options, audience })
      expect(() => plain.protectedResource()).toThrow('resource needs the option resource, such as')
      const guard = createJwtBearerGuard({ ...options, audience, resource: api })
      expect((await ask(guard())).challenge).toBe(`Bearer realm="oauth", resource_metadata="${apiMetadata}"`)
      expect((await request(express().use(guard.protectedResource())).get(`${wellKnown}/mcp`)).status).toBe(
        200,
      )
    },
  )

  test.each(['photos', 'urn:a:b', 'http://api.example', `${api}#x`, `${api}#`, '', 7, null])(
    'has no resource %j',
    (resource) => {
      const javascript: { make(options: unknown): unknown } = { make: createJwtBearerGuard }
      expect(() => javascript.make({ ...options, audience: 'a', resource })).toThrow(
        'resource must be a URI without a fragment',
      )
    },
  )
})

describe.each(['', '/oauth'])('a client that knows only the API, with an issuer at the path "%s"', (path) => {
  let listener: Server
  let origin: string
  const app = express()

  beforeAll(async () => {
    listener = createServer(app).listen(0, '127.0.0.1')
    await once(listener, 'listening')
    const address = listener.address()
    origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
    const resource = `${origin}/mcp`
    const server = createAuthorizationServer({
      ...canonicalOptions,
      issuer: `${origin}${path}`,
      resources: { [resource]: { scopes: ['photos:read'] } },
    })
    app.use(server.protectedResource(resource))
    app.use(server.metadata())
    app.use(path || '/', server.router())
    app.get('/mcp', server.bearerGuard('photos:read'), (_req, res) => void res.send('in'))
  })
  afterAll(async () => {
    listener.close()
    listener.closeAllConnections()
    await once(listener, 'close')
  })

  test('finds document, server and token from one 401, with oauth4webapi', async () => {
    const insecure = { [oauth.allowInsecureRequests]: true }
    const resource = new URL(`${origin}/mcp`)
    const call = (token: string) =>
      oauth.protectedResourceRequest(token, 'GET', resource, undefined, undefined, insecure)
    const refused: unknown = await call('x').catch((error: unknown) => error)
    if (!(refused instanceof oauth.WWWAuthenticateChallengeError)) throw refused
    const [challenge] = refused.cause
    expect(challenge?.parameters).toMatchObject({ error: 'invalid_token', scope: 'photos:read' })
    const pointed = await fetch(String(challenge?.parameters.resource_metadata))
    const found = await oauth.processResourceDiscoveryResponse(resource, pointed)
    const discovered = await oauth.resourceDiscoveryRequest(resource, insecure)
    expect(await oauth.processResourceDiscoveryResponse(resource, discovered)).toEqual(found)
    const issuer = new URL(found.authorization_servers?.[0] ?? '')
    const looked = await oauth.discoveryRequest(issuer, { ...insecure, algorithm: 'oauth2' })
    const server = await oauth.processDiscoveryResponse(issuer, looked)
    const client = { client_id: nightlyReport.registration.client_id }
    const granted = await oauth.clientCredentialsGrantRequest(
      server,
      client,
      oauth.ClientSecretBasic(nightlyReport.secret),
      { scope: String(challenge?.parameters.scope), resource: found.resource },
      insecure,
    )
    const tokens = await oauth.processClientCredentialsResponse(server, client, granted)
    expect((await call(tokens.access_token)).status).toBe(200)
  })
})
