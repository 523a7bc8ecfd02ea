import { decodeJwt, decodeProtectedHeader } from 'jose'
import { listen, type Listener } from '../../../demo/listen'
import { startApache, type Apache } from './apache'
import { startIdentityServer, type IdentityServer } from '../../support/openid-connect/identity-server'
import { loggingOut, UserAgent, type Page } from '../../support/openid-connect/user-agent'

let application: Listener
let apache: Apache
let server: IdentityServer

beforeAll(async () => {
  // It sees the headers that Apache adds.
  application = await listen(0)
  application.app.use((req, res) => void res.json(req.headers))
  server = await startIdentityServer(async (issuer) => {
    apache = await startApache(issuer, 'apache', application.url)
    return [apache.registration]
  })
})
beforeEach(() => {
  server.requests.length = 0
})
afterAll(async () => {
  await apache?.stop()
  await application.close()
  await server?.close()
})

const open = (agent: UserAgent) => agent.visit(`${apache.url}/private`)

/** What Apache tells the application. */
const toldIn = (page: Page): Readonly<Record<string, string>> => JSON.parse(page.text)

/** Leads through a function of mod_auth_openidc, and back to a page. */
const through = (parameters: Readonly<Record<string, string>>) =>
  `${apache.url}/callback?${new URLSearchParams(parameters).toString()}`

test('mod_auth_openidc logs in (discovery, state, nonce, PKCE, max_age) and passes on what UserInfo tells', async () => {
  const page = await open(new UserAgent())
  expect(toldIn(page)).toMatchObject({
    oidc_claim_iss: server.issuer,
    oidc_claim_sub: 'alice',
    oidc_claim_name: 'alice of the test',
    oidc_claim_email: 'alice@example.com',
    oidc_access_token: expect.stringMatching(/^at_/),
  })
  expect(server.used()).toBe('discovery, state, nonce, PKCE, max_age')
  expect(server.failures).toEqual([])
})

test('mod_auth_openidc refreshes when the application asks it to', async () => {
  const agent = new UserAgent()
  const { oidc_access_token: first = '' } = toldIn(await open(agent))
  const refresh = through({ refresh: `${apache.url}/private`, access_token: first })
  const { oidc_access_token: second, ...told } = toldIn(await agent.visit(refresh))
  expect(second).toMatch(/^at_/)
  expect(second).not.toBe(first)
  expect(told).toMatchObject({ oidc_claim_sub: 'alice', oidc_claim_name: 'alice of the test' })
})

test('mod_auth_openidc logs its user out of the server, and the user returns', async () => {
  const agent = new UserAgent()
  await open(agent)
  const page = await agent.visit(through({ logout: `${apache.url}/bye` }), loggingOut)
  expect([page.status, page.url.href]).toEqual([200, `${apache.url}/bye`])
  expect(page.text).not.toContain('oidc_')
  // The next visit asks who signs in.
  const again = await agent.open(new URL('/private', apache.url))
  expect(again.url.origin + again.url.pathname).toBe(`${server.issuer}/login`)
})

test('mod_auth_openidc signs its requests, with neither type nor end, and logs in', async () => {
  let signing: Apache | undefined
  const strict = await startIdentityServer(async (issuer) => {
    signing = await startApache(issuer, 'signing-apache', application.url, true)
    return [{ ...signing.registration, require_signed_request_object: true }]
  })
  try {
    const page = await new UserAgent().visit(`${signing?.url}/private`)
    expect(toldIn(page)).toMatchObject({ oidc_claim_iss: strict.issuer, oidc_claim_sub: 'alice' })
    const sent = strict.requests.find(({ url }) => url.pathname === '/authorize')
    const object = sent?.url.searchParams.get('request') ?? ''
    expect([decodeProtectedHeader(object), decodeJwt(object)]).toEqual([
      { alg: 'RS256', kid: '1' },
      expect.not.objectContaining({ exp: expect.anything() }),
    ])
    expect(strict.failures).toEqual([])
  } finally {
    await signing?.stop()
    await strict.close()
  }
})
