import { once } from 'node:events'
import express, { type Response } from 'express'
import type { Browser } from 'playwright-core'
import { launchChromium } from '../../support/chromium'
import { type StartedServer, startServer } from '../../support/rooms/start-server'
import { follow } from '../../support/browser/follow'

let browser: Browser
let server: StartedServer
const app = express()
beforeAll(async () => {
  browser = await launchChromium()
  server = await startServer(app)
})
afterAll(async () => {
  await browser.close()
  await server.stop()
})

// Wide until its style comes.
app.get('/', (_request, response) => void response.send('<p style="width: 2000px"><a href="/hop">on</a>'))
app.get('/hop', (_request, response) => response.redirect(303, '/end'))
app.get(
  '/end',
  (_request, response) =>
    void response.send('<link rel="stylesheet" href="/style.css"><p>'.padEnd(5000, 'w')),
)
app.get('/style.css', (_request, response) => void app.emit('style', response))

test('follow ends when the page behind a redirect has its style, however late that comes', async () => {
  const page = await browser.newPage({ viewport: { width: 320, height: 700 } })
  await page.goto(`http://127.0.0.1:${server.port}/`)
  const styleAsked = once(app, 'style')
  const width = follow(page, () => page.getByRole('link').click()).then(() =>
    page.evaluate('document.documentElement.scrollWidth'),
  )
  const [response]: Response[] = await styleAsked
  await page.waitForURL('**/end', { waitUntil: 'commit' })
  // A round trip to the page: time for whoever does not wait to read it.
  await page.evaluate('document.documentElement.scrollWidth')
  response?.type('css').send('p { overflow-wrap: anywhere }')
  expect(await width).toBe(320)
  await page.close()
})
