import type { Browser, Page } from 'playwright-core'
import { faultsOn } from '../../support/browser/axe'
import { launchChromium } from '../../support/chromium'
import { pageNames as names, startGallery } from '../../support/page-gallery'
import type { StartedServer } from '../../support/start-server'

let browser: Browser
let server: StartedServer
// The page that most tests share, with what it asked for and what it complained about.
let shared: Page
const requests: string[] = []
const complaints: string[] = []
beforeAll(async () => {
  browser = await launchChromium()
  server = await startGallery()
  shared = await browser.newPage()
  shared.on('console', (message) => complaints.push(message.text()))
  shared.on('request', (request) => requests.push(new URL(request.url()).pathname))
})
afterAll(async () => {
  await browser.close()
  await server.stop()
})

const urlOf = (name: string, language: string) =>
  `http://127.0.0.1:${server.port}/${name}?ui_locales=${language}`

// They have every part between them. German has the longest texts, and Arabic runs from right to left.
const representatives = ['dangerous', 'list', 'problem', 'unverified-device', 'error', 'connected']
const looks = [
  ...names.map((name) => [name, 'de', 'light'] as const),
  ...[...representatives, 'device-question'].map((name) => [name, 'ar', 'dark'] as const),
]

/** What is wider than its place, with letters of twice the size. */
const cut = `{
  document.documentElement.style.fontSize = '32px'
  const cut = [...document.querySelectorAll('button, a, li, p, dd, h1, h2, h3, label')]
    .filter((element) => element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).display !== 'inline')
    .map((element) => element.outerHTML)
  document.documentElement.scrollWidth > 640 ? [...cut, 'page'] : cut
}`

it.each(looks)(
  'The page %s in %s, %s, is one request, fits a narrow screen and large letters, and has nothing that axe finds',
  async (name, language, colorScheme) => {
    await shared.emulateMedia({ colorScheme })
    await shared.setViewportSize({ width: 320, height: 480 })
    requests.splice(0)
    await shared.goto(urlOf(name, language))
    expect(requests.filter((path) => path !== '/logo.svg' && path !== '/favicon.ico')).toEqual([`/${name}`])
    expect(complaints).toEqual([])
    const facts = await shared.evaluate(
      '({ lang: document.documentElement.lang, dir: getComputedStyle(document.body).direction, width: document.documentElement.scrollWidth })',
    )
    // No scrolling to the side at 320 pixels, which is a screen of 1280 pixels at 400 % (WCAG 2.2, 1.4.10).
    expect(facts).toEqual({ lang: language, dir: language === 'ar' ? 'rtl' : 'ltr', width: 320 })
    expect(await faultsOn(shared)).toEqual([])
    await shared.setViewportSize({ width: 640, height: 480 })
    expect(await shared.evaluate(cut)).toEqual([])
  },
)

// The first screen of a phone: what a person sees without opening or scrolling anything.
it.each([
  ['consent', [], [], []],
  [
    'unverified',
    ['Not verified'],
    [expect.stringMatching(/^notes\.example:/)],
    ['Its name is its own claim.'],
  ],
  [
    'unverified-device',
    ['Not verified'],
    [expect.stringMatching(/^notes\.example:/)],
    ['Its name is its own claim.', 'a program on this device.'],
  ],
  ['unverified-app', ['Not verified'], [], ['Its name is its own claim.', 'an app on this device.']],
])('The page %s tells a stranger apart at once', async (name, badge, origin, warnings) => {
  await shared.setViewportSize({ width: 360, height: 740 })
  await shared.goto(urlOf(name, 'en'))
  const inSight = async (selector: string) => {
    const found = await shared.locator(selector).all()
    const seen = found.map(async (one) => ({ text: await one.innerText(), box: await one.boundingBox() }))
    return (await Promise.all(seen))
      .filter(({ box }) => box !== null && box.height > 0 && box.y + box.height <= 740)
      .map(({ text }) => text)
  }
  expect([await inSight('.badge'), await inSight('.origin bdi')]).toEqual([badge, origin])
  const cautions = (await inSight('.caution')).join(' ')
  expect(cautions === '').toBe(warnings.length === 0)
  for (const warning of warnings) expect(cautions).toContain(warning)
})

describe('With the keyboard alone', () => {
  // A form that was sent leaves its page.
  let page: Page
  beforeEach(async () => {
    page = await browser.newPage()
  })
  afterEach(() => page.close())

  /** What the form sends when this is done. */
  const sentBy = async (act: () => Promise<void>) => {
    const sent = page.waitForRequest((request) => request.method() === 'POST')
    await act()
    return Object.fromEntries(new URLSearchParams((await sent).postData() ?? ''))
  }
  const press = (name: string) => page.getByRole('button', { name }).press('Enter')

  /** Presses Tab until the focus is back at the top, and says what had it. */
  async function tour(): Promise<unknown[]> {
    const stops: unknown[] = []
    for (let step = 0; step < 20; step++) {
      await page.keyboard.press('Tab')
      const now = await page.evaluate(
        `document.activeElement !== document.body && [document.activeElement.name ?? '', document.activeElement.value ?? document.activeElement.textContent.trim()].join('=')`,
      )
      if (now === false) return stops
      stops.push(now)
    }
    return stops
  }

  it.each([
    [
      'dangerous',
      [
        '=book.example',
        'scope:photos:write=yes',
        'scope:photos:delete=yes',
        '=Not you?',
        'decision=deny',
        'decision=approve',
        '=Connected applications',
        '=Privacy policy',
        '=Terms of service',
      ],
    ],
    ['connected', ['=Remove', '=Remove', '=Remove']],
    ['connected-remove', ['=Keep', '=']],
  ])('every control of the page %s is reached, in the order of the page', async (name, controls) => {
    await page.goto(urlOf(name, 'en'))
    expect(await tour()).toEqual(controls)
  })

  it('a person answers the question and allows', async () => {
    await page.goto(urlOf('choice', 'en'))
    await page.locator('input[type=radio]').first().focus()
    for (const key of ['Space', 'ArrowDown', 'Tab', 'Tab']) await page.keyboard.press(key)
    const authorization_request = expect.stringMatching(/^ar_/)
    expect(await sentBy(() => page.keyboard.press('Enter'))).toEqual({
      authorization_request,
      choice: 'w1',
      decision: 'approve',
    })
  })

  it('a person removes an application', async () => {
    await page.goto(urlOf('connected-remove', 'en'))
    expect(await sentBy(() => press('Remove'))).toMatchObject({ client_id: 'book' })
  })

  it.each(['choice', 'list'])(
    'nothing is allowed without an answer (%s), and Cancel needs none',
    async (name) => {
      await page.goto(urlOf(name, 'en'))
      const posts: string[] = []
      page.on('request', (request) => request.method() === 'POST' && posts.push(request.postData() ?? ''))
      await press('Allow')
      expect(await page.evaluate('document.querySelector("form").checkValidity()')).toBe(false)
      expect(posts).toEqual([])
      expect(await sentBy(() => press('Cancel'))).toMatchObject({ decision: 'deny' })
    },
  )
})
