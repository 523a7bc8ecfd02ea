import express from 'express'
import request from 'supertest'
import { createAuthorizationServer } from '../../lib/index'
import { nightlyReport } from '../support/flows/clients'
import { canonicalOptions } from '../support/flows/application'

const names = ['oauth-authorization-server', 'openid-configuration']

describe('The metadata', () => {
  test('lists refresh_token and none without resource owners only if a grant type of the host has a use for them', async () => {
    const { issuer, scopes } = canonicalOptions
    const offered = async (bend: object) => {
      const grantType = { name: 'urn:example:voucher', parameters: [], handle: jest.fn(), ...bend }
      const clients = [nightlyReport.registration]
      const oauth = createAuthorizationServer({ issuer, scopes, clients, grantTypes: [grantType] })
      const app = express().use(oauth.router())
      const { body } = await request(app).get('/.well-known/oauth-authorization-server')
      return [
        body.grant_types_supported.includes('refresh_token'),
        body.token_endpoint_auth_methods_supported.includes('none'),
      ]
    }
    expect(await offered({})).toEqual([true, true])
    expect(await offered({ refreshTokens: false })).toEqual([false, true])
    expect(await offered({ publicClients: false })).toEqual([true, false])
  })
})

describe('Below the well-known names', () => {
  const page = '<!doctype html>'
  const tree = ['http://localhost/mcp', 'http://localhost/notes/mcp'] as const
  const [mcpServer, notes] = tree
  const options = {
    ...canonicalOptions,
    resources: Object.fromEntries(tree.map((uri) => [uri, { scopes: ['photos:read'] }])),
  }

  /** A host that answers every path with the page of its application. */
  function host(issuer = 'http://localhost') {
    const oauth = createAuthorizationServer({ ...options, defaultResource: mcpServer, issuer })
    const { pathname } = new URL(issuer)
    const app = express().use(pathname, oauth.router())
    if (pathname !== '/') app.use(oauth.metadata())
    for (const uri of tree) app.use(oauth.protectedResource(uri))
    return app
  }
  const fallback = (app: express.Express) => app.use((_request, response) => void response.send(page))

  test('an unknown path is JSON, and never the page of the host', async () => {
    const app = fallback(host())
    for (const path of [
      '/.well-known/oauth-authorization-server/other',
      '/.well-known/oauth-authorization-server/',
      '/.well-known/openid-configuration/other',
      '/.well-known/oauth-protected-resource',
      '/.well-known/oauth-protected-resource/other',
    ]) {
      const answer = await request(app).get(path).set('Origin', 'https://inspector.example')
      expect([path, answer.status, answer.type, answer.body.error]).toEqual([
        path,
        404,
        'application/json',
        'not_found',
      ])
      expect(answer.get('Access-Control-Allow-Origin')).toBe('*')
      expect(answer.get('Cache-Control')).toBe('no-store')
    }
    for (const path of [
      '/',
      '/.well-known',
      '/.well-known/oauth-authorization-serverx',
      '/.well-known/other',
    ])
      expect([path, (await request(app).get(path)).text]).toEqual([path, page])
  })

  test.each(['http://localhost', 'http://localhost/oauth'])(
    'the path of each resource leads to the metadata of the server %s, and to its own',
    async (issuer) => {
      const app = fallback(host(issuer))
      for (const uri of [mcpServer, notes]) {
        const { pathname } = new URL(uri)
        for (const name of names)
          expect((await request(app).get(`/.well-known/${name}${pathname}`)).body.issuer).toBe(issuer)
        const own = await request(app).get(`/.well-known/oauth-protected-resource${pathname}`)
        expect(own.body.resource).toBe(uri)
      }
    },
  )

  test('another server of the host answers for itself, wherever it is mounted', async () => {
    const other = createAuthorizationServer({ ...canonicalOptions, issuer: 'http://localhost/other' })
    const app = fallback(host().use('/other', other.router()).use(other.metadata()))
    for (const name of names)
      expect((await request(app).get(`/.well-known/${name}/other`)).body.issuer).toBe(
        'http://localhost/other',
      )
  })
})
