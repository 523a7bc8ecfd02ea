import express, { type Express } from 'express'
import helmet from 'helmet'
import type { Browser } from 'playwright-core'
import { createAuthorizationServer, formPost } from '../../../lib/index'
import { launchChromium } from '../../support/chromium'
import { type StartedServer, startServer } from '../../support/rooms/start-server'

let browser: Browser
beforeAll(async () => {
  browser = await launchChromium()
})
afterAll(() => browser.close())

const open: StartedServer[] = []
afterEach(async () => {
  for (const { stop } of open.splice(0)) await stop()
})

async function listen(app: Express): Promise<string> {
  // The browser asks for it by itself.
  app.get('/favicon.ico', (_request, response) => void response.status(204).end())
  const started = await startServer(app)
  open.push(started)
  return `http://127.0.0.1:${started.port}`
}

/** What the client got at its redirection URI. */
interface Received {
  readonly fields: unknown
  readonly referer: string | undefined
  readonly origin: string | undefined
}

/** A server below a prefix and behind helmet, and a client that sends the browser on to another origin, as clients do. */
async function request(skipConsent = false) {
  const received: Received[] = []
  const home = await listen(express().get('/home', (_request, response) => void response.send('<p>home</p>')))
  const callback = express().post('/cb', express.urlencoded({ extended: false }), (incoming, response) => {
    received.push({ fields: incoming.body, referer: incoming.get('Referer'), origin: incoming.get('Origin') })
    response.redirect(303, `${home}/home`)
  })
  const client = await listen(callback)
  const app = express()
  const issuer = `${await listen(app)}/login`
  const oauth = createAuthorizationServer({
    issuer,
    clients: [
      {
        client_id: 'a',
        client_type: 'confidential',
        client_secret_hashes: [`sha256:${'A'.repeat(43)}`],
        scope: 'a',
        redirect_uris: [`${client}/cb`],
      },
    ],
    scopes: { a: 'See your photos' },
    resourceOwner: () => 'alice',
    pkce: 'none',
    skipConsent: () => skipConsent,
    plugIns: [formPost()],
  })
  app.use(helmet()).use('/login', oauth.router())
  const query = 'response_type=code&response_mode=form_post&client_id=a&scope=a&state=s'
  const fields = { code: expect.any(String), state: 's', iss: issuer }
  return { url: `${issuer}/authorize?${query}`, home: `${home}/home`, received, fields }
}

describe('In Chromium the page of form_post, behind helmet', () => {
  it('submits itself once, and the client may send the browser on to another origin', async () => {
    const { url, home, received, fields } = await request()
    const page = await browser.newPage()
    const complaints: string[] = []
    page.on('console', (message) => complaints.push(message.text()))
    await page.goto(url)
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.waitForURL(home)
    expect(received).toEqual([{ fields, referer: undefined, origin: 'null' }])
    expect(complaints).toEqual([])
    await page.close()
  })

  it('needs its button without scripts', async () => {
    const { url, home, received, fields } = await request(true)
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(url)
    expect(received).toEqual([])
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.waitForURL(home)
    expect(received).toEqual([{ fields, referer: undefined, origin: 'null' }])
    await context.close()
  })
})
