import { photoBook, photoPrint } from '../support/flows/clients'
import { authorizationRequest, formOf, redemption } from '../support/flows/flow'
import { setStage } from '../support/flows/stage'
import { rawRequest } from '../support/flows/raw-request'
import { tokensOf } from '../support/flows/tokens'

const form = ['Content-Type', 'application/x-www-form-urlencoded']

// better-auth was got around by //path (GHSA-x732-6j76-qmhm), Keycloak by ;x in a path (CVE-2026-0976).
test.each(['//token', '/token/', '/TOKEN', '/./token', '/x/../token', '/token;x=1', '/%74oken', '/token%2f'])(
  'no spelling of the path leads past client authentication: %s [edge-7]',
  async (path) => {
    const { app, flow } = setStage()
    const code = await flow.approve(photoPrint)
    const body = formOf({ ...redemption(photoPrint, code), client_id: 'photo-print' })
    const { status, text } = await rawRequest(app, { method: 'POST', path, headers: form, body })
    expect([401, 404]).toContain(status)
    expect(text).not.toContain('access_token')
    tokensOf(await flow.redeem(photoPrint, code))
  },
)

test.each(['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override'])(
  'no header makes a POST of a GET: %s [edge-8]',
  async (name) => {
    const { app, flow, store } = setStage()
    const code = await flow.approve(photoBook)
    const before = { ...store.calls }
    const grant = formOf({ ...redemption(photoBook, code), client_id: 'photo-book', _method: 'POST' })
    const path = `/token?${grant}`
    const { status } = await rawRequest(app, { method: 'GET', path, headers: [name, 'POST'] })
    expect(status).toBe(405)
    expect(store.calls).toEqual(before)
    tokensOf(await flow.redeem(photoBook, code))
  },
)

// RFC 9700 2.6: the authorization endpoint has no CORS. Introspection and guards have none without an option.
test.each([
  ['OPTIONS', '/authorize'],
  ['GET', `/authorize?${formOf(authorizationRequest(photoBook))}`],
  ['OPTIONS', '/introspect'],
  ['POST', '/introspect'],
  ['OPTIONS', '/photos'],
  ['GET', '/photos'],
])('no other site may read what %s %s answers [edge-6]', async (method, path) => {
  const headers = await headersForAnotherSite(method, path)
  expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([])
})

test.each([
  ['GET', '/.well-known/oauth-authorization-server'],
  ['OPTIONS', '/token'],
  ['POST', '/token'],
  ['OPTIONS', '/revoke'],
  ['POST', '/revoke'],
])('no other site gets %s %s with the cookies of a resource owner [edge-6]', async (method, path) => {
  const headers = await headersForAnotherSite(method, path)
  expect(headers).toHaveProperty('access-control-allow-origin', '*')
  expect(headers).not.toHaveProperty('access-control-allow-credentials')
})

async function headersForAnotherSite(method: string, path: string) {
  const { app } = setStage()
  const cors = ['Origin', 'https://evil.example', 'Access-Control-Request-Method', 'POST']
  const sent = ['X-Owner', 'alice', 'Cookie', 'session=alice', ...form, ...cors]
  return (await rawRequest(app, { method, path, headers: sent })).headers
}

// The MCP SDK took any Host on loopback (GHSA-w48q-cv73-mx4w).
test.each(['Host', 'X-Forwarded-Host', 'Forwarded', 'X-Original-URL', 'X-Rewrite-URL'])(
  'what %s claims stands in no answer [edge-5]',
  async (name) => {
    const { flow } = setStage()
    const claim = { [name]: name === 'Forwarded' ? 'host=evil.example' : 'evil.example' }
    const asked = `/authorize?${formOf(authorizationRequest(photoBook))}`
    const answers = [
      await flow.open('/.well-known/oauth-authorization-server', undefined, claim),
      await flow.open(asked, undefined, claim),
      await flow.open(asked, 'alice', claim),
      await flow.decide(await flow.open(asked, 'alice', claim), 'approve', 'alice', claim),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 303, 200, 303])
    for (const { text, headers } of answers) expect(`${text}${JSON.stringify(headers)}`).not.toContain('evil')
  },
)

// Keycloak took a tab, and more, for the space behind the scheme (GHSA-gv94-wp4h-vv8p).
test.each(['\t', '\u00A0', '=', ':', '/', ', Bearer ', ' "', ' \t'])(
  'a token behind Bearer and %j is not taken [token-6]',
  async (between) => {
    const { app, flow } = setStage()
    const { accessToken } = await flow.tokens(photoBook)
    const headers = ['Authorization', `Bearer${between}${accessToken}`]
    const { status, text } = await rawRequest(app, { method: 'GET', path: '/photos', headers })
    expect([400, 401]).toContain(status)
    expect(text).not.toContain('alice')
    expect((await flow.photos(accessToken)).status).toBe(200)
  },
)
