import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Demo } from '../../../demo/demo'
import { ResourceOwner } from './resource-owner'
import { startRedis, type RedisServer } from '../../support/redis-server'
import { waitUntil } from '../../support/wait-until'
import { AppVisitor, noticeIn, openDemo } from './visit'

let redis: RedisServer
let demo: Demo
let owner: ResourceOwner
beforeAll(async () => {
  redis = await startRedis()
  demo = await openDemo(redis.url)
  owner = new ResourceOwner(demo)
})
afterAll(async () => {
  await demo.stop()
  await redis.stop()
})

const tokenAt = async (resource?: string): Promise<string> => {
  const { client_id, client_secret } = demo.clients.nightlyReport
  const form = { grant_type: 'client_credentials', client_id, client_secret, ...(resource && { resource }) }
  const { text } = await new AppVisitor(demo.authorizationServer).post('/token', form)
  return JSON.parse(text).access_token
}
const asking = async (url: string, token: string) =>
  fetch(url, { headers: token === '' ? {} : { authorization: `Bearer ${token}` } })

function bent(url: URL, name: string, value: string): URL {
  const copy = new URL(url)
  copy.searchParams.set(name, value)
  return copy
}

const random = expect.stringMatching(/^[\w-]{43}$/)

describe('signing in', () => {
  const signIn = (form: Record<string, string>, headers = {}) =>
    new AppVisitor(demo.authorizationServer).post('/login', { ...demo.account, ...form }, headers)

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
    const { status, location } = await signIn({ return_to })
    expect([status, location?.href]).toEqual([303, `${demo.authorizationServer}/`])
  })

  test('leads back to the authorization request, byte for byte', async () => {
    const request = '/authorize?client_id=photo-book&state=a%2Fb%20c+d%C3%A9'
    expect((await signIn({ return_to: request })).location?.href).toBe(demo.authorizationServer + request)
  })

  test('gives a new session id', async () => {
    const visitor = new AppVisitor(demo.authorizationServer)
    await visitor.post('/login', demo.account)
    const { session } = visitor
    await visitor.post('/login', demo.account)
    expect(visitor.session).toMatch(/^authorization-server\.sid=/)
    expect(visitor.session).not.toBe(session)
  })
})

test('no app takes a form of another site', async () => {
  const forms = [
    [demo.authorizationServer, '/login'],
    ...['/login', '/refresh', '/userinfo', '/logout'].map((path) => [demo.relyingParty, path]),
    ...['/replay', '/guesses'].map((path) => [demo.attackLab, path]),
  ]
  for (const [app = '', path = ''] of forms)
    for (const site of ['cross-site', 'same-site']) {
      const { status } = await new AppVisitor(app).post(path, demo.account, { 'sec-fetch-site': site })
      expect([app + path, status]).toEqual([app + path, 403])
    }
})

describe('Photo Book', () => {
  const visit = () => new AppVisitor(demo.client)

  /** Connects Photo Book, and chooses this workspace on the consent page. */
  const connect = async (visitor: AppVisitor, choice: string) =>
    visitor.read(await owner.decide(await visitor.depart(), 'approve', { choice }))

  test('asks with state and PKCE', async () => {
    expect(Object.fromEntries((await visit().depart()).searchParams)).toEqual({
      response_type: 'code',
      client_id: 'photo-book',
      redirect_uri: `${demo.client}/callback`,
      scope: 'photos:read',
      state: random,
      code_challenge: random,
      code_challenge_method: 'S256',
    })
  })

  const denied = { error: 'access_denied' }
  test.each([
    ['with another state', [{ ...denied, state: 'other' }], 'does not belong to a connection'],
    ['that came already', [denied, denied], 'does not belong to a connection'],
    ['of another issuer', [{ iss: 'https://evil.example', code: 'stolen' }], 'did not come from Lumen'],
    ['with an error that is markup, except as text', [{ error: '<script>' }], '(&lt;script&gt;)'],
  ])('takes no answer %s', async (_what, answers, notice) => {
    const visitor = visit()
    const state = (await visitor.depart()).searchParams.get('state') ?? ''
    let page = ''
    for (const answer of answers) {
      const query = new URLSearchParams({ state, iss: demo.authorizationServer, ...answer })
      page = await visitor.read(`/callback?${query.toString()}`)
    }
    expect(noticeIn(page)).toContain(notice)
  })

  test('shows the photos of the workspace that its resource owner chose, until that changes', async () => {
    const visitor = visit()
    expect((await visitor.get('/photos/first-light')).status).toBe(404)
    expect(await connect(visitor, 'travels')).toContain('4 photos of Travels')
    const page = await connect(visitor, 'alpine-club')
    expect(page).toContain('Gave back the tokens of the connection before')
    const titles = [...page.matchAll(/<figcaption>([^<]*?) </g)].map(([, title]) => title)
    expect(titles).toEqual(['Base camp', 'First snow', 'Alpenglow'])
    const statuses = ['base-camp', 'first-light'].map(
      async (id) => (await visitor.get(`/photos/${id}`)).status,
    )
    expect(await Promise.all(statuses)).toEqual([200, 404])
    const same = await visitor.read(await owner.decide(await visitor.depart(), 'deny'))
    expect(noticeIn(same)).toBe('You chose nothing new. Photo Book goes on with the workspace that it has.')
    expect(same).toContain('3 photos of Alpine Club')
  })

  test('gets no answer for a workspace that the page did not offer', async () => {
    const asked = await visit().depart()
    await expect(owner.decide(asked, 'approve', { choice: 'secret-society' })).rejects.toThrow(
      'no redirection: 400',
    )
  })
})

