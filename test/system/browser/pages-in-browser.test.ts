import type { Browser, Page } from 'playwright-core'
import { faultsOn } from '../../support/browser/axe'
import { launchChromium } from '../../support/chromium'
import { extent } from '../../support/extent'
import { pageNames as names, startGallery } from '../../support/page-gallery'
import type { StartedServer } from '../../support/rooms/start-server'

const pageLanguages: readonly string[] = ['en', 'de', 'fr', 'es', 'ja', 'ar']

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

// Pages that have every part between them; all of them in the long run.
const representatives = new Set(
  extent(
    ['dangerous', 'list', 'obstacle', 'unverified-device', 'error', 'connected', 'device-question'],
    names,
  ),
)

// The browser shows each page in the longest texts, and some from right to left; in every language in the long run.
const languagesOf = (name: string) => extent(representatives.has(name) ? ['de', 'ar'] : ['de'], pageLanguages)

// Every page in each language and both colours in the long run; one language of each direction otherwise.
const everyLook = pageLanguages.flatMap((language) => [
  [language, 'light'] as const,
  [language, 'dark'] as const,
])
const looks = extent([['en', 'light'] as const, ['ar', 'dark'] as const], everyLook)
const exhibits = looks.flatMap(([language, colors]) =>
  names
    .filter((name) => language === 'en' || representatives.has(name))
    .map((name) => [name, language, colors] as const),
)

it.each(exhibits)(
  'The page %s in %s, %s, has nothing that axe finds',
  async (name, language, colorScheme) => {
    await shared.emulateMedia({ colorScheme })
    await shared.goto(urlOf(name, language))
    expect(await faultsOn(shared)).toEqual([])
  },
)

describe.each(names)('The page %s', (name) => {
  it('is small and without a script in every language', async () => {
    for (const language of pageLanguages) {
      const body = Buffer.from(await (await fetch(urlOf(name, language))).arrayBuffer())
      expect(body.length).toBeLessThan(20_000)
      expect(body.toString()).toContain(`<html lang="${language}"`)
      expect(body.toString()).not.toMatch(/<script|\son\w+=|\sstyle=/i)
    }
  })

  it('is one request, in its language and direction, on a narrow screen', async () => {
    await shared.setViewportSize({ width: 320, height: 480 })
    for (const language of languagesOf(name)) {
      requests.splice(0)
      await shared.goto(urlOf(name, language))
      expect(requests.filter((path) => path !== '/logo.svg' && path !== '/favicon.ico')).toEqual([`/${name}`])
      expect(complaints).toEqual([])
      const facts = await shared.evaluate(
        '({ lang: document.documentElement.lang, dir: getComputedStyle(document.body).direction, width: document.documentElement.scrollWidth })',
      )
      // No scrolling to the side at 320 pixels, which is a screen of 1280 pixels at 400 % (WCAG 2.2, 1.4.10).
      expect(facts).toEqual({ lang: language, dir: language === 'ar' ? 'rtl' : 'ltr', width: 320 })
    }
  })
})

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

describe.each([...representatives])('The page %s', (name) => {
  it('cuts no text off at twice the size of its letters', async () => {
    await shared.setViewportSize({ width: 640, height: 480 })
    await shared.goto(urlOf(name, 'de'))
    const cut = await shared.evaluate(`{
      document.documentElement.style.fontSize = '32px'
      const cut = [...document.querySelectorAll('button, a, li, p, dd, h1, h2, h3, label')]
        .filter((element) => element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).display !== 'inline')
        .map((element) => element.outerHTML)
      const wide = document.documentElement.scrollWidth > 640 ? ['page'] : []
      cut.concat(wide)
    }`)
    expect(cut).toEqual([])
  })
})

describe('With the keyboard alone', () => {
  // A form that was sent leaves its page.
  let page: Page
  beforeEach(async () => {
    page = await browser.newPage()
  })
  afterEach(() => page.close())

  const focused = () =>
    page.evaluate(
      `[document.activeElement.name ?? '', document.activeElement.value ?? document.activeElement.textContent.trim()].join('=')`,
    )

  /** Presses Tab until the focus is back at the top, and says what had it. */
  async function tour(): Promise<unknown[]> {
    const stops: unknown[] = []
    for (let step = 0; step < 20; step++) {
      await page.keyboard.press('Tab')
      const now = await focused()
      if (await page.evaluate('document.activeElement === document.body')) return stops
      stops.push(now)
    }
    return stops
  }

  it('every control of the consent page is reached, in the order of the page', async () => {
    await page.goto(urlOf('dangerous', 'en'))
    expect(await tour()).toEqual([
      '=book.example',
      'scope:photos:write=yes',
      'scope:photos:delete=yes',
      '=Not you?',
      'decision=deny',
      'decision=approve',
      '=Connected applications',
      '=Privacy policy',
      '=Terms of service',
    ])
  })

  it('a person answers the question, ticks a box and allows', async () => {
    await page.goto(urlOf('choice', 'en'))
    await page.locator('input[type=radio]').first().focus()
    await page.keyboard.press('Space')
    await page.keyboard.press('ArrowDown')
    expect(await page.locator('input[type=radio]:checked').inputValue()).toBe('w1')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    const sent = page.waitForRequest((request) => request.method() === 'POST')
    await page.keyboard.press('Enter')
    expect(Object.fromEntries(new URLSearchParams((await sent).postData() ?? ''))).toEqual({
      authorization_request: expect.stringMatching(/^ar_/),
      choice: 'w1',
      decision: 'approve',
    })
  })

  it('a person removes an application, or keeps it', async () => {
    await page.goto(urlOf('connected', 'en'))
    expect(await tour()).toEqual(['=Remove', '=Remove', '=Remove'])
    await page.goto(urlOf('connected-remove', 'en'))
    expect(await tour()).toEqual(['=Keep', '='])
    const sent = page.waitForRequest((request) => request.method() === 'POST')
    await page.getByRole('button', { name: 'Remove' }).press('Enter')
    expect((await sent).postData()).toContain('client_id=book&')
  })

  it.each(['choice', 'list'])(
    'nothing is allowed without an answer (%s), and Cancel needs none',
    async (name) => {
      await page.goto(urlOf(name, 'en'))
      const posts: string[] = []
      page.on('request', (request) => {
        if (request.method() === 'POST') posts.push(request.postData() ?? '')
      })
      await page.getByRole('button', { name: 'Allow' }).press('Enter')
      expect(await page.evaluate('document.querySelector("form").checkValidity()')).toBe(false)
      expect(posts).toEqual([])
      const sent = page.waitForRequest((request) => request.method() === 'POST')
      await page.getByRole('button', { name: 'Cancel' }).press('Enter')
      expect((await sent).postData()).toContain('decision=deny')
    },
  )
})
