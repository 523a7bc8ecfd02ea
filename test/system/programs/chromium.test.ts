import type { Browser } from 'playwright-core'
import { launchChromium } from '../../support/chromium'

let browser: Browser
beforeAll(async () => {
  browser = await launchChromium()
})
afterAll(() => browser.close())

test('Chromium renders a page and runs its script', async () => {
  const page = await browser.newPage()
  await page.setContent('<h1>One</h1><script>document.querySelector("h1").append(" and two")</script>')
  expect(await page.getByRole('heading').textContent()).toBe('One and two')
  expect(await page.getByRole('heading').boundingBox()).toMatchObject({ height: expect.any(Number) })
})