describe('the resource server', () => {
  test.each([
    ['anybody', async () => ''],
    ['nightly-report', () => tokenAt()],
  ])('answers %s at its open route, and not a wrong token', async (caller, token) => {
    expect(await (await asking(demo.resourceServer, await token())).json()).toMatchObject({ caller })
    expect((await asking(demo.resourceServer, 'wrong')).status).toBe(401)
  })

  test('shows a picture, and the photos of all workspaces to a service of Lumen itself', async () => {
    const token = await tokenAt()
    const picture = await asking(`${demo.resourceServer}/photos/first-light`, token)
    expect(picture.headers.get('content-type')).toContain('image/svg+xml')
    expect((await asking(`${demo.resourceServer}/photos/lost`, token)).status).toBe(404)
    const photos = await (await asking(`${demo.resourceServer}/photos`, token)).text()
    expect(photos).toContain('"workspace":"Travels"')
    expect(photos).toContain('"workspace":"Alpine Club"')
  })

  test('and the MCP server take no tokens of each other', async () => {
    const api = `${demo.resourceServer}/photos`
    const statusAt = async (url: string, resource: string) =>
      (await asking(url, await tokenAt(resource))).status
    expect(await statusAt(api, demo.resourceServer)).toBe(200)
    expect(await statusAt(api, demo.mcpServer)).toBe(401)
    expect(await statusAt(demo.mcpServer, demo.resourceServer)).toBe(401)
    expect(await statusAt(demo.mcpServer, demo.mcpServer)).not.toBe(401)
  })
})

describe('Postcards', () => {
  test('introduces itself before it asks, shows photos, refreshes and gives its tokens back', async () => {
    const [one, other] = [new AppVisitor(demo.postcards), new AppVisitor(demo.postcards)]
    const asked = await one.depart()
    const clientId = asked.searchParams.get('client_id')
    expect(clientId).toMatch(/^dynamic_[\w-]{43}$/)
    expect((await other.depart()).searchParams.get('client_id')).toBe(clientId)
    const page = await one.read(await owner.decide(asked))
    expect(page).toContain('4 photos of Travels')
    expect(page).toContain(`POST /register ${clientId}`)
    await one.post('/refresh')
    expect(await one.read('/')).toContain('POST /token refresh_token')
    await one.post('/disconnect')
    expect(noticeIn(await one.read('/'))).toContain('Postcards gave its tokens back')
  })
})

