import express from 'express'
import request from 'supertest'
import { createAuthorizationServer } from '../../lib/index'
import { mac } from '../../lib/paths/mac'
import { canonicalOptions } from '../support/flows/application'
import { api, apiMetadata, ask, kinds, photos, wellKnown } from '../support/flows/guarded-resources'

describe.each(kinds)('%s', (_kind, start) => {
  test('[PRM-1, PRM-2, MCP-25, MCP-34, MCP-35] serves the metadata of its resource between host and path', async () => {
    const { protectedResource, issuer } = start(api)
    const app = express().use(protectedResource(api))
    const { status, headers, body } = await request(app).get(`${wellKnown}/mcp`)
    expect(status).toBe(200)
    expect(body).toEqual({
      scopes_supported: photos.scopes,
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
  ])(
    '[PRM-3, MCP-26] serves the metadata of %s at %s, and names the URL in challenges',
    async (uri, path) => {
      const { protectedResource, guard } = start(uri)
      const { status, body } = await request(express().use(protectedResource())).get(path)
      expect(status).toBe(200)
      expect(body.resource).toBe(uri)
      expect((await ask(guard())).challenge).toBe(
        `Bearer realm="oauth", resource_metadata="${new URL(uri).origin}${path}"`,
      )
    },
  )

  test('[PRM-4] serves it only to GET and HEAD', async () => {
    const app = express().use(start(api).protectedResource())
    for (const method of ['post', 'put', 'delete', 'patch'] as const) {
      const { status, headers } = await request(app)[method](`${wellKnown}/mcp`)
      expect([status, headers['allow']]).toEqual([405, 'GET, HEAD'])
    }
  })

  test('[PRM-5, MCP-30, MCP-31, MCP-34] names the metadata in every challenge, with every scope of the route', async () => {
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
})

test('[PRM-6] a resource that clients cannot look up has no metadata, and its challenges name none', async () => {
  for (const uri of ['urn:example:photos', 'http://api.example/mcp']) {
    const server = createAuthorizationServer({ ...canonicalOptions, resources: { [uri]: photos } })
    expect((await ask(server.bearerGuard('photos:read'))).challenge).toBe(
      'Bearer realm="oauth", scope="photos:read"',
    )
    expect(() => server.protectedResource()).toThrow('only a resource at https')
  }
})

test('[PRM-5] the scheme of each token type gets the metadata', async () => {
  const server = createAuthorizationServer({
    ...canonicalOptions,
    resources: { [api]: photos },
    plugins: [mac({ hosts: ['api.example'] })],
  })
  const { headers } = await request(express().get('/', server.bearerGuard())).get('/')
  expect(headers['www-authenticate']).toBe(
    `Bearer realm="oauth", resource_metadata="${apiMetadata}", MAC realm="oauth", resource_metadata="${apiMetadata}"`,
  )
})
