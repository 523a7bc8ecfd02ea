import express from 'express'
import request from 'supertest'
import { createAuthorizationServer, memoryStore } from '../../lib/index'
import { createBearerGuard } from '../../lib/paths/guards'
import { hub, partner } from '../support/assertions/jwt'
import { canonicalOptions } from '../support/flows/application'
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
    expect(() => protectedResource(api, { resource: 'x' })).toThrow(
      'members.resource is a member that the server itself sets.',
    )
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
    expect(() => server.protectedResource()).toThrow(`it must be one of ${api}, ${other}.`)
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

test('a guard for JWTs of several issuers names each of them in the metadata', async () => {
  const resources = { [api]: photos }
  const otherIssuers = [{ issuer: partner.issuer, jwks: { keys: [partner.jwk] } }]
  const guard = createBearerGuard({
    issuer: hub.issuer,
    resources,
    jwt: { jwks: hubKeys, otherIssuers },
  })
  const { body } = await request(express().use(guard.protectedResource())).get(`${wellKnown}/mcp`)
  expect(body.authorization_servers).toEqual([hub.issuer, partner.issuer])
})
