import request from 'supertest'
import { nightlyReport, photoBook } from '../support/flows/clients'
import { consentFormOf } from '../support/flows/consent-form'
import { authorizationRequest } from '../support/flows/flow'
import { rawRequest } from '../support/flows/raw-request'
import { setStage } from '../support/flows/stage'
import type { Stage } from '../support/flows/stores-of-run'
import { tokensOf } from '../support/flows/tokens'
import { altered } from '../support/altered'

const bad = 'The access token is unknown, expired or revoked.'
const malformed = 'The request does not carry one access token in one Authorization header.'
const tooLittle = 'The access token does not have the scope that this resource needs.'

const tokenFor = async ({ flow }: Stage, scope: string): Promise<string> =>
  tokensOf(await flow.request(nightlyReport, { grant_type: 'client_credentials', scope })).accessToken

test.each(['Bearer', 'bearer', 'BEARER'])(
  '[BTU-1, RES-1] a route takes the token with the scheme %s',
  async (scheme) => {
    const set = setStage()
    const headers = { Authorization: `${scheme} ${await tokenFor(set, 'photos:read')}` }
    expect((await set.flow.open('/photos', undefined, headers)).status).toBe(200)
  },
)

test.each([
  ['no Authorization header', {}],
  ['one of another scheme', { Authorization: 'Basic YTpi' }],
  ['an empty one', { Authorization: '' }],
  ['a scheme like Bearer', { Authorization: 'BearerX abc' }],
])(
  '[BTU-3, RES-3, MCP-27, MCP-29] %s gets a challenge without an error',
  async (_, headers: Record<string, string>) => {
    const { flow, failures } = setStage()
    const response = await flow.open('/photos', undefined, headers)
    expect(response.status).toBe(401)
    expect(response.get('WWW-Authenticate')).toBe('Bearer realm="oauth", scope="photos:read"')
    expect(response.body).toEqual({})
    expect(failures).toEqual([])
  },
)

test.each(['Bearer', 'Bearer a b', 'Bearer a, Bearer b'])(
  '[BTU-4, RES-3, MCP-29] %p is invalid_request',
  async (Authorization) => {
    const { flow, store } = setStage()
    const response = await flow.open('/photos', undefined, { Authorization })
    expect(response.status).toBe(400)
    expect(response.get('WWW-Authenticate')).toBe(
      `Bearer realm="oauth", scope="photos:read", error="invalid_request", error_description="${malformed}"`,
    )
    expect(response.body).toEqual({ error: 'invalid_request', error_description: malformed })
    expect(store.calls.read).toBe(0)
  },
)

test('[BTU-4] two Authorization headers are invalid_request, even if both are valid [token-5]', async () => {
  const set = setStage()
  const good = `Bearer ${await tokenFor(set, 'photos:read')}`
  const response = await rawRequest(set.app, {
    method: 'GET',
    path: '/photos',
    headers: ['Authorization', good, 'Authorization', good],
  })
  expect(response.status).toBe(400)
  expect(response.headers['www-authenticate']).toContain('error="invalid_request"')
})

test('[BTU-5, RES-3, MCP-27, MCP-29] every other credential is invalid_token', async () => {
  const { flow, failures } = setStage()
  const { accessToken, refreshToken } = await flow.tokens(photoBook)
  const page = await flow.ask(authorizationRequest(photoBook), 'alice')
  const handle = String(consentFormOf(page, '/authorize').fields['authorization_request'])
  const code = await flow.approve(photoBook)
  const flipped = altered(accessToken)
  const asAccessToken = [refreshToken, code, handle].map((text) => `at_${text.slice(3)}`)
  const forged = ['x', `at_${'A'.repeat(65)}`, flipped, refreshToken, code, handle, ...asAccessToken]
  for (const token of forged) {
    const response = await flow.photos(token)
    expect(response.status).toBe(401)
    expect(response.get('WWW-Authenticate')).toBe(
      `Bearer realm="oauth", scope="photos:read", error="invalid_token", error_description="${bad}"`,
    )
    expect(response.body).toEqual({ error: 'invalid_token', error_description: bad })
    expect(failures.at(-1)).toMatchObject({
      endpoint: 'protected resource',
      code: 'invalid_token',
      requestId: response.get('X-Request-Id'),
    })
  }
})

test('[BTU-6, RES-3, MCP-29] too little scope is insufficient_scope, which names the scope that is needed [token-8]', async () => {
  const set = setStage()
  const response = await set.flow.photos(await tokenFor(set, 'reports:write'))
  expect(response.status).toBe(403)
  expect(response.get('WWW-Authenticate')).toBe(
    `Bearer realm="oauth", scope="photos:read", error="insufficient_scope", error_description="${tooLittle}"`,
  )
  expect(response.body).toEqual({ error: 'insufficient_scope', error_description: tooLittle })
})

test('[BTU-2, RES-1, MCP-28] no token comes in the query or the body [token-4]', async () => {
  const set = setStage()
  const token = await tokenFor(set, 'photos:read')
  expect((await set.flow.open(`/photos?access_token=${token}`)).status).toBe(401)
  const { status } = await request(set.app).get('/photos').type('form').send({ access_token: token })
  expect(status).toBe(401)
})

test('[BTU-7] no cache keeps a refusal [token-17]', async () => {
  expect((await setStage().flow.open('/photos')).headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
  })
})
