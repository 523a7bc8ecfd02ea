import type { NextFunction, Request, Response } from 'express'
import { Passport } from 'passport'
import { type Hosting, mountPhotos, application, mountAll } from '../support/flows/application'
import { nightlyReport, photoBook, photoFrame } from '../support/flows/clients'
import { describeOnStores } from '../support/flows/stores-of-run'
import { basic } from '../support/flows/flow'
import { refusalOf, tokensOf } from '../support/flows/tokens'

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
            (request: Request, _response: Response, next: NextFunction) => {
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
    expect(refusalOf(await flow.submit('/token', grant))).toBe('401 invalid_client')
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
      app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
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

test('A middleware for all pages of the host, behind the router and the guards, leaves every endpoint as it is', async () => {
  const mount: Hosting['mount'] = (app, oauth) => {
    mountAll(app, oauth)
    app.use((_request, response) => void response.sendStatus(403))
  }
  const { flow } = application({}, { mount })
  const code = await flow.approve(photoBook)
  const { accessToken } = tokensOf(await flow.redeem(photoBook, code))
  const answers = [
    await flow.photos(accessToken),
    await flow.request(nightlyReport, grant),
    await flow.open('/.well-known/oauth-authorization-server'),
    await flow.introspect(nightlyReport, accessToken),
    await flow.revoke(photoBook, accessToken),
    await flow.photos(accessToken),
    await flow.request(nightlyReport, { grant_type: 'x'.repeat(200 * 1024) }),
    await flow.open('/settings'),
  ]
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 400, 200, 401, 400, 403])
})
