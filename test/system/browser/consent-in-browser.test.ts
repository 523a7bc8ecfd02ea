import express, { type Express, type Response } from 'express'
import helmet from 'helmet'
import {
  type AuthorizationServerOptions,
  type ConsentView,
  createAuthorizationServer,
  generateClientSecret,
} from '../../../lib/index'
import { formPost } from '../../../lib/paths/pushed-requests'
import { browserStage } from '../../support/browser/stage'
import { Documents, sourceOf } from '../../support/client-documents'

const { browser, listen } = browserStage()

/** What a client got at its redirection URI in a form. */
interface Received {
  readonly fields: unknown
  readonly referer: string | undefined
  readonly origin: string | undefined
}

interface Question {
  /** What stands before the routes of the server. */
  readonly before?: (app: Express) => unknown
  readonly options?: Partial<AuthorizationServerOptions>
  readonly client?: object
  readonly query?: Readonly<Record<string, string>>
  readonly page?: Parameters<ReturnType<typeof browser>['newContext']>[0]
}

/** A server that is asked by a client at another origin; the page of the browser that shows the question. */
async function question({
  before = () => undefined,
  options = {},
  client = {},
  query = {},
  page: look,
}: Question) {
  const received: Received[] = []
  const home = await listen(express().get('/home', (_request, response) => void response.send('<p>home</p>')))
  // A client that sends the browser on to another origin, as clients do.
  const callback = express()
    .get('/cb', (_request, response) => void response.send('<p>back</p>'))
    .post('/cb', express.urlencoded({ extended: false }), (incoming, response) => {
      received.push({
        fields: incoming.body,
        referer: incoming.get('Referer'),
        origin: incoming.get('Origin'),
      })
      response.redirect(303, `${home}/home`)
    })
  const redirectUri = `${await listen(callback)}/cb`
  const app = express()
  const issuer = `${await listen(app)}/oauth`
  const registration = {
    client_id: 'a',
    client_type: 'public',
    client_name: 'Photo Book',
    scope: 'a',
  } as const
  const oauth = createAuthorizationServer({
    issuer,
    clients: [{ ...registration, ...client, redirect_uris: [redirectUri] }],
    scopes: { a: 'See your photos' },
    resourceOwner: () => 'alice',
    pkce: 'none',
    ...options,
  })
  before(app)
  app.use('/oauth', oauth.router())
  const page = await (await browser().newContext(look)).newPage()
  const complaints: string[] = []
  page.on('console', (message) => complaints.push(message.text()))
  const asked = { response_type: 'code', client_id: 'a', scope: 'a', redirect_uri: redirectUri, ...query }
  await page.goto(`${issuer}/authorize?${new URLSearchParams(asked).toString()}`)
  const back = () => page.waitForURL(`${redirectUri}?code=**`)
  return {
    page,
    back,
    home: `${home}/home`,
    issuer,
    received,
    complaints,
    close: () => page.context().close(),
  }
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

const secret = {
  client_type: 'confidential',
  client_secret_hashes: [generateClientSecret().client_secret_hash],
}
// The login posts to itself, and returns to the authorization endpoint.
const withLogin = (before: (app: Express) => unknown) => (app: Express) => {
  before(app)
  app.get('/login', (request, response) => {
    response.send(
      `<!doctype html><form method="post" action="${request.originalUrl}"><button>Sign in</button></form>`,
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

describe('In Chromium the button', () => {
  it.each<[string, string, Question]>([
    ['of a page of the suite', 'Allow', {}],
    ['of a page of the suite, behind helmet,', 'Allow', { before: withHelmet }],
    [
      'of a page of the host, with the form-action of the docs,',
      'Allow',
      { before: asTold, options: { pages: { consent: ownPage } } },
    ],
    [
      'of a login with skipConsent, with the form-action of the docs,',
      'Sign in',
      { before: withLogin(asTold), options: behindLogin, client: secret },
    ],
  ])('%s leads back to the client', async (_which, button, asked) => {
    const { page, back, complaints, close } = await question(asked)
    await page.getByRole('button', { name: button }).click()
    await back()
    expect(complaints).toEqual([])
    await close()
  })

  // The reason of EAS_FORM_ACTION: if a browser ever changes its mind, the warning may go.
  it.each<[string, Question]>([
    ['of a page of the host', { before: withHelmet, options: { pages: { consent: ownPage } } }],
    ['of a login with skipConsent', { before: withLogin(withHelmet), options: behindLogin, client: secret }],
  ])('%s, behind helmet, leads nowhere', async (_which, asked) => {
    const { page, complaints, close } = await question(asked)
    const said = page.waitForEvent('console')
    await page.getByRole('button').click()
    await said
    expect(complaints.join()).toContain('form-action')
    expect(page.url()).not.toContain('/cb')
    await close()
  })
})

describe('In Chromium the page of form_post, behind helmet', () => {
  const query = { response_mode: 'form_post', state: 's' }
  it.each<[string, string, Question]>([
    ['submits itself once', 'Allow', {}],
    [
      'needs its button without scripts',
      'Continue',
      { page: { javaScriptEnabled: false }, options: { skipConsent: () => true }, client: secret },
    ],
  ])('%s, and the client may send the browser on', async (_what, button, { options, ...asked }) => {
    const { page, home, issuer, received, complaints, close } = await question({
      ...asked,
      before: withHelmet,
      query,
      options: { plugins: [formPost()], ...options },
    })
    expect(received).toEqual([])
    await page.getByRole('button', { name: button }).click()
    await page.waitForURL(home)
    const fields = { code: expect.any(String), state: 's', iss: issuer }
    expect(received).toEqual([{ fields, referer: undefined, origin: 'null' }])
    expect(complaints).toEqual([])
    await close()
  })
})

describe('In Chromium a client with a name', () => {
  it('of the largest size takes three lines of the page, and the buttons stay', async () => {
    const client_name = 'Photo Book '.repeat(24).slice(0, 256)
    const { page, complaints, close } = await question({ client: { client_name } })
    const name = await page.locator('.name').boundingBox()
    const button = await page.getByRole('button', { name: 'Allow' }).boundingBox()
    expect(name?.height).toBeLessThan(120)
    expect(button?.y).toBeLessThan(700)
    expect(complaints).toEqual([])
    await close()
  })

  it('that is markup shows it as text and runs nothing', async () => {
    const client_name = `"><script>document.title='run'</script><img src=x onerror="document.title='run'">{{7*7}}`
    const { page, complaints, close } = await question({ client: { client_name } })
    expect(await page.locator('.name').innerText()).toBe(client_name)
    expect(await page.title()).toBe(`Allow ${client_name} to access your account?`)
    expect(await page.locator('script, img').count()).toBe(0)
    expect(complaints).toEqual([])
    await close()
  })
})

test('In Chromium the consent page of an unregistered client shows the host of its document, warns of this device, and leads there', async () => {
  const clientId = 'https://notes.example/oauth/client.json'
  const client_name = 'Your Bank, Accounts Department, Signed and Verified by the Federal Office of Trust'
  const document = { client_id: clientId, client_name, redirect_uris: ['http://127.0.0.1/cb'] }
  const { page, back, close } = await question({
    options: { clients: sourceOf(new Documents(new Map([[clientId, document]]))) },
    query: { client_id: clientId },
    page: { viewport: { width: 360, height: 800 } },
  })
  for (const text of [
    'an app of notes.example',
    'This app is not registered here.',
    'a program on this device',
  ])
    await page.getByText(text).first().waitFor({ state: 'visible' })
  const { width = 0 } = (await page.locator('.card').boundingBox()) ?? {}
  expect(width).toBeLessThanOrEqual(360)
  await page.getByRole('button', { name: 'Allow' }).click()
  await back()
  await close()
})
