import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { Demo } from '../../../demo/demo'
import { listen } from '../../../demo/listen'
import { faultsOn } from '../../support/browser/axe'
import { follow, press } from '../../support/browser/follow'
import { launchChromium } from '../../support/chromium'
import { AppVisitor, allow, openDemo, signIn } from './visit'

let browser: Browser
// Each test has a demo that remembers nothing yet, and a browser without cookies.
let demo: Demo
let context: BrowserContext
let page: Page
beforeAll(async () => {
  browser = await launchChromium()
})
beforeEach(async () => {
  demo = await openDemo()
  context = await browser.newContext({ viewport: { width: 390, height: 844 } })
  page = await context.newPage()
})
afterEach(async () => {
  await context.close()
  await demo.stop()
})
afterAll(() => browser.close())

const openLink = (name: string) => follow(page, () => page.getByRole('link', { name, exact: true }).click())
const isShown = (text: string) => page.getByText(text).isVisible()

test('each app leads back to the front page, signed in or not', async () => {
  for (const name of ['Photo Book', 'Postcards', 'Supper Club', 'Attack Lab', 'Television']) {
    await page.goto(demo.authorizationServer)
    await openLink(name)
    expect(await page.title()).toBe(name)
    await openLink('All apps of the demo')
    expect(page.url()).toBe(`${demo.authorizationServer}/`)
  }
  expect(await faultsOn(page)).toEqual([])
  await press(page, 'Sign in')
  expect(await isShown('Name and password of this demo: ada countess')).toBe(true)
  expect(await faultsOn(page)).toEqual([])
  await signIn(page, demo)
  expect(page.url()).toBe(`${demo.authorizationServer}/`)
})

test('Attack Lab shows the limit on guesses at work, and a stolen code that fails', async () => {
  /** The headings of the steps, and the explanations that stand beside them. */
  const titles = () => page.getByRole('heading', { level: 2 }).allInnerTexts()
  await page.goto(demo.attackLab)
  await press(page, 'Guess a secret')
  expect(await titles()).toEqual([
    'The first guess is wrong',
    'So is every other, up to guess 20',
    'Guess 21 finds a closed door',
    'The service itself still gets in',
  ])
  expect(await isShown('429 Too Many Requests')).toBe(true)
  const clause = page.getByRole('link', { name: 'RFC 6749, section 2.3.1' })
  expect(await clause.getAttribute('href')).toBe('https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1')
  expect(await faultsOn(page)).toEqual([])

  await page.goto(demo.attackLab)
  await press(page, 'Steal a code')
  await signIn(page, demo)
  await allow(page)
  expect(page.url()).toBe(`${demo.attackLab}/replay`)
  expect(await titles()).toEqual([
    'The app trades the code',
    'The token opens your photos',
    'A thief sends the same code',
    'Now the token of the app is dead, too',
  ])
  expect(await page.getByRole('link', { name: /^RFC / }).count()).toBe(4)
  expect(await faultsOn(page)).toEqual([])
  // Back to the question, which has its answer: the page with what happened is where it ends.
  await page.goBack()
  expect(page.url()).toBe(`${demo.attackLab}/replay`)
  // From then on, Lumen remembers: the button leads to the end at once.
  await press(page, 'Try again')
  expect(await titles()).toHaveLength(4)
})

test('Photo Book asks for a workspace before anything is allowed, and loses its access at the press of a button', async () => {
  expect((await new AppVisitor(demo.authorizationServer).get('/authorizations')).location?.pathname).toBe(
    '/login',
  )
  await page.goto(demo.authorizationServer)
  await openLink('Connected applications')
  await signIn(page, demo)
  expect(await isShown('No app can access your account.')).toBe(true)
  await page.goto(demo.client)
  await press(page, 'Connect Lumen')
  const question = await page.locator('body').innerText()
  expect(question).toMatch(/^Lumen\s|at Lumen/m)
  expect(question).toMatch(/Access to\s+Lumen photos/)
  expect(question).not.toContain('Not verified')
  expect(await page.getByRole('radio').count()).toBe(2)
  await page.getByRole('button', { name: 'Allow' }).click()
  // The browser holds the form back: no workspace is chosen.
  expect(new URL(page.url()).origin).toBe(demo.authorizationServer)
  await allow(page, 'Travels')
  expect(await isShown('4 photos of Travels')).toBe(true)
  await press(page, 'Choose another workspace')
  await allow(page, 'Alpine Club')
  expect(await isShown('3 photos of Alpine Club')).toBe(true)

  await page.goto(demo.postcards)
  await press(page, 'Connect Lumen')
  expect(await isShown('Not verified')).toBe(true)
  expect(await isShown('This app registered itself here.')).toBe(true)
  await allow(page)
  expect(page.url()).toBe(`${demo.postcards}/`)
  expect(await page.getByRole('figure').count()).toBe(4)
  expect(await page.getByRole('heading', { name: 'Why Lumen marked Postcards' }).isVisible()).toBe(true)
  expect(await faultsOn(page)).toEqual([])

  await page.goto(demo.authorizationServer)
  await openLink('Connected applications')
  const [photoBook = '', postcards = ''] = await page.locator('.application').allInnerTexts()
  expect(photoBook).toMatch(/^Photo Book[^]*See your photos[^]*Alpine Club/)
  expect(photoBook).toMatch(/Access to\s+Lumen photos\s/)
  expect(photoBook).not.toMatch(/Not verified|http/)
  expect(postcards).toMatch(/^Postcards[^]*Not verified[^]*See your photos/)
  expect(await faultsOn(page)).toEqual([])
  await openLink('Remove Photo Book')
  await press(page, 'Remove')
  expect(await page.getByRole('status').innerText()).toContain('The access of Photo Book is removed.')
  expect(await page.locator('.application').count()).toBe(1)

  await page.goto(demo.client)
  expect(await page.getByRole('alert').innerText()).toContain('Lumen has ended this connection')
  await press(page, 'Connect Lumen')
  expect(await page.getByRole('button', { name: 'Allow' }).isVisible()).toBe(true)
})

