import { RedisStore } from 'connect-redis'
import express, { type Request, type Response } from 'express'
import session from 'express-session'
import helmet from 'helmet'
import { Redis } from 'ioredis'
import {
  createAuthorizationServer,
  redisStore,
  type AuthorizationServer,
  type ClientRegistration,
  type ResourceOwner,
} from '../../../lib/index'
import { html, pageDocument } from '../../../lib/pages/html'
import { listenAndPrint } from '../listen-and-print'

declare module 'express-session' {
  interface SessionData {
    resourceOwner: ResourceOwner
  }
}

/** What a host is told by its only argument. */
export interface HostPlan {
  /** Behind a proxy that takes the path of the issuer away. */
  readonly issuer: string
  readonly redis: string
  readonly prefix: string
  readonly clients: readonly ClientRegistration[]
}

/** An application with a login, sessions in Redis and helmet in front, in a process of its own. */
function serve({ issuer, redis, prefix, clients }: HostPlan): void {
  const mount = new URL(issuer).pathname
  const oauth = createAuthorizationServer({
    issuer,
    clients,
    store: redisStore({ url: redis, prefix }),
    // A machine under load is not a store in trouble.
    storeDeadline: 10,
    scopes: {
      'photos:read': 'See your photos',
      'photos:print': { description: 'Print your photos', optional: true },
    },
    authorizations: {},
    login: `${mount}/login`,
    choices: (_request, { subject }) => ({
      name: 'workspace',
      text: 'Which workspace?',
      answers: ['Engine', 'Loom'].map((label) => ({ value: `${subject}/${label}`, label })),
    }),
    resourceOwner: (request) => request.session.resourceOwner,
  })
  const app = express()
  app.set('trust proxy', 'loopback')
  app.use(helmet())
  app.use(
    session({
      store: new RedisStore({ client: new Redis(redis), prefix: `${prefix}session:` }),
      secret: 'known to both processes',
      resave: false,
      saveUninitialized: false,
      // Not the path of the issuer, which the proxy takes away: express-session would skip every request.
      cookie: { sameSite: 'lax', secure: 'auto' },
    }),
  )
  app.use(oauth.router())
  app.get('/workspace', oauth.bearerGuard('photos:read'), (request, response) => {
    response.json(request.oauth)
  })
  mountLogin(app, issuer)
  mountOperator(app, oauth)
  listenAndPrint(app)
}

/** A login that believes every name. */
function mountLogin(app: express.Express, issuer: string): void {
  app.use(express.urlencoded({ extended: false }))
  app.get('/login', (request, response) => {
    const { return_to: returnTo } = request.query
    response.send(loginPage(typeof returnTo === 'string' ? returnTo : issuer))
  })
  app.post('/login', (request, response, next) => {
    const { name, return_to: returnTo } = request.body
    const way = new URL(String(returnTo), issuer)
    request.session.regenerate((error) => {
      if (error) return next(error)
      const authTime = Math.floor(Date.now() / 1000)
      request.session.resourceOwner = { subject: String(name), name: String(name), authTime }
      response.redirect(303, way.origin === new URL(issuer).origin ? way.href : issuer)
    })
  })
  app.get('/logout', (request: Request, response: Response, next) => {
    request.session.destroy((error) => (error ? next(error) : response.send('<h1>Goodbye</h1>')))
  })
}

const loginPage = (returnTo: string): string =>
  pageDocument({
    title: 'Sign in',
    content: html`<h1>Sign in</h1>
      <form method="post">
        <input type="hidden" name="return_to" value="${returnTo}" />
        <label>Name <input name="name" required /></label>
        <button>Sign in</button>
      </form>`,
  })

/** What the operator of the host sees: the authorizations of an owner. */
function mountOperator(app: express.Express, oauth: AuthorizationServer): void {
  app.get('/operator/:subject', (request, response, next) => {
    oauth.authorizations
      .list(request.params.subject)
      .then(({ authorizations }) => response.json(authorizations))
      .catch(next)
  })
}

serve(JSON.parse(process.argv[2] ?? '{}'))
