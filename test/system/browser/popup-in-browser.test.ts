import express, { type RequestHandler } from 'express'
import helmet from 'helmet'
import {
  type AuthorizationServerOptions,
  type ConsentView,
  createAuthorizationServer,
} from '../../../lib/index'
import { formPost } from '../../../lib/paths/pushed-requests'
import { press } from '../../support/browser/follow'
import { browserStage } from '../../support/browser/stage'

const { browser, listen } = browserStage()

const policy = 'Cross-Origin-Opener-Policy'
const sends =
  (value: string): RequestHandler =>
  (_request, response, next) => {
    response.set(policy, value)
    next()
  }

const passOn: RequestHandler = (_request, _response, next) => next()

interface Scene {
  /** What stands before the login page; without it, the owner is logged in. */
  readonly login?: RequestHandler
  readonly options?: Partial<AuthorizationServerOptions>
  /** What the page of the client sends. */
  readonly client?: RequestHandler
  readonly query?: string
}

/** Opens the authorization endpoint in a popup of a client, and goes through it. */
async function popup({ login, options, client: own = sends('unsafe-none'), query = '' }: Scene) {
  const app = express()
  const issuer = await listen(app)
  const request = `${issuer}/authorize?response_type=code&client_id=a&scope=a${query}`
  const site = express()
  site.get('/', own, (_request, response) => {
    response.send(
      `<!doctype html><button onclick="window.popup = window.open('${request}')">Connect</button>`,
    )
  })
  site.all('/cb', (_request, response) => {
    response.send(
      '<!doctype html><script>document.write(opener === null ? "alone" : "has its opener")</script>',
    )
  })
  const client = await listen(site)
  app.use(helmet())
  app.get('/login', login ?? passOn, (incoming, response) => {
    response.send(
      `<!doctype html><form method="post" action="${incoming.originalUrl}"><button>Log in</button></form>`,
    )
  })
  app.post('/login', login ?? passOn, ({ query: { return_to: returnTo } }, response) => {
    response.cookie('owner', 'alice').redirect(303, typeof returnTo === 'string' ? returnTo : '/')
  })
  const oauth = createAuthorizationServer({
    issuer,
    clients: [{ client_id: 'a', client_type: 'public', scope: 'a', redirect_uris: [`${client}/cb`] }],
    scopes: { a: 'See your photos' },
    resourceOwner: ({ headers }) => (login === undefined || headers.cookie !== undefined) && 'alice',
    pkce: 'none',
    plugins: [formPost()],
    ...options,
  })
  app.use(oauth.router())
  const context = await browser().newContext()
  const page = await context.newPage()
  await page.goto(client)
  const opened = context.waitForEvent('page')
  await page.getByRole('button').click()
  const shown = await opened
  if (login !== undefined) await press(shown, 'Log in')
  await shown.getByRole('button', { name: 'Allow' }).click()
  await shown.waitForURL(`${client}/cb**`)
  const seen = {
    there: await shown.textContent('body'),
    isClosed: await page.evaluate<boolean>('window.popup.closed'),
  }
  await context.close()
  return seen
}

const kept = { there: 'has its opener', isClosed: false }
const cut = { there: 'alone', isClosed: true }
const popups = { pages: { popups: true } }
const ownPage = (value: string) => ({
  pages: {
    popups: true,

    consent: (_request: unknown, response: express.Response, { action, fields }: ConsentView) => {
      const [[name, token] = ['', '']] = Object.entries(fields)
      response.set(policy, value).set('Content-Security-Policy', '').send(`<!doctype html>
        <form method="post" action="${action}"><input type="hidden" name="${name}" value="${token}">
        <button name="decision" value="approve">Allow</button></form>`)
    },
  },
})
const withoutPolicy: RequestHandler = (_request, response, next) => {
  response.removeHeader(policy)
  next()
}

/** Where the popups of all scenes end; the browser shows them at once. */
async function endsOf(scenes: Readonly<Record<string, Scene>>) {
  const ends = Object.entries(scenes).map(async ([title, scene]) => [title, await popup(scene)] as const)
  return Object.fromEntries(await Promise.all(ends))
}

describe('In Chromium a popup of a client', () => {
  test('keeps its opener', async () => {
    const ends = await endsOf({
      'with pages.popups and a login without its policy': { options: popups, login: withoutPolicy },
      'whose client opens it by same-origin-allow-popups, and that ends at a form_post': {
        options: popups,
        client: sends('same-origin-allow-popups'),
        query: '&response_mode=form_post',
      },
      'with pages.popups and a page of the host': { options: ownPage('unsafe-none') },
    })
    for (const [title, end] of Object.entries(ends)) expect([title, end]).toEqual([title, kept])
  })

  // Why the option is needed, and says unsafe-none. If a browser ever changes its mind, the option may go.
  test('loses its opener', async () => {
    const ends = await endsOf({
      'behind helmet without the option': {},
      'behind a login that helmet covers': { options: popups, login: passOn },
      'with a page of the host that sends same-origin-allow-popups': {
        options: ownPage('same-origin-allow-popups'),
      },
    })
    for (const [title, end] of Object.entries(ends)) expect([title, end]).toEqual([title, cut])
  })
})