describe('a member of Supper Club', () => {
  /** What the page says about the person and the ID token. */
  async function facts(): Promise<Record<string, string>> {
    const [terms, definitions] = [page.getByRole('term'), page.getByRole('definition')]
    const told = await definitions.allInnerTexts()
    return Object.fromEntries((await terms.allInnerTexts()).map((term, index) => [term, told[index] ?? '']))
  }
  const notice = () => page.getByRole('status').innerText()
  const signInWithLumen = async () => {
    await page.goto(demo.relyingParty)
    await press(page, 'Sign in with Lumen')
    await signIn(page, demo)
  }

  test('sees who is signed in, when and how, refreshes, asks UserInfo, and signs out at both', async () => {
    const before = Date.now()
    await signInWithLumen()
    expect(await page.getByRole('listitem').allInnerTexts()).toEqual(
      ['Know who you are', 'See your name', 'See your e-mail address'].map((text) =>
        expect.stringContaining(text),
      ),
    )
    // Which workspace is a question for apps that want photos.
    expect(await page.getByRole('radio').count()).toBe(0)
    await press(page, 'Allow')
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Good evening, Ada Lovelace.')
    const { 'Signed in': signedIn = '', ...known } = await facts()
    expect(known).toMatchObject({
      Name: 'Ada Lovelace',
      'E-mail': 'ada@lumen.example',
      Verified: 'by Lumen',
      How: 'with a password',
      Issuer: demo.authorizationServer,
      Subject: 'user-1815',
      For: 'supper-club',
    })
    const signedInAt = Date.parse(signedIn)
    expect(signedInAt).toBeGreaterThanOrEqual(before - 1000)
    expect(signedInAt).toBeLessThanOrEqual(Date.now())
    await press(page, 'Refresh')
    expect(await notice()).toContain('new ID token')
    expect(await facts()).toMatchObject({ Name: 'Ada Lovelace', 'Signed in': signedIn })
    await press(page, 'Ask UserInfo')
    expect(await notice()).toContain('told again your name')

    // Out again, by the page of Lumen that asks.
    await press(page, 'Sign out')
    expect(page.url()).toContain(`${demo.authorizationServer}/logout?`)
    expect(await page.locator('body').innerText()).toMatch(/signed in as Ada Lovelace[^]*Supper Club asks/)
    await press(page, 'Sign out')
    expect(page.url()).toBe(`${demo.relyingParty}/`)
    expect(await notice()).toContain('signed out of Supper Club')
    await page.reload()
    expect(await page.getByRole('status').count()).toBe(0)
    await press(page, 'Sign in with Lumen')
    expect(page.url()).toContain(`${demo.authorizationServer}/login?`)
  })

  test('who stays signed in at Lumen finds the way back, and types the password again where an app demands it', async () => {
    await signInWithLumen()
    await press(page, 'Allow')
    await press(page, 'Sign out')
    await press(page, 'Stay signed in')
    await openLink('Go back to Supper Club')
    expect(await notice()).toContain('signed out of Supper Club')
    await page.goto(demo.authorizationServer)
    expect(await isShown('Signed in as Ada Lovelace')).toBe(true)
    const asked = await new AppVisitor(demo.relyingParty).depart('/login')
    asked.searchParams.set('prompt', 'login consent')
    await page.goto(asked.href)
    expect(page.url()).toContain(`${demo.authorizationServer}/login?`)
    await signIn(page, demo)
    expect(page.url()).toContain(`${demo.authorizationServer}/authorize?`)
    expect(await page.getByRole('button', { name: 'Allow' }).isVisible()).toBe(true)
  })
})

test('the MCP server is what the consent page names, with a warning, before the answer goes to a program on this device', async () => {
  const program = await listen(0)
  program.app.get('/oauth/callback', (_request, response) => void response.send('You may close this page.'))
  const redirectUri = `${program.url}/oauth/callback`
  const registration = await fetch(`${demo.authorizationServer}/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_name: 'Notes for the desk',
      redirect_uris: [redirectUri],
      token_endpoint_auth_method: 'none',
    }),
  })
  const { client_id } = JSON.parse(await registration.text())
  const request = new URLSearchParams({
    response_type: 'code',
    client_id,
    redirect_uri: redirectUri,
    scope: 'photos:read photos:write',
    resource: demo.mcpServer,
    code_challenge: 'c'.repeat(43),
    code_challenge_method: 'S256',
  })
  await page.goto(`${demo.authorizationServer}/authorize?${request.toString()}`)
  await signIn(page, demo)
  expect(await page.getByRole('definition').first().innerText()).toBe(
    `Lumen photos for AI clients ${demo.mcpServer}`,
  )
  expect(await page.locator('body').innerText()).toMatch(
    /Notes for the desk[^]*registered itself[^]*a program on this device/,
  )
  await allow(page)
  await page.waitForURL(`${redirectUri}?code=*`)
  expect(await page.locator('body').innerText()).toBe('You may close this page.')
  await program.close()
})
