import type { Browser, Page } from 'playwright-core'
import { startDemo, type Demo } from '../../demo/demo'
import { keepScreenshot } from '../support/browser/keep-screenshot'
import { launchChromium } from '../support/chromium'

let browser: Browser
let demo: Demo
beforeAll(async () => {
  browser = await launchChromium()
  demo = await startDemo({ ports: { authorizationServer: 0, client: 0, resourceServer: 0 } })
})
afterAll(async () => {
  await demo.stop()
  await browser.close()
})

/** How wide the page is. `innerWidth` would not do: a phone zooms out until it shows all of a page that is too wide. */
async function widthOf(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth')
}

async function signIn(page: Page, password: string): Promise<void> {
  await page.getByLabel('Name').fill(demo.account.username)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

test('no page of the demo scrolls sideways on a screen of 320 to 390 pixels', async () => {
  const context = await browser.newContext({ isMobile: true, hasTouch: true, deviceScaleFactor: 2 })
  const page = await context.newPage()
  const wide: string[] = []
  const look = async (title: string) => {
    for (const width of [320, 344, 360, 375, 390]) {
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
  await page.getByRole('button', { name: 'Connect Lumen' }).click()
  await look('3 sign in')
  await signIn(page, 'not the password')
  await look('4 wrong password')
  await signIn(page, demo.account.password)
  await look('5 consent')
  await page.getByRole('button', { name: 'Cancel' }).click()
  await look('6 refused')
  await page.getByRole('button', { name: 'Connect Lumen' }).click()
  await page.getByRole('button', { name: 'Allow' }).click()
  await page.getByRole('figure').first().waitFor()
  await look('7 photos')
  await page.getByRole('button', { name: 'Refresh tokens' }).click()
  await look('8 refreshed')
  await page.getByRole('button', { name: 'Disconnect' }).click()
  await look('9 disconnected')
  await page.goto(`${demo.client}/callback?error=${'temporarily_unavailable_'.repeat(10)}`)
  await look('10 error')
  await page.goto(`${demo.authorizationServer}/authorize?client_id=nobody`)
  await look('11 refusal')
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

test.each(['light', 'dark'] as const)('a wrong password looks like one in the %s', async (colorScheme) => {
  const context = await browser.newContext({ viewport: { width: 320, height: 700 }, colorScheme })
  const page = await context.newPage()
  await page.goto(`${demo.authorizationServer}/login`)
  await signIn(page, 'not the password')
  expect(await page.getByRole('alert').innerText()).toBe('The name or the password is wrong.')
  const alert = await lookOf(page, '[role=alert]')
  expect({ ...alert, isRed: redIn(alert.color) }).toMatchObject({ isRed: true })
  expect(alert.background).not.toBe((await lookOf(page, '.card')).background)
  expect(await page.getByLabel('Password').getAttribute('aria-invalid')).toBe('true')
  await keepScreenshot(page, `phone wrong password ${colorScheme}`)
  await context.close()
})

/** A phone whose owner has just connected Photo Book to Lumen. */
async function connected(): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 } })
  const page = await context.newPage()
  await page.goto(demo.client)
  await page.getByRole('button', { name: 'Connect Lumen' }).click()
  await signIn(page, demo.account.password)
  await page.getByRole('button', { name: 'Allow' }).click()
  await page.getByRole('figure').first().waitFor()
  return page
}

test('Disconnect says what it did, once, and the tokens are dead', async () => {
  const page = await connected()
  await page.getByRole('button', { name: 'Disconnect' }).click()
  expect(await page.getByRole('status').innerText()).toMatch(/^Disconnected\. .*Lumen ended them/)
  await keepScreenshot(page, 'phone disconnected')
  await page.reload()
  expect(await page.getByRole('status').count()).toBe(0)
  expect(await page.getByRole('button', { name: 'Connect Lumen' }).isVisible()).toBe(true)
  await page.context().close()
})

test('a resource owner who goes back and allows again ends at the photos, without an alarm', async () => {
  const page = await connected()
  await page.goBack()
  await page.getByRole('button', { name: 'Allow' }).click()
  expect(await page.getByRole('figure').count()).toBe(4)
  expect(await page.getByRole('alert').count()).toBe(0)
  expect(await page.getByRole('status').innerText()).toContain('connected already')
  await keepScreenshot(page, 'phone connected already')
  await page.context().close()
})
