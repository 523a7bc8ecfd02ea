import { source as axe } from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { pageLanguages } from '../../../lib/http/pages/texts/catalogues'
import { launchChromium } from '../../support/chromium'
import { gallery, startGallery } from '../../support/page-gallery'
import type { StartedServer } from '../../support/rooms/start-server'

let browser: Browser
let server: StartedServer
beforeAll(async () => {
  browser = await launchChromium()
  server = await startGallery()
})
afterAll(async () => {
  await browser.close()
  await server.stop()
})

const names = Object.keys(gallery)
const urlOf = (name: string, language: string) =>
  `http://127.0.0.1:${server.port}/${name}?ui_locales=${language}`

/** What axe finds on a page, as `rule: element`. */
async function faultsOn(page: Page): Promise<unknown> {
  await page.evaluate(axe)
  return page.evaluate(
    `axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`,
  )
}

describe.each(names)('The page %s', (name) => {
  it.each([
    ['en', 'light'],
    ['ar', 'dark'],
  ] as const)('in %s, %s, has nothing that axe finds', async (language, colorScheme) => {
    const page = await browser.newPage({ colorScheme })
    await page.goto(urlOf(name, language))
    expect(await faultsOn(page)).toEqual([])
    await page.close()
  })

  it('is small, one request, without a script, and in its language and direction', async () => {
    for (const language of pageLanguages) {
      const page = await browser.newPage({ viewport: { width: 320, height: 480 } })
      const complaints: string[] = []
      const requests: string[] = []
      page.on('console', (message) => complaints.push(message.text()))
      page.on('request', (request) => requests.push(new URL(request.url()).pathname))
      const response = await page.goto(urlOf(name, language))
      const body = (await response?.body()) ?? Buffer.alloc(0)
      expect(body.length).toBeLessThan(20_000)
      expect(body.toString()).not.toMatch(/<script|\son\w+=|\sstyle=/i)
      expect(requests.filter((path) => path !== '/logo.svg' && path !== '/favicon.ico')).toEqual([`/${name}`])
      expect(complaints).toEqual([])
      const facts = await page.evaluate(
        '({ lang: document.documentElement.lang, dir: getComputedStyle(document.body).direction, width: document.documentElement.scrollWidth })',
      )
      // No scrolling to the side at 320 pixels, which is a screen of 1280 pixels at 400 % (WCAG 2.2, 1.4.10).
      expect(facts).toEqual({ lang: language, dir: language === 'ar' ? 'rtl' : 'ltr', width: 320 })
      await page.close()
    }
  })

  it('cuts no text off at twice the size of its letters', async () => {
    const page = await browser.newPage({ viewport: { width: 640, height: 480 } })
    await page.goto(urlOf(name, 'de'))
    const cut = await page.evaluate(`{
      // A rule of the browser, as its setting for larger letters; the policy of the page allows no other style.
      document.documentElement.style.fontSize = '32px'
      const cut = [...document.querySelectorAll('button, a, li, p, dd, h1, h2, h3, label')]
        .filter((element) => element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).display !== 'inline')
        .map((element) => element.outerHTML)
      const wide = document.documentElement.scrollWidth > 640 ? ['page'] : []
      cut.concat(wide)
    }`)
    expect(cut).toEqual([])
    await page.close()
  })
})

describe('With the keyboard alone', () => {
  const focused = (page: Page) =>
    page.evaluate(
      `[document.activeElement.name ?? '', document.activeElement.value ?? document.activeElement.textContent.trim()].join('=')`,
    )

  /** Presses Tab until the focus is back at the top, and says what had it. */
  async function tour(page: Page): Promise<unknown[]> {
    const stops: unknown[] = []
    for (let step = 0; step < 20; step++) {
      await page.keyboard.press('Tab')
      const now = await focused(page)
      if (await page.evaluate('document.activeElement === document.body')) return stops
      stops.push(now)
    }
    return stops
  }

  it('every control of the consent page is reached, in the order of the page', async () => {
    const page = await browser.newPage()
    await page.goto(urlOf('dangerous', 'en'))
    expect(await tour(page)).toEqual([
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
    await page.close()
  })

  it('a person answers the question, ticks a box and allows', async () => {
    const page = await browser.newPage()
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
      authorization_request: 'ar_x',
      choice: 'w1',
      decision: 'approve',
    })
    await page.close()
  })

  it.each(['choice', 'list'])(
    'nothing is allowed without an answer (%s), and Cancel needs none',
    async (name) => {
      const page = await browser.newPage()
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
      await page.close()
    },
  )
})
