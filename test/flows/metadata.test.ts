import express from 'express'
import request from 'supertest'
import { createAuthorizationServer } from '../../lib/index'
import { bent, everyClient, nightlyReport, photoBook, photoFrame, photoPrint } from '../support/flows/clients'
import { application, canonicalOptions, type Mount } from '../support/flows/application'
import { authorizationRequest, Flow } from '../support/flows/flow'
import { codeOf, redirectionOf } from '../support/flows/redirection'
import { refusalOf, tokensOf } from '../support/flows/tokens'

const names = ['oauth-authorization-server', 'openid-configuration']

interface Metadata {
  readonly [member: string]: unknown
  readonly issuer: string
  readonly authorization_endpoint: string
  readonly token_endpoint: string
  readonly revocation_endpoint: string
  readonly introspection_endpoint: string
  readonly scopes_supported: readonly string[]
  readonly grant_types_supported: readonly string[]
}

async function metadataOf(flow: Flow, path = '/.well-known/oauth-authorization-server'): Promise<Metadata> {
  const response = await flow.open(path)
  expect(response.status).toBe(200)
  return JSON.parse(response.text)
}

const rootAndRouter: Mount = (app, oauth) => {
  app.use(oauth.metadata())
  app.use('/oauth', oauth.router())
}

describe('The metadata', () => {
  test('names each endpoint where it answers', async () => {
    const paths = {
      authorization: '/v1/allow',
      token: '/v1/token',
      revocation: '/v1/forget',
      introspection: '/v1/about',
    }
    const issuer = 'http://localhost/oauth'
    const { flow } = application({ paths, issuer }, { mount: rootAndRouter })
    const metadata = await metadataOf(flow, '/oauth/.well-known/oauth-authorization-server')
    expect(metadata).toMatchObject({
      issuer,
      authorization_endpoint: `${issuer}/v1/allow`,
      token_endpoint: `${issuer}/v1/token`,
      revocation_endpoint: `${issuer}/v1/forget`,
      introspection_endpoint: `${issuer}/v1/about`,
    })
    expect((await flow.open(new URL(metadata.authorization_endpoint).pathname, 'alice')).status).toBe(400)
    for (const name of ['token', 'revocation', 'introspection'])
      expect(refusalOf(await flow.submit(new URL(String(metadata[`${name}_endpoint`])).pathname, {}))).toBe(
        '401 invalid_client',
      )
  })

  test('names no authorization endpoint without a resource owner, and nothing that needs one', async () => {
    const { issuer, scopes } = canonicalOptions
    const oauth = createAuthorizationServer({ issuer, scopes, clients: [nightlyReport.registration] })
    const flow = new Flow(express().use(oauth.router()))
    const metadata = await metadataOf(flow)
    expect(metadata).toMatchObject({ grant_types_supported: ['client_credentials'] })
    expect(Object.keys(metadata).filter((name) => /^authorization|mode|challenge/.test(name))).toEqual([])
    expect((await flow.open('/authorize')).status).toBe(404)
    tokensOf(await flow.request(nightlyReport, { grant_type: 'client_credentials', scope: 'photos:read' }))
    const wrong = { grant_type: 'authorization_code', code: 'x' }
    expect((await flow.request(nightlyReport, wrong)).status).toBe(400)
  })

  test('lists refresh_token and none without resource owners only if a grant type of the host has a use for them', async () => {
    const { issuer, scopes } = canonicalOptions
    const offered = async (bend: object) => {
      const grantType = { name: 'urn:example:voucher', parameters: [], handle: jest.fn(), ...bend }
      const clients = [nightlyReport.registration]
      const oauth = createAuthorizationServer({ issuer, scopes, clients, grantTypes: [grantType] })
      const metadata = await metadataOf(new Flow(express().use(oauth.router())))
      const methods = metadata['token_endpoint_auth_methods_supported']
      return [
        metadata.grant_types_supported.includes('refresh_token'),
        JSON.stringify(methods).includes('"none"'),
      ]
    }
    expect(await offered({})).toEqual([true, true])
    expect(await offered({ refreshTokens: false })).toEqual([false, true])
    expect(await offered({ publicClients: false })).toEqual([true, false])
  })

  test('lists grant types that work, and others are refused', async () => {
    const { flow } = application()
    const { grant_types_supported } = await metadataOf(flow)
    expect(grant_types_supported).toEqual(['authorization_code', 'refresh_token', 'client_credentials'])
    const { refreshToken } = await flow.tokens(photoBook)
    tokensOf(await flow.refresh(photoBook, refreshToken))
    tokensOf(await flow.request(nightlyReport, { grant_type: 'client_credentials', scope: 'photos:read' }))
    for (const grant_type of ['password', 'implicit', 'urn:ietf:params:oauth:grant-type:device_code'])
      expect(refusalOf(await flow.request(photoPrint, { grant_type }))).toBe('400 unsupported_grant_type')
  })

  test('lists response types, modes, challenge methods and scopes that work, and others are refused', async () => {
    const { flow } = application()
    const { scopes_supported, ...metadata } = await metadataOf(flow)
    expect(metadata).toMatchObject({
      response_types_supported: ['code'],
      response_modes_supported: ['query', 'fragment'],
      prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
    })
    const asked = authorizationRequest(photoBook)
    const answer = await flow.decide(await flow.ask(asked, 'alice'), 'approve', 'alice')
    codeOf(answer)
    expect(redirectionOf(answer).parameters).toMatchObject({ iss: metadata.issuer })
    const errorOf = async (bend: object) =>
      redirectionOf(await flow.ask({ ...asked, ...bend }, 'alice')).parameters['error']
    expect(await errorOf({ response_type: 'token' })).toBe('unsupported_response_type')
    expect(await errorOf({ code_challenge_method: 'plain' })).toBe('invalid_request')
    expect(await errorOf({ scope: 'unheard-of' })).toBe('invalid_scope')
    expect(scopes_supported).toEqual(Object.keys(canonicalOptions.scopes))
    for (const scope of scopes_supported) {
      const clients = [bent(nightlyReport, { scope }).registration]
      const grant = { grant_type: 'client_credentials', scope }
      expect(tokensOf(await application({ clients }).flow.request(nightlyReport, grant)).scope).toBe(scope)
    }
  })

  test('lists methods of client authentication that work, and others are refused', async () => {
    const frame = bent(photoFrame, { may_introspect: true })
    const clients = [photoBook, photoPrint, frame].map(({ registration }) => registration)
    const { flow } = application({ clients })
    const metadata = await metadataOf(flow)
    const all = ['client_secret_basic', 'client_secret_post', 'none']
    expect(metadata).toMatchObject({
      token_endpoint_auth_methods_supported: all,
      revocation_endpoint_auth_methods_supported: all,
      introspection_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    })
    const inBody = { client_id: 'photo-frame', client_secret: frame.secret }
    const jwt = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
    const assertion = { client_assertion_type: jwt, client_assertion: 'x.y.z' }
    for (const path of ['/token', '/revoke', '/introspect']) {
      const sent = { token: 'x', grant_type: 'refresh_token', refresh_token: 'x' }
      const known = path === '/token' ? 400 : 200
      expect((await flow.request(frame, sent, path)).status).toBe(known)
      expect((await flow.submit(path, { ...sent, ...inBody })).status).toBe(known)
      expect(refusalOf(await flow.submit(path, { ...sent, ...assertion }))).toBe('401 invalid_client')
      const named = await flow.request(photoBook, sent, path)
      expect(named.status).toBe(path === '/introspect' ? 400 : known)
    }
    expect(refusalOf(await flow.introspect(photoBook, 'x'))).toBe('400 unauthorized_client')
  })

  test.each(['http://localhost', 'http://localhost/', 'http://localhost/oauth/', 'http://LOCALHOST/oauth'])(
    'has the issuer %s letter by letter, and no null',
    async (issuer) => {
      const { flow } = application({ issuer }, { mount: (app, oauth) => app.use(oauth.metadata()) })
      const path = new URL(issuer).pathname.replace(/\/$/, '')
      const metadata = await metadataOf(flow, `/.well-known/oauth-authorization-server${path}`)
      expect(metadata.issuer).toBe(issuer)
      expect(Object.values(metadata)).not.toContain(null)
      expect(metadata.token_endpoint).toBe(`${issuer.replace(/\/$/, '')}/token`)
    },
  )

  test('of an issuer without a path is at both names, from the router', async () => {
    const { flow } = application()
    const [first, second] = await Promise.all(names.map((name) => flow.open(`/.well-known/${name}`)))
    expect(first?.status).toBe(200)
    expect(second?.text).toBe(first?.text)
    for (const path of [
      '',
      '/',
      '/jwks.json',
      '/oauth-authorization-server/',
      '/oauth-authorization-server/x',
    ])
      expect((await flow.open(`/.well-known${path}`)).status).toBe(404)
  })

  test('of an issuer with a path is before and after it, the former from the root part', async () => {
    const issuer = 'http://localhost/oauth'
    const { flow } = application({ issuer }, { mount: rootAndRouter })
    const alone = application({ issuer }, { mount: (app, oauth) => app.use('/oauth', oauth.router()) })
    for (const name of names) {
      expect((await metadataOf(flow, `/.well-known/${name}/oauth`)).issuer).toBe(issuer)
      expect((await metadataOf(flow, `/oauth/.well-known/${name}`)).issuer).toBe(issuer)
      expect((await metadataOf(alone.flow, `/oauth/.well-known/${name}`)).issuer).toBe(issuer)
      for (const path of [
        `/.well-known/${name}`,
        `/.well-known/${name}/other`,
        `/.well-known/${name}/oauth/`,
      ])
        expect((await flow.open(path)).status).toBe(404)
      expect((await alone.flow.open(`/.well-known/${name}/oauth`)).status).toBe(404)
    }
  })

  test('is for browsers of every origin and for caches, by GET and HEAD only', async () => {
    const { app } = application({ clients: everyClient.map(({ registration }) => registration) })
    const path = '/.well-known/oauth-authorization-server'
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      'access-control-allow-origin': '*',
      'cache-control': 'public, max-age=3600',
    }
    const got = await request(app).get(path)
    expect(got.headers).toMatchObject(headers)
    const head = await request(app).head(path)
    expect(head.headers).toMatchObject({ ...headers, 'content-length': String(Buffer.byteLength(got.text)) })
    for (const method of ['post', 'put', 'delete', 'options'] as const) {
      const refused = await request(app)[method](path)
      expect([refused.status, refused.headers['allow']]).toEqual([405, 'GET, HEAD'])
    }
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