describe('Supper Club', () => {
  const depart = async () => {
    const visitor = new AppVisitor(demo.relyingParty)
    return { visitor, asked: await visitor.depart('/login') }
  }

  test('asks for a login with state, nonce and PKCE, fresh for each visitor', async () => {
    const [one, other] = [(await depart()).asked, (await depart()).asked]
    const query = Object.fromEntries(one.searchParams)
    expect(one.origin + one.pathname).toBe(`${demo.authorizationServer}/authorize`)
    expect(query).toEqual({
      response_type: 'code',
      client_id: 'supper-club',
      redirect_uri: `${demo.relyingParty}/callback`,
      scope: 'openid profile email',
      state: random,
      nonce: random,
      code_challenge: random,
      code_challenge_method: 'S256',
    })
    for (const name of ['state', 'nonce', 'code_challenge'])
      expect(other.searchParams.get(name)).not.toBe(query[name])
  })

  test('signs in once, with a new session id, and only the browser that asked', async () => {
    const { visitor, asked } = await depart()
    const { session } = visitor
    const answer = await owner.decide(asked)
    expect(await new AppVisitor(demo.relyingParty).read(answer)).toContain('Sign in with Lumen')
    expect(await visitor.read(answer)).toContain('Good evening, Ada Lovelace.')
    expect(visitor.session).toMatch(/^supper-club\.sid=/)
    expect(visitor.session).not.toBe(session)
    expect(noticeIn(await visitor.read(answer))).toContain('signed in already')
    const planted = new AppVisitor(demo.relyingParty)
    planted.session = session
    expect(await planted.read('/')).toContain('Sign in with Lumen')
  })

  test.each<[string, (answer: URL, other: URL) => URL]>([
    ['without a state', (answer) => bent(answer, 'state', '')],
    ['with another state', (answer) => bent(answer, 'state', 'other')],
    ['of another issuer', (answer) => bent(answer, 'iss', 'https://evil.example')],
    ['that belongs to another visitor', (_answer, other) => other],
  ])('signs nobody in by an answer %s', async (_what, bend) => {
    const [mine, theirs] = [await depart(), await depart()]
    const [answer, other] = [await owner.decide(mine.asked), await owner.decide(theirs.asked)]
    const page = await mine.visitor.read(bend(answer, other))
    expect(noticeIn(page)).toContain('does not belong to a sign-in')
    expect(page).toContain('Sign in with Lumen')
  })

  test('signs nobody in by an ID token for another nonce, nor after a denial', async () => {
    const { visitor, asked } = await depart()
    const answer = await owner.decide(bent(asked, 'nonce', 'of-an-attacker'))
    expect(noticeIn(await visitor.read(answer))).toContain('does not belong to a sign-in')
    const denied = await visitor.read(await owner.decide(await visitor.depart('/login'), 'deny'))
    expect(noticeIn(denied)).toContain('learned nothing')
  })

  test.each(['', '?state=', '?state=guessed'])(
    'believes no answer to a logout that it did not ask for%s',
    async (query) => {
      const { visitor } = await depart()
      expect(noticeIn(await visitor.read(`/logged-out${query}`))).toBeUndefined()
    },
  )

  test('says at the next refresh that Lumen has ended the sign-in', async () => {
    const { visitor, asked } = await depart()
    const answer = await owner.decide(asked)
    await visitor.read(answer)
    // RFC 6749 4.1.2: a second use of the code revokes what the first one got.
    const { client_id, client_secret, redirect_uri } = demo.clients.supperClub
    const code = answer.searchParams.get('code') ?? ''
    const grant = { grant_type: 'authorization_code', code, redirect_uri, client_id, client_secret }
    await new AppVisitor(demo.authorizationServer).post('/token', grant)
    await visitor.post('/refresh')
    const page = await visitor.read('/')
    expect(noticeIn(page)).toContain('has ended this sign-in')
    expect(page).toContain('Sign in with Lumen')
  })
})

describe('Attack Lab', () => {
  /** The status of each answer that the page shows. */
  const statusesIn = (page: string) =>
    [...page.matchAll(/<strong>(\d{3}) /g)].map(([, status]) => Number(status))
  const visit = () => new AppVisitor(demo.attackLab)

  /** Reads a page, which shows no credential whole. */
  const read = async (visitor: AppVisitor, path: string | URL) => {
    const page = await visitor.read(path)
    const { attackLab, nightlyReport } = demo.clients
    const secrets = [attackLab.client_secret, nightlyReport.client_secret]
    expect(secrets.some((secret) => page.includes(secret)) || /(?:at|ac|rt)_[\w-]{10}/.test(page)).toBe(false)
    return page
  }

  test('uses a code twice: the second use fails, and ends the token of the first', async () => {
    const visitor = visit()
    const page = await read(visitor, await owner.decide(await visitor.depart('/replay')))
    expect(statusesIn(page)).toEqual([200, 200, 400, 401])
    expect(page).toMatch(/error: invalid_grant[^]*error: invalid_token/)
    // What Lumen remembers of an attack that ended itself stands among the connected applications.
    expect(await owner.read('/authorizations')).toContain('Attack Lab')
  })

  test('guesses until 429, and the service with the right secret still gets a token', async () => {
    const visitor = visit()
    const page = await read(visitor, await visitor.depart('/guesses'))
    expect(statusesIn(page)).toEqual([401, 401, 429, 200])
    expect(page).toContain('Guess 21 finds a closed door')
    expect(page).toMatch(/Retry-After: (?:900|8\d\d)/)
    // Lumen remembers, for whoever presses the button next.
    const next = visit()
    await next.post('/guesses')
    const later = await read(next, '/guesses')
    expect(statusesIn(later)).toEqual([429, 200])
    expect(later).toContain('Lumen has not forgotten')
  })

  test('says so if there is no attack, no access, or an answer belongs to another attack', async () => {
    for (const path of ['/replay', '/guesses'])
      expect((await visit().get(path)).location?.href).toBe(`${demo.attackLab}/`)
    const visitor = visit()
    const denied = await read(visitor, await owner.decide(await visitor.depart('/replay'), 'deny'))
    expect(noticeIn(denied)).toContain('there was no code to steal')
    const guessed = await read(visitor, '/callback?code=guessed&state=guessed')
    expect(noticeIn(guessed)).toContain('does not belong to an attack')
  })
})

