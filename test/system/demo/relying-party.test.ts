import type { Browser, BrowserContext, Page } from 'playwright-core'
import { startDemo, type Demo } from '../../../demo/demo'
import { follow, press } from '../../support/browser/follow'
import { keepScreenshot, pixelRatio } from '../../support/browser/keep-screenshot'
import { launchChromium } from '../../support/chromium'
import { extent } from '../../support/extent'
import { freePorts } from '../../support/clients/free-ports'
import { ResourceOwner } from '../../support/clients/resource-owner'
import { signIn } from './visit'

let demo: Demo
let browser: Browser
beforeAll(async () => {
  demo = await startDemo({ ports: freePorts })
  browser = await launchChromium()
})
afterAll(async () => {
  await browser.close()
  await demo.stop()
})

const post = (path: string, headers: Record<string, string> = {}) =>
  fetch(demo.relyingParty + path, { method: 'POST', headers, redirect: 'manual' })

const cookieOf = (response: Response) => response.headers.getSetCookie()[0]?.split(';')[0] ?? ''
const locationOf = (response: Response) => new URL(response.headers.get('location') ?? '')

/** A visitor of Supper Club who has been sent to Lumen. */
async function depart(): Promise<{ cookie: string; location: URL }> {
  const response = await post('/login')
  return { cookie: cookieOf(response), location: locationOf(response) }
}

/** Brings an answer of Lumen back, and reads the page that follows. */
async function arrive(cookie: string, answer: URL): Promise<{ cookie: string; page: string }> {
  const response = await fetch(answer, { headers: { cookie }, redirect: 'manual' })
  const next = cookieOf(response) || cookie
  const page = await (await fetch(demo.relyingParty, { headers: { cookie: next } })).text()
  return { cookie: next, page }
}

const noticeIn = (page: string) => /class="notice" role="(?:status|alert)">(.*?)</s.exec(page)?.[1]?.trim()

