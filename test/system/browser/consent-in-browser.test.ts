import express, { type Express, type Response } from 'express'
import helmet from 'helmet'
import type { Browser, Page } from 'playwright-core'
import {
  type AuthorizationServerOptions,
  type ConsentView,
  createAuthorizationServer,
  generateClientSecret,
} from '../../../lib/index'
import { launchChromium } from '../../support/chromium'
import { Documents, sourceOf } from '../../support/client-documents'
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

/** A server that is asked by a client at another origin; the page of the browser that shows the question. */
async function question(
  before: (app: Express) => unknown,
  options: Partial<AuthorizationServerOptions> = {},
  client_name = 'Photo Book',
  type: object = { client_type: 'public' },
): Promise<{ readonly page: Page; readonly client: string; readonly complaints: readonly string[] }> {
  const client = await listen(express().get('/cb', (_request, response) => void response.send('<p>back</p>')))
  const app = express()
  const issuer = await listen(app)
  const registration = { client_id: 'a', client_type: 'public', client_name, scope: 'a' } as const
  const oauth = createAuthorizationServer({
    issuer,
    clients: [{ ...registration, ...type, redirect_uris: [`${client}/cb`] }],
    scopes: { a: 'See your photos' },
    resourceOwner: () => 'alice',
    pkce: 'none',
    ...options,
  })
  before(app)
  app.use(oauth.router())
  const page = await browser.newPage()
  const complaints: string[] = []
  page.on('console', (message) => complaints.push(message.text()))
  await page.goto(`${issuer}/authorize?response_type=code&client_id=a&scope=a`)
  return { page, client, complaints }
}

const ownPage = (_request: unknown, response: Response, { action, fields }: ConsentView) => {
  const [[name, value] = ['', '']] = Object.entries(fields)
  response.send(`<!doctype html><form method="post" action="${action}">
    <input type="hidden" name="${name}" value="${value}"><button name="decision" value="approve">Allow</button></form>`)
}
const withHelmet = (app: Express) => app.use(helmet())
// What docs/warnings.md says, and http: for a client on a loopback host.
const asTold = (app: Express) =>
  app.use(helmet({ contentSecurityPolicy: { directives: { 'form-action': ["'self'", 'https:', 'http:'] } } }))

describe('In Chromium the button of a consent page', () => {
  it.each([
    ['of the suite', () => undefined, {}],
    ['of the suite, behind helmet', withHelmet, {}],
    ['of the host, with the form-action of the docs', asTold, { pages: { consent: ownPage } }],
  ])('%s leads back to the client', async (_which, before, options) => {
    const { page, client, complaints } = await question(before, options)
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.waitForURL(`${client}/cb?code=**`)
    expect(complaints).toEqual([])
    await page.close()
  })

  // The reason of EAS_FORM_ACTION: if a browser ever changes its mind, the warning may go.
  it('of the host, behind helmet, leads nowhere', async () => {
    const { page, complaints } = await question(withHelmet, { pages: { consent: ownPage } })
    const at = page.url()
    const said = page.waitForEvent('console')
    await page.getByRole('button', { name: 'Allow' }).click()
    await said
    expect(complaints.join()).toContain('form-action')
    expect(page.url()).not.toContain('/cb')
    expect(at).toContain('/authorize')
    await page.close()
  })
})

const secret = {
  client_type: 'confidential',
  client_secret_hashes: [generateClientSecret().client_secret_hash],
}
// The login posts to itself, and returns to the authorization endpoint.
const withLogin = (before: (app: Express) => unknown) => (app: Express) => {
  before(app)
  app.get('/login', (request, response) => {
    const { href } = new URL(request.originalUrl, 'http://localhost')
    response.send(
      `<!doctype html><form method="post" action="${href.slice(16)}"><button>Sign in</button></form>`,
    )
  })
  app.post('/login', ({ query: { return_to: returnTo } }, response) =>
    response.cookie('owner', 'alice').redirect(303, typeof returnTo === 'string' ? returnTo : '/'),
  )
}
const behindLogin: Partial<AuthorizationServerOptions> = {
  resourceOwner: (request) => request.headers.cookie?.includes('owner=alice') && 'alice',
  skipConsent: () => true,
}

describe('In Chromium the button of a login, with skipConsent,', () => {
  it('leads to the client with the form-action of the docs', async () => {
    const { page, client, complaints } = await question(withLogin(asTold), behindLogin, 'Photo Book', secret)
    await page.getByRole('button').click()
    await page.waitForURL(`${client}/cb?code=**`)
    expect(complaints).toEqual([])
    await page.context().clearCookies()
    await page.close()
  })

  it('leads nowhere behind helmet', async () => {
    const { page, complaints } = await question(withLogin(withHelmet), behindLogin, 'Photo Book', secret)
    const said = page.waitForEvent('console')
    await page.getByRole('button').click()
    await said
    expect(complaints.join()).toContain('form-action')
    expect(page.url()).not.toContain('/cb')
    await page.close()
  })
})

describe('In Chromium a client with a name', () => {
  it('of the largest size takes three lines of the page, and the buttons stay', async () => {
    const { page, complaints } = await question(() => undefined, {}, 'Photo Book '.repeat(24).slice(0, 256))
    const name = await page.locator('.name').boundingBox()
    const button = await page.getByRole('button', { name: 'Allow' }).boundingBox()
    expect(name?.height).toBeLessThan(120)
    expect(button?.y).toBeLessThan(700)
    expect(complaints).toEqual([])
    await page.close()
  })

  it('that is markup shows it as text and runs nothing', async () => {
    const name = `"><script>document.title='run'</script><img src=x onerror="document.title='run'">{{7*7}}`
    const { page, complaints } = await question(() => undefined, {}, name)
    expect(await page.locator('.name').innerText()).toBe(name)
    expect(await page.title()).toBe(`Allow ${name} to access your account?`)
    expect(await page.locator('script, img').count()).toBe(0)
    expect(complaints).toEqual([])
    await page.close()
  })
})

describe('In Chromium the consent page of an unregistered client', () => {
  it('shows the host of its document, warns of this device, and leads there', async () => {
    const clientId = 'https://notes.example/oauth/client.json'
    const name = 'Your Bank, Accounts Department, Signed and Verified by the Federal Office of Trust'
    const client = await listen(
      express().get('/cb', (_request, response) => void response.send('<p>back</p>')),
    )
    const document = { client_id: clientId, client_name: name, redirect_uris: ['http://127.0.0.1/cb'] }
    const app = express()
    const issuer = await listen(app)
    const oauth = createAuthorizationServer({
      issuer,
      clients: sourceOf(new Documents(new Map([[clientId, document]]))),
      scopes: { a: 'See your photos' },
      resourceOwner: () => 'alice',
      pkce: 'none',
    })
    app.use(oauth.router())
    const page = await browser.newPage({ viewport: { width: 360, height: 800 } })
    const asked = { response_type: 'code', client_id: clientId, scope: 'a', redirect_uri: `${client}/cb` }
    await page.goto(`${issuer}/authorize?${new URLSearchParams(asked).toString()}`)
    for (const text of [
      'an app of notes.example',
      'This app is not registered here.',
      'a program on this device',
    ])
      await page.getByText(text).first().waitFor({ state: 'visible' })
    const { width = 0 } = (await page.locator('.card').boundingBox()) ?? {}
    expect(width).toBeLessThanOrEqual(360)
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.waitForURL(`${client}/cb?code=**`)
    await page.close()
  })
})
