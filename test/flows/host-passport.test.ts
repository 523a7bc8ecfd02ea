import express, {
  type NextFunction,
  type Request,
  type Response as ExpressResponse,
  type RequestHandler,
} from 'express'
import { Passport } from 'passport'
import { type Hosting, mountPhotos, application, type Mount, mountAll } from '../support/flows/application'
import { nightlyReport, photoBook, photoFrame } from '../support/flows/clients'
import { describeOnStores } from '../support/flows/stores-of-run'
import { basic, authorizationRequest, type Flow } from '../support/flows/flow'
import { refusalOf, tokensOf } from '../support/flows/tokens'
import type { Response } from 'supertest'
import { codeOf } from '../support/flows/redirection'

const every = ['client_secret_basic', 'client_secret_post', 'none']
const grant = { grant_type: 'client_credentials', scope: 'photos:read' }

/** A host that authenticates clients with a Passport instance of its own. */
const hostedBy = (methods: readonly string[], failWithError = true): Hosting => ({
  mount: (app, oauth) => {
    const passport = new Passport()
    for (const strategy of oauth.strategies) passport.use(strategy)
    app.all('/authorize', oauth.authorize())
    app.post('/token', passport.authenticate([...methods], { session: false, failWithError }), oauth.token())
    mountPhotos(app, oauth)
  },
})

describeOnStores('A Passport of the host', (stage) => {
  test.each([photoBook, photoFrame])('leads $registration.client_id on the main way', async (client) => {
    const { flow } = stage({}, hostedBy(every))
    const { refreshToken } = await flow.tokens(client)
    const { accessToken } = tokensOf(await flow.refresh(client, refreshToken))
    expect((await flow.photos(accessToken)).status).toBe(200)
  })

  const { client_id } = nightlyReport.registration
  const { secret } = nightlyReport
  test.each([
    ['a wrong secret', {}, { Authorization: basic(client_id, 'guess') }, '401 invalid_client'],
    ['a wrong secret in the body', { client_id, client_secret: 'guess' }, {}, '401 invalid_client'],
    ['nothing', {}, {}, '401 invalid_client'],
    ['a foreign scheme', {}, { Authorization: 'Digest a="b"' }, '401 invalid_client'],
    [
      'two methods',
      { client_id, client_secret: secret },
      { Authorization: basic(client_id, secret) },
      '400 invalid_request',
    ],
  ])('refuses %s as the suite does', async (_, fields, headers: Record<string, string>, refusal) => {
    for (const set of [stage({}, hostedBy(every)), stage()]) {
      const response = await set.flow.submit('/token', { ...grant, ...fields }, undefined, headers)
      expect(refusalOf(response)).toBe(refusal)
      const challenge = response.status === 401 ? 'Basic realm="oauth", charset="UTF-8"' : undefined
      expect(response.get('WWW-Authenticate')).toBe(challenge)
      expect(set.failures).toMatchObject([{ endpoint: 'token' }])
    }
  })

  test('that lists some methods only refuses the others', async () => {
    const { flow } = stage({}, hostedBy(['client_secret_basic']))
    tokensOf(await flow.request(nightlyReport, grant))
    const byBody = { ...grant, client_id, client_secret: secret }
    expect(refusalOf(await flow.submit('/token', byBody))).toBe('401 invalid_client')
    expect(refusalOf(await flow.redeem(photoBook, 'x'))).toBe('401 invalid_client')
  })

  test('that ends a refusal by itself issues nothing either', async () => {
    const { flow } = stage({}, hostedBy(['client_secret_basic'], false))
    const byBody = { ...grant, client_id, client_secret: secret }
    expect((await flow.submit('/token', byBody)).status).toBe(401)
  })

  test('makes the client known as the user of the request, and nothing else passes for a client [client-26]', async () => {
    const seen: unknown[] = []
    const { flow } = stage(
      {},
      {
        mount: (app, oauth) => {
          const passport = new Passport()
          for (const strategy of oauth.strategies) passport.use(strategy)
          const look = passport.authenticate(every, { session: false })
          app.post('/who', look, (request, response) => {
            seen.push(request.user)
            response.end()
          })
          app.post(
            '/token',
            (request: Request, _response: ExpressResponse, next: NextFunction) => {
              request.user = { ...nightlyReport.registration, client_secret_hashes: [] }
              next()
            },
            oauth.token(),
          )
        },
      },
    )
    await flow.submit('/who', {}, undefined, { Authorization: basic(client_id, secret) })
    expect(seen).toMatchObject([{ client_id, client_type: 'confidential' }])
    expect(refusalOf(await flow.submit('/token', grant))).toBe('500 server_error')
  })

  test('is given the error of a request by its own error handling, of what broke and of what it throws itself', async () => {
    const broken = new Error('The host broke.')
    const seen: unknown[] = []
    const mount: Hosting['mount'] = (app, oauth) => {
      const passport = new Passport()
      for (const strategy of oauth.strategies) passport.use(strategy)
      app.post('/who', (request, response, next) => {
        const goOn = (error: unknown) => {
          if (error) return next(error)
          throw broken
        }
        passport.authenticate(every, { session: false }, goOn)(request, response, next)
      })
      app.use((error: unknown, _request: Request, response: ExpressResponse, _next: NextFunction) => {
        seen.push(Object(error).reason ?? error)
        response.status(500).end()
      })
    }
    const headers = { Authorization: basic(client_id, secret) }
    const [good, down] = [
      stage({}, { mount }),
      stage({ clients: { find: () => Promise.reject(broken) } }, { mount }),
    ]
    for (const { flow } of [good, down])
      expect((await flow.submit('/who', {}, undefined, headers)).status).toBe(500)
    await good.flow.submit('/who', {}, undefined, { Authorization: basic(client_id, 'wrong') })
    await good.flow.submit('/who', {})
    expect(seen).toEqual([
      broken,
      'store_unavailable',
      'client_not_authenticated',
      'no_client_authentication',
    ])
  })

  test('may get a strategy itself for many requests at once, and keep the client apart from its owner', async () => {
    const ids = Array.from({ length: 20 }, (_, at) => `client-${at}`)
    let waiting: (() => void)[] = []
    const find = async (id: string) => {
      await new Promise<void>((resolve) => {
        waiting.push(resolve)
        if (waiting.length === ids.length) for (const each of waiting.toReversed()) setImmediate(each)
      })
      return { ...nightlyReport.registration, client_id: id }
    }
    const mount: Hosting['mount'] = (app, oauth) => {
      const byBasic = oauth.strategies.find(({ name }) => name === 'client_secret_basic')
      if (byBasic === undefined) throw new Error('There is no such strategy.')
      const look = new Passport().authenticate(byBasic, { session: false, assignProperty: 'oauthClient' })
      app.post('/who', look, (request, response) => {
        const { user, oauthClient } = Object(request)
        response.json([user ?? 'nobody', oauthClient.client_id])
      })
    }
    const { flow } = stage({ clients: { find } }, { mount })
    const asked = ids.map((id) => flow.submit('/who', {}, undefined, { Authorization: basic(id, secret) }))
    expect((await Promise.all(asked)).map(({ body }) => body)).toEqual(ids.map((id) => ['nobody', id]))
  })
})