describe('Supper Club', () => {
  test('asks for a login with state, nonce and PKCE, fresh for each visitor', async () => {
    const [one, other] = [(await depart()).location, (await depart()).location]
    const query = Object.fromEntries(one.searchParams)
    expect(one.origin + one.pathname).toBe(`${demo.authorizationServer}/authorize`)
    expect(query).toEqual({
      response_type: 'code',
      client_id: 'supper-club',
      redirect_uri: `${demo.relyingParty}/callback`,
      scope: 'openid profile email',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    })
    for (const name of ['state', 'nonce', 'code_challenge'])
      expect(other.searchParams.get(name)).not.toBe(query[name])
  })

  test('gives a new session id with the login', async () => {
    const { cookie, location } = await depart()
    const arrived = await arrive(cookie, await new ResourceOwner(demo).decide(location))
    expect(arrived.page).toContain('Good evening, Ada Lovelace.')
    expect(arrived.cookie).toMatch(/^supper-club\.sid=/)
    expect(arrived.cookie).not.toBe(cookie)
    const planted = await (await fetch(demo.relyingParty, { headers: { cookie } })).text()
    expect(planted).toContain('Sign in with Lumen')
  })

  test.each<[string, (answer: URL, other: URL) => URL]>([
    ['without a state', (answer) => bent(answer, 'state', '')],
    ['with another state', (answer) => bent(answer, 'state', 'other')],
    ['of another issuer', (answer) => bent(answer, 'iss', 'https://evil.example')],
    ['that belongs to another visitor', (_answer, other) => other],
  ])('logs nobody in by an answer %s', async (_what, bend) => {
    const owner = new ResourceOwner(demo)
    const [mine, theirs] = [await depart(), await depart()]
    const [answer, other] = [await owner.decide(mine.location), await owner.decide(theirs.location)]
    const { page } = await arrive(mine.cookie, bend(answer, other))
    expect(noticeIn(page)).toContain('does not belong to a sign-in')
    expect(page).toContain('Sign in with Lumen')
  })

  test('logs nobody in by an ID token for another nonce', async () => {
    const { cookie, location } = await depart()
    const answer = await new ResourceOwner(demo).decide(bent(location, 'nonce', 'of-an-attacker'))
    expect(noticeIn((await arrive(cookie, answer)).page)).toContain('does not belong to a sign-in')
  })

  test('takes an answer once, and only from the browser that asked', async () => {
    const { cookie, location } = await depart()
    const answer = await new ResourceOwner(demo).decide(location)
    expect((await arrive('', answer)).page).toContain('Sign in with Lumen')
    const { cookie: session } = await arrive(cookie, answer)
    expect(noticeIn((await arrive(session, answer)).page)).toContain('signed in already')
  })

  test('says that nothing was learned after a denial', async () => {
    const { cookie, location } = await depart()
    const { page } = await arrive(cookie, await new ResourceOwner(demo).decide(location, 'deny'))
    expect(noticeIn(page)).toContain('learned nothing')
  })

  test.each(['/login', '/refresh', '/userinfo', '/logout'])(
    'takes no form of another site at %s',
    async (path) => {
      expect((await post(path, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    },
  )

  test.each(['', '?state=', '?state=guessed'])(
    'believes no answer to a logout that it did not ask for%s',
    async (query) => {
      const { cookie } = await depart()
      const { page } = await arrive(cookie, new URL(`${demo.relyingParty}/logged-out${query}`))
      expect(noticeIn(page)).toBeUndefined()
    },
  )
})

function bent(url: URL, name: string, value: string): URL {
  const copy = new URL(url)
  copy.searchParams.set(name, value)
  return copy
}

const devices = [
  { name: 'desktop', viewport: { width: 1280, height: 800 } },
  { name: 'phone', viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
]

describe.each(extent(devices.slice(0, 1), devices))(
  'a member of Supper Club in Chromium on a $name',
  ({ name, ...device }) => {
    // Each test has a demo that remembers nothing yet.
    let fresh: Demo
    let context: BrowserContext
    let page: Page
    beforeEach(async () => {
      fresh = await startDemo({ ports: freePorts })
      context = await browser.newContext({ ...device, deviceScaleFactor: pixelRatio })
      page = await context.newPage()
    })
    afterEach(async () => {
      await context.close()
      await fresh.stop()
    })

    async function keep(title: string): Promise<void> {
      for (const colorScheme of ['dark', 'light'] as const) {
        await page.emulateMedia({ colorScheme })
        await keepScreenshot(page, `${name} ${colorScheme} supper club ${title}`)
      }
    }

    /** What the page says about the person and the ID token. */
    async function facts(): Promise<Record<string, string>> {
      const [terms, definitions] = [page.getByRole('term'), page.getByRole('definition')]
      const told = await definitions.allInnerTexts()
      return Object.fromEntries((await terms.allInnerTexts()).map((term, index) => [term, told[index] ?? '']))
    }

    const notice = () => page.getByRole('status').innerText()

    async function logIn(): Promise<void> {
      await page.goto(fresh.relyingParty)
      await press(page, 'Sign in with Lumen')
      await signIn(page, fresh)
      await press(page, 'Allow')
    }

    test('finds the site on the front page of the demo, logs in, and sees who is logged in, when and how', async () => {
      await page.goto(fresh.authorizationServer)
      await keep('1 front page')
      await follow(page, () => page.getByRole('link', { name: 'Supper Club' }).click())
      expect(page.url()).toBe(`${fresh.relyingParty}/`)
      await keep('2 invitation')
      await press(page, 'Sign in with Lumen')
      const before = Date.now()
      await signIn(page, fresh)
      expect(await page.getByRole('listitem').allInnerTexts()).toEqual(
        ['Know who you are', 'See your name', 'See your e-mail address'].map((text) =>
          expect.stringContaining(text),
        ),
      )
      // Which workspace is a question for apps that want photos.
      expect(await page.getByRole('radio').count()).toBe(0)
      await keep('3 consent')
      await press(page, 'Allow')

      expect(page.url()).toBe(`${fresh.relyingParty}/`)
      expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Good evening, Ada Lovelace.')
      const known = await facts()
      expect(known).toMatchObject({
        Name: 'Ada Lovelace',
        'E-mail': 'ada@lumen.example',
        Verified: 'by Lumen',
        How: 'with a password',
        Issuer: fresh.authorizationServer,
        Subject: 'user-1815',
        For: 'supper-club',
      })
      const loggedInAt = Date.parse(known['Signed in'] ?? '')
      expect(loggedInAt).toBeGreaterThanOrEqual(before - 1000)
      expect(loggedInAt).toBeLessThanOrEqual(Date.now())
      await keep('4 member')
    })

    test('refreshes, asks UserInfo, logs out by the page of Lumen, and has to log in at both again', async () => {
      await logIn()
      const { 'Signed in': loggedIn } = await facts()
      await press(page, 'Refresh')
      expect(await notice()).toContain('new ID token')
      expect(await facts()).toMatchObject({ Name: 'Ada Lovelace', 'Signed in': loggedIn })
      await press(page, 'Ask UserInfo')
      expect(await notice()).toContain('told again your name')
      await keep('5 asked')

      // Out again, by the page of Lumen that asks.
      await press(page, 'Sign out')
      expect(page.url()).toContain(`${fresh.authorizationServer}/logout?`)
      expect(await page.locator('body').innerText()).toMatch(/signed in as Ada Lovelace[^]*Supper Club asks/)
      await keep('6 logout')
      await press(page, 'Sign out')
      expect(page.url()).toBe(`${fresh.relyingParty}/`)
      expect(await notice()).toContain('signed out of Supper Club')
      await keep('7 logged out')
      await page.reload()
      expect(await page.getByRole('status').count()).toBe(0)
      await press(page, 'Sign in with Lumen')
      expect(page.url()).toContain(`${fresh.authorizationServer}/login?`)
    })

    test('who stays logged in at Lumen is logged out of Supper Club, and finds the way back', async () => {
      await logIn()
      await press(page, 'Sign out')
      await press(page, 'Stay signed in')
      await keep('8 stayed')
      await follow(page, () => page.getByRole('link', { name: 'Go back to Supper Club' }).click())
      expect(await notice()).toContain('signed out of Supper Club')
      await page.goto(fresh.authorizationServer)
      expect(await page.getByText('Signed in as Ada Lovelace').isVisible()).toBe(true)
    })
  },
)

test('the login of the demo asks for the password again, if a client demands it', async () => {
  const page = await browser.newPage()
  await page.goto(`${demo.authorizationServer}/login`)
  await signIn(page, demo)
  const { location } = await depart()
  await page.goto(bent(location, 'prompt', 'login consent').href)
  expect(page.url()).toContain(`${demo.authorizationServer}/login?`)
  await signIn(page, demo)
  expect(page.url()).toContain(`${demo.authorizationServer}/authorize?`)
  expect(await page.getByRole('button', { name: 'Allow' }).isVisible()).toBe(true)
  await page.close()
})

test('a login that Lumen has ended is over at the next refresh, and the page says so', async () => {
  const { cookie, location } = await depart()
  const answer = await new ResourceOwner(demo).decide(location)
  const mine = { cookie: (await arrive(cookie, answer)).cookie }
  // RFC 6749 4.1.2: a second use of the code revokes what the first one got.
  const { client_id, client_secret, redirect_uri } = demo.clients.supperClub
  const code = answer.searchParams.get('code') ?? ''
  const grant = { grant_type: 'authorization_code', code, redirect_uri, client_id, client_secret }
  await fetch(`${demo.authorizationServer}/token`, { method: 'POST', body: new URLSearchParams(grant) })
  await post('/refresh', mine)
  const page = await (await fetch(demo.relyingParty, { headers: mine })).text()
  expect(noticeIn(page)).toContain('has ended this sign-in')
  expect(page).toContain('Sign in with Lumen')
})
