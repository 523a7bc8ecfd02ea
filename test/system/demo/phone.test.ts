import type { Browser, Page } from 'playwright-core'
import { startDemo, type Demo } from '../../../demo/demo'
import { press } from '../../support/browser/follow'
import { keepScreenshot, pixelRatio } from '../../support/browser/keep-screenshot'
import { launchChromium } from '../../support/chromium'
import { freePorts } from '../../support/clients/free-ports'
import { extent } from '../../support/extent'
import { allow, signIn } from './visit'

let browser: Browser
let demo: Demo
beforeAll(async () => {
  browser = await launchChromium()
  demo = await startDemo({ ports: freePorts })
})
afterAll(async () => {
  await demo.stop()
  await browser.close()
})

/** How wide the page is. `innerWidth` would not do: a phone zooms out until it shows all of a page that is too wide. */
async function widthOf(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth')
}

test('no page of the demo scrolls sideways on a screen of 320 to 390 pixels', async () => {
  const context = await browser.newContext({ isMobile: true, hasTouch: true, deviceScaleFactor: pixelRatio })
  const page = await context.newPage()
  const wide: string[] = []
  const look = async (title: string) => {
    for (const width of extent([320, 390], [320, 344, 360, 375, 390])) {
      await page.setViewportSize({ width, height: 700 })
      const needed = await widthOf(page)
      if (needed > width) wide.push(`${title} at ${width}: ${needed}`)
      if (width === 320) await keepScreenshot(page, `narrow ${title}`)
    }
  }
  await page.goto(demo.authorizationServer)
  await look('1 home')
  await page.goto(demo.client)
  await look('2 invitation')
  await press(page, 'Connect Lumen')
  await look('3 sign in')
  await signIn(page, demo, 'not the password')
  await look('4 wrong password')
  await signIn(page, demo)
  await look('5 consent')
  await press(page, 'Cancel')
  await look('6 refused')
  await press(page, 'Connect Lumen')
  await allow(page)
  await look('7 photos')
  await press(page, 'Refresh tokens')
  await look('8 refreshed')
  await press(page, 'Disconnect')
  await look('9 disconnected')
  await page.goto(`${demo.client}/callback?error=${'temporarily_unavailable_'.repeat(10)}`)
  await look('10 error')
  await page.goto(`${demo.authorizationServer}/authorize?client_id=nobody`)
  await look('11 refusal')
  await page.goto(demo.relyingParty)
  await look('12 invitation of the club')
  await press(page, 'Sign in with Lumen')
  await look('13 consent of the club')
  await press(page, 'Allow')
  await press(page, 'Ask UserInfo')
  await look('14 member')
  await press(page, 'Sign out')
  await look('15 logout')
  await press(page, 'Stay signed in')
  await look('16 stayed')
  await page.goto(demo.postcards)
  await look('17 invitation of Postcards')
  await press(page, 'Connect Lumen')
  await look('18 consent of Postcards')
  await allow(page)
  await look('19 postcards')
  await page.goto(demo.attackLab)
  await look('20 attacks')
  await press(page, 'Guess a secret')
  await look('21 guesses')
  await press(page, 'Back to the attacks')
  await press(page, 'Steal a code')
  await allow(page)
  await look('22 replay')
  await context.close()
  expect(wide).toEqual([])
})

interface Look {
  readonly color: string
  readonly background: string
}

/** How an element looks, in the colours that the browser makes of its styles. */
async function lookOf(page: Page, selector: string): Promise<Look> {
  return page.evaluate(
    `(({ color, backgroundColor }) => ({ color, background: backgroundColor }))(getComputedStyle(document.querySelector(${JSON.stringify(selector)})))`,
  )
}

function redIn(color: string): boolean {
  const [red = 0, green = 0, blue = 0] = (color.match(/[\d.]+/g) ?? []).map(Number)
  return red > green * 1.3 && red > blue * 1.3
}

test('a wrong password looks like one in the light and in the dark', async () => {
  const context = await browser.newContext({ viewport: { width: 320, height: 700 } })
  const page = await context.newPage()
  await page.goto(`${demo.authorizationServer}/login`)
  await signIn(page, demo, 'not the password')
  expect(await page.getByRole('alert').innerText()).toBe('The name or the password is wrong.')
  expect(await page.getByLabel('Password').getAttribute('aria-invalid')).toBe('true')
  const cards: string[] = []
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    const alert = await lookOf(page, '[role=alert]')
    const card = await lookOf(page, '.card')
    expect({ colorScheme, ...alert, isRed: redIn(alert.color) }).toMatchObject({ isRed: true })
    expect(alert.background).not.toBe(card.background)
    cards.push(card.background)
    await keepScreenshot(page, `phone wrong password ${colorScheme}`)
  }
  expect(cards[0]).not.toBe(cards[1])
  await context.close()
})

describe('On a phone whose owner has connected Photo Book to Lumen', () => {
  let page: Page
  // Nothing is remembered there yet.
  let fresh: Demo
  beforeAll(async () => {
    fresh = await startDemo({ ports: freePorts })
    const context = await browser.newContext({ viewport: { width: 390, height: 844 } })
    page = await context.newPage()
    await page.goto(fresh.client)
    await press(page, 'Connect Lumen')
    await signIn(page, fresh)
    await allow(page)
  })
  afterAll(async () => {
    await page.context().close()
    await fresh.stop()
  })

  test('a resource owner who goes back to the question ends at the photos, without an alarm', async () => {
    await page.goBack()
    expect(page.url()).toBe(`${fresh.client}/`)
    expect(await page.getByRole('figure').count()).toBe(4)
    expect(await page.getByRole('alert').count()).toBe(0)
    expect(await page.getByRole('status').innerText()).toContain('connected already')
    await keepScreenshot(page, 'phone connected already')
  })

  test('Disconnect says what it did, once, and the tokens are dead', async () => {
    await page.goto(fresh.client)
    await press(page, 'Disconnect')
    expect(await page.getByRole('status').innerText()).toMatch(/^Disconnected\. .*Lumen ended them/)
    await keepScreenshot(page, 'phone disconnected')
    await page.reload()
    expect(await page.getByRole('status').count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Connect Lumen' }).isVisible()).toBe(true)
  })
})
