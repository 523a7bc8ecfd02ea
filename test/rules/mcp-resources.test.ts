import express from 'express'
import { createAuthorizationServer } from '../../lib/index'
import { canonicalOptions } from '../support/flows/application'
import { nightlyReport, photoBook } from '../support/flows/clients'
import { authorizationRequest, Flow } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'
import { redirectionOf } from '../support/flows/redirection'
import { tokensOf } from '../support/flows/tokens'

const photos = 'https://api.example/photos'
const reports = 'https://api.example'
const document = `/.well-known/oauth-protected-resource`

/** Two resources of one server: photos, and reports at the root. */
function stage() {
  const oauth = createAuthorizationServer({
    ...canonicalOptions,
    resources: {
      [photos]: { scopes: ['photos:read', 'photos:print'] },
      [reports]: { scopes: ['reports:write', 'photos:read'] },
    },
    defaultResource: photos,
    implies: { 'photos:print': ['photos:read'] },
  })
  const app = express()
  app.use(oauth.router())
  app.use(oauth.protectedResource(photos))
  app.use(oauth.protectedResource(reports))
  const answer: express.RequestHandler = (request, response) => void response.json(request.oauth)
  app.get('/photos', oauth.bearerGuard('photos:read', { resource: photos }), answer)
  app.get('/prints', oauth.bearerGuard('photos:read photos:print', { resource: photos }), answer)
  app.get('/reports', oauth.bearerGuard('photos:read', { resource: reports }), answer)
  return new Flow(app)
}

const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })

test.each(['HTTPS://api.example/photos', 'https://API.Example/photos'])(
  '[MCP-6] the scheme and the host of a resource are compared without case: %s',
  async (resource) => {
    const tokens = tokensOf(await stage().request(nightlyReport, { ...grant, resource }))
    expect(tokens.scope).toBe('photos:read')
  },
)

test.each(['https://api.example/Photos', 'https://api.example/photos/', 'https://api.example/photos#a'])(
  '[MCP-6] all else of a resource is compared as strings: %s',
  async (resource) => {
    expect(outcomeOf(await stage().request(nightlyReport, { ...grant, resource }))).toBe('400 invalid_target')
  },
)

test('[MCP-7] a token is for the resource that the request names and the owner has approved', async () => {
  const flow = stage()
  const asked = { ...authorizationRequest(photoBook), scope: 'photos:read', resource: reports }
  const page = await flow.ask(asked, 'alice')
  expect(page.text).toContain(reports)
  const { code = '' } = redirectionOf(await flow.decide(page, 'approve', 'alice')).parameters
  expect(outcomeOf(await flow.redeem(photoBook, code, { resource: photos }))).toBe('400 invalid_target')
  const { accessToken } = tokensOf(await flow.redeem(photoBook, code, { resource: reports }))
  expect((await flow.open('/reports', undefined, bearer(accessToken))).body).toMatchObject({
    audience: [reports],
  })
  expect((await flow.open('/photos', undefined, bearer(accessToken))).status).toBe(401)
})

test('[MCP-25, MCP-35] the document names the resource as configured, and its authorization server', async () => {
  const flow = stage()
  for (const [path, resource] of [
    [`${document}/photos`, photos],
    [document, reports],
  ] as const)
    expect((await flow.open(path)).body).toMatchObject({
      resource,
      authorization_servers: [canonicalOptions.issuer],
    })
})

test('[MCP-26] the challenge of a 401 names the URL of the document', async () => {
  const flow = stage()
  for (const [path, url] of [
    ['/photos', `https://api.example${document}/photos`],
    ['/reports', `https://api.example${document}`],
  ] as const) {
    const response = await flow.open(path)
    expect(response.status).toBe(401)
    expect(response.get('WWW-Authenticate')).toContain(`resource_metadata="${url}"`)
  }
})

test('[MCP-31] the challenge of a 403 names the URL of the document, too', async () => {
  const flow = stage()
  const { accessToken } = tokensOf(await flow.request(nightlyReport, { ...grant, resource: photos }))
  const response = await flow.open('/prints', undefined, bearer(accessToken))
  expect(response.status).toBe(403)
  expect(response.get('WWW-Authenticate')).toContain('error="insufficient_scope"')
  expect(response.get('WWW-Authenticate')).toContain(
    `resource_metadata="https://api.example${document}/photos"`,
  )
})

test('[MCP-32] a scope that implies another is enough where the other is needed', async () => {
  const flow = stage()
  const { accessToken } = await flow.tokens(photoBook, { scope: 'photos:print', resource: photos })
  expect((await flow.open('/photos', undefined, bearer(accessToken))).status).toBe(200)
  expect((await flow.open('/prints', undefined, bearer(accessToken))).status).toBe(200)
})

test('[MCP-33] a token for another resource is refused as unknown', async () => {
  const flow = stage()
  const { accessToken } = tokensOf(await flow.request(nightlyReport, { ...grant, resource: reports }))
  expect((await flow.open('/reports', undefined, bearer(accessToken))).status).toBe(200)
  const response = await flow.open('/photos', undefined, bearer(accessToken))
  expect(response.status).toBe(401)
  expect(response.get('WWW-Authenticate')).toContain('error="invalid_token"')
})

test('[MCP-34] challenges and documents name the scopes of the resource only', async () => {
  const flow = stage()
  const { body } = await flow.open(`${document}/photos`)
  expect(body.scopes_supported).toEqual(['photos:read', 'photos:print'])
  expect((await flow.open('/prints')).get('WWW-Authenticate')).toContain('scope="photos:read photos:print"')
})
