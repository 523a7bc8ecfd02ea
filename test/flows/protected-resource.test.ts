import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import express from 'express'
import * as oauth from 'oauth4webapi'
import request from 'supertest'
import {
  createAuthorizationServer,
  createBearerGuard,
  createJwtBearerGuard,
  memoryStore,
} from '../../lib/index'
import { hub } from '../support/assertions/jwt'
import { canonicalOptions } from '../support/flows/application'
import { nightlyReport } from '../support/flows/clients'
import { api, apiMetadata, ask, kinds, photos, wellKnown } from '../support/flows/guarded-resources'
import { hubKeys } from '../support/jwt-guard/guarded-photos'

describe.each(kinds)('%s', (_kind, start) => {
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
})

test('without resources there is no document, and the error says what to do', () => {
  const store = memoryStore()
  const server = createAuthorizationServer({ ...canonicalOptions, store })
  const guard = createBearerGuard({ issuer: 'http://localhost', store })
  for (const { protectedResource } of [server, guard])
    expect(() => protectedResource(api)).toThrow('resource needs the option resources, such as')
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

  test.each([['photos'], [[api, 'https://api.example']]])(
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

  test.each(['photos', 'urn:a:b', `${api}#`, 7])('has no resource %j', (resource) => {
    const javascript: { make(options: unknown): unknown } = { make: createJwtBearerGuard }
    expect(() => javascript.make({ ...options, audience: 'a', resource })).toThrow(
      'resource must be a URI without a fragment',
    )
  })
})

describe.each(['/oauth'])('a client that knows only the API, with an issuer at the path "%s"', (path) => {
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