describe('the television', () => {
  const start = async () => {
    const television = new AppVisitor(demo.television)
    await television.post('/connect')
    const page = await television.read('/')
    expect(page).toContain('http-equiv="refresh" content="2"')
    return {
      television,
      question: await owner.confirmCode(/href="([^"]*user_code[^"]*)"/.exec(page)?.[1] ?? ''),
    }
  }

  test('shows a code, and the photos once its owner has allowed it', async () => {
    const { television, question } = await start()
    expect(question).toMatch(/Television[\s\S]*See your photos/)
    expect(await owner.answerDevice(question, 'approve')).toContain('Your device has access')
    await waitUntil('the television shows the photos', async () =>
      (await television.read('/')).includes('/photos/first-light'),
    )
    expect(await television.read('/')).toContain('7 photos of Travels and Alpine Club, guarded by Lumen')
  })

  test('stays out if its owner refuses', async () => {
    const { television, question } = await start()
    expect(await owner.answerDevice(question, 'deny')).toContain('The device got no access')
    await waitUntil('the television says so', async () =>
      (noticeIn(await television.read('/')) ?? '').includes('You did not let the television in'),
    )
  })

  test('is not the only device: the command line logs in by a code, and prints the photos', async () => {
    const program = join(__dirname, '../../../demo/log-in.ts')
    const words = ['-r', 'esbuild-register', program, demo.authorizationServer, demo.resourceServer]
    const shell = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = once(shell, 'close')
    const lines = createInterface({ input: shell.stdout })[Symbol.asyncIterator]()
    const [, link, userCode] = /^Open (\S+) and enter (\S+)$/.exec(String((await lines.next()).value)) ?? []
    await owner.answerDevice(await owner.confirmCode(`${link}?user_code=${userCode}`), 'approve')
    expect(String((await lines.next()).value)).toContain('"first-light"')
    expect(await ended).toEqual([0, null])
  })
})

test("helmet's defaults are on everywhere, and each link of the front page leads to a page for people", async () => {
  const front = await (await fetch(demo.authorizationServer)).text()
  const links = [...front.matchAll(/<a href="([^"]*)"/g)].map(
    ([, link = '']) => new URL(link, demo.authorizationServer).href,
  )
  expect(links.length).toBe(6)
  for (const url of [
    demo.authorizationServer,
    `${demo.authorizationServer}/login`,
    demo.resourceServer,
    ...links,
  ]) {
    const { headers } = await fetch(url)
    const type = url === demo.resourceServer ? 'application/json' : 'text/html'
    expect(headers.get('content-type')).toBe(`${type}; charset=utf-8`)
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-security-policy': expect.stringMatching(/default-src 'self';.*script-src 'self';/),
      'cross-origin-opener-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    })
    expect(headers.has('x-powered-by')).toBe(false)
  }
})

// Nobody can sign in from this network after it.
test('signing in refuses to be guessed at', async () => {
  const guess = (password: string) =>
    new AppVisitor(demo.authorizationServer).post('/login', { ...demo.account, password })
  for (let count = 0; count < 5; count++) expect((await guess(`guess ${count}`)).status).toBe(200)
  const { status, text } = await guess(demo.account.password)
  expect(status).toBe(429)
  expect(text).toContain('Too many attempts')
})