/** Protection against CSRF as hosts have it: a form needs a token of the pages of the host. */
const antiCsrf: RequestHandler = (request, response, next) => {
  if (request.method === 'GET') next()
  else response.status(403).send('<p>Forbidden</p>')
}
const loginWall: RequestHandler = (request, response, next) => {
  if (request.get('X-Owner') !== undefined || request.path === '/login') next()
  else response.redirect(303, '/login')
}
const bodyParser = express.urlencoded({ extended: true })

const pages: Mount = (app) => {
  app.all('/settings', (_request, response) => void response.send('settings'))
}
const before =
  (middleware: RequestHandler): Mount =>
  (app, oauth) => {
    app.use(middleware)
    mountAll(app, oauth)
    pages(app, oauth)
  }
const behind =
  (middleware: RequestHandler): Mount =>
  (app, oauth) => {
    mountAll(app, oauth)
    app.use(middleware)
    pages(app, oauth)
  }
const flowWith = (mount: Mount): Flow => application({}, { mount }).flow

const metadata = '/.well-known/oauth-authorization-server'
const consentPageOf = (flow: Flow) => flow.ask(authorizationRequest(photoBook), 'alice')
const tokenFor = (flow: Flow) =>
  flow.request(nightlyReport, { grant_type: 'client_credentials', scope: 'photos:read' })
const longForm = (flow: Flow) => flow.request(nightlyReport, { grant_type: 'x'.repeat(200 * 1024) })
const typeOf = ({ headers }: Response): unknown => headers['content-type']

describe('A middleware for all pages of the host, behind the router and the guards,', () => {
  test.each([
    ['protection against CSRF', antiCsrf],
    ['a login wall', loginWall],
    ['a body parser', bodyParser],
  ])('%s, leaves every endpoint as it is', async (_which, middleware) => {
    const flow = flowWith(behind(middleware))
    const code = codeOf(await flow.decide(await consentPageOf(flow), 'approve', 'alice'))
    const { accessToken } = tokensOf(await flow.redeem(photoBook, code))
    expect((await flow.photos(accessToken)).status).toBe(200)
    expect((await tokenFor(flow)).status).toBe(200)
    expect((await flow.introspect(nightlyReport, accessToken)).status).not.toBe(303)
    expect((await flow.open(metadata)).status).toBe(200)
    expect((await flow.revoke(photoBook, accessToken)).status).toBe(200)
    expect((await flow.photos(accessToken)).status).toBe(401)
    expect((await longForm(flow)).body.error).toBe('invalid_request')
  })

  test('still protects the pages behind it', async () => {
    expect((await flowWith(behind(antiCsrf)).submit('/settings', {}, 'alice')).status).toBe(403)
    expect((await flowWith(behind(loginWall)).open('/settings')).headers['location']).toBe('/login')
  })
})

// What the guide says of the other order.
describe('A middleware for all pages of the host, before the router,', () => {
  test('protection against CSRF, refuses clients and the consent form of the suite', async () => {
    const flow = flowWith(before(antiCsrf))
    expect((await tokenFor(flow)).status).toBe(403)
    expect((await flow.decide(await consentPageOf(flow), 'approve', 'alice')).status).toBe(403)
  })

  test('a login wall, sends clients to the login', async () => {
    const flow = flowWith(before(loginWall))
    for (const answer of [await tokenFor(flow), await flow.open(metadata), await flow.photos('x')])
      expect([answer.status, answer.headers['location']]).toEqual([303, '/login'])
  })

  test('a body parser, answers what is too large for it, without JSON', async () => {
    const answer = await longForm(flowWith(before(bodyParser)))
    expect(answer.status).toBe(413)
    expect(typeOf(answer)).not.toMatch('json')
    expect((await tokenFor(flowWith(before(bodyParser)))).status).toBe(200)
  })
})
