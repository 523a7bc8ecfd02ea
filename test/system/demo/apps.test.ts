import { startDemo, type Demo } from '../../../demo/demo'
import { freePorts } from '../../support/clients/free-ports'

let demo: Demo
beforeEach(async () => {
  demo = await startDemo({ ports: freePorts })
})
afterEach(() => demo.stop())

function post(
  url: string,
  form: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(url, { method: 'POST', body: new URLSearchParams(form), headers, redirect: 'manual' })
}

function cookieOf(response: Response): string {
  return response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ')
}

function signIn(form: Record<string, string>, headers: Record<string, string> = {}): Promise<Response> {
  return post(`${demo.authorizationServer}/login`, { ...demo.account, ...form }, headers)
}

async function connect(): Promise<{ cookie: string; request: URLSearchParams }> {
  const response = await post(`${demo.client}/connect`, {})
  return {
    cookie: cookieOf(response),
    request: new URL(response.headers.get('location') ?? '').searchParams,
  }
}

async function noticeAfter(cookie: string, answer: Record<string, string>): Promise<string | undefined> {
  const query = new URLSearchParams(answer).toString()
  await fetch(`${demo.client}/callback?${query}`, { headers: { cookie }, redirect: 'manual' })
  const page = await (await fetch(demo.client, { headers: { cookie } })).text()
  return /class="notice" role="(?:status|alert)">(.*?)</.exec(page)?.[1]
}

async function accessToken(): Promise<string> {
  const { client_id, client_secret } = demo.clients.nightlyReport
  const form = { grant_type: 'client_credentials', scope: 'photos:read', client_id, client_secret }
  const response = await post(`${demo.authorizationServer}/token`, form)
  return JSON.parse(await response.text()).access_token
}

describe('signing in', () => {
  test.each([
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    'https://evil.example',
    'https:evil.example',
    'javascript:alert(1)',
    'http://localhost@evil.example',
    '',
  ])('leads home and not to %j', async (return_to) => {
    const response = await signIn({ return_to })
    expect(response.status).toBe(303)
    expect(new URL(response.headers.get('location') ?? '').href).toBe(`${demo.authorizationServer}/`)
  })

  test('leads back to the authorization request, byte for byte', async () => {
    const request = '/authorize?client_id=photo-book&state=a%2Fb%20c+d%C3%A9'
    expect((await signIn({ return_to: request })).headers.get('location')).toBe(
      demo.authorizationServer + request,
    )
  })

  test('gives a new session id', async () => {
    const first = cookieOf(await signIn({}))
    const second = await signIn({}, { cookie: first })
    expect(cookieOf(second)).toMatch(/^authorization-server\.sid=/)
    expect(cookieOf(second)).not.toBe(first)
  })

  test('refuses a form that another site sent', async () => {
    expect((await signIn({}, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect((await signIn({}, { 'sec-fetch-site': 'same-site' })).status).toBe(403)
  })

  test('refuses to be guessed at', async () => {
    for (let guess = 0; guess < 5; guess++)
      expect((await signIn({ password: `guess ${guess}` })).status).toBe(200)
    const refused = await signIn({})
    expect(refused.status).toBe(429)
    expect(await refused.text()).toContain('Too many attempts')
  })
})

describe('Photo Book', () => {
  test('asks with state and PKCE', async () => {
    const { request } = await connect()
    expect(Object.fromEntries(request)).toEqual({
      response_type: 'code',
      client_id: 'photo-book',
      redirect_uri: `${demo.client}/callback`,
      scope: 'photos:read',
      state: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    })
  })

  test('takes no answer with another state, nor the same answer twice', async () => {
    const { cookie, request } = await connect()
    const state = request.get('state') ?? ''
    const answer = { state, iss: demo.authorizationServer, error: 'access_denied' }
    expect(await noticeAfter(cookie, { ...answer, state: 'other' })).toContain(
      'does not belong to a connection',
    )
    expect(await noticeAfter(cookie, answer)).toContain('does not belong to a connection')
  })

  test('takes no answer of another issuer', async () => {
    const { cookie, request } = await connect()
    const answer = { state: request.get('state') ?? '', iss: 'https://evil.example', code: 'stolen' }
    expect(await noticeAfter(cookie, answer)).toContain('did not come from Lumen')
  })

  test('shows no error of its making as HTML', async () => {
    const { cookie, request } = await connect()
    const answer = { state: request.get('state') ?? '', iss: demo.authorizationServer, error: '<script>' }
    expect(await noticeAfter(cookie, answer)).toContain('(&lt;script&gt;)')
  })

  test('keeps photos to those who are connected', async () => {
    expect((await fetch(`${demo.client}/photos/first-light`)).status).toBe(404)
  })
})

describe('the resource server', () => {
  test.each([
    ['anybody', async () => ({})],
    ['nightly-report', async () => ({ authorization: `Bearer ${await accessToken()}` })],
  ])('answers %s at its open route', async (caller, headers) => {
    const response = await fetch(demo.resourceServer, { headers: await headers() })
    expect(JSON.parse(await response.text())).toMatchObject({ caller })
  })

  test('refuses a wrong token even there', async () => {
    const response = await fetch(demo.resourceServer, { headers: { authorization: 'Bearer wrong' } })
    expect(response.status).toBe(401)
  })

  test('shows a picture', async () => {
    const headers = { authorization: `Bearer ${await accessToken()}` }
    const response = await fetch(`${demo.resourceServer}/photos/first-light`, { headers })
    expect(response.headers.get('content-type')).toContain('image/svg+xml')
    expect((await fetch(`${demo.resourceServer}/photos/lost`, { headers })).status).toBe(404)
  })
})

test("helmet's defaults are on everywhere", async () => {
  for (const url of [
    demo.authorizationServer,
    `${demo.authorizationServer}/login`,
    demo.client,
    demo.relyingParty,
    demo.postcards,
    demo.attackLab,
    demo.resourceServer,
  ]) {
    const { headers } = await fetch(url)
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-security-policy': expect.stringMatching(/default-src 'self';.*script-src 'self';/),
      'cross-origin-opener-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    })
    expect(headers.has('x-powered-by')).toBe(false)
  }
})
