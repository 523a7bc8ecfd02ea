import { setImmediate } from 'node:timers/promises'
import express from 'express'
import { createAuthorizationServer } from '../../lib/index'
import { canonicalOptions, mountPhotos, type Hosting } from '../support/flows/application'
import { nightlyReport, photoBook, photoFrame, photoPrint } from '../support/flows/clients'
import { errorPageOf } from '../support/flows/error-page'
import { describeOnStores, type Stage } from '../support/flows/stores-of-run'
import { authorizationRequest, Flow } from '../support/flows/flow'
import { codeOf, redirectionOf } from '../support/flows/redirection'
import { refusalOf, tokensOf } from '../support/flows/tokens'

const partly: Hosting = {
  mount: (app, oauth) => {
    app.all('/connect/allow', oauth.authorize())
    app.post('/connect/token', oauth.clientAuthentication(), oauth.token())
    mountPhotos(app, oauth)
  },
  paths: { authorize: '/connect/allow', token: '/connect/token' },
}
const paths = { authorizationPath: '/connect/allow', tokenPath: '/connect/token' }

const below: Hosting = {
  mount: (app, oauth) => {
    app.use('/oauth', oauth.router())
    mountPhotos(app, oauth)
  },
  paths: { authorize: '/oauth/authorize', token: '/oauth/token' },
}

const inRouter: Hosting = {
  mount: (app, oauth) => {
    const router = express.Router()
    router.all('/allow', oauth.authorize())
    router.post('/token', oauth.clientAuthentication(), oauth.token())
    app.use('/oauth', router)
    mountPhotos(app, oauth)
  },
  paths: { authorize: '/oauth/allow', token: '/oauth/token' },
}

async function mainWay({ flow }: Stage, client: typeof photoBook | typeof photoPrint): Promise<number> {
  const handOff = redirectionOf(await flow.ask(authorizationRequest(client)))
  const page = await flow.open(String(handOff.parameters['return_to']), 'alice')
  const code = codeOf(await flow.decide(page, 'approve', 'alice'))
  const { refreshToken } = tokensOf(await flow.redeem(client, code))
  const { accessToken } = tokensOf(await flow.refresh(client, refreshToken))
  return (await flow.photos(accessToken)).status
}

describeOnStores('The suite', (stage) => {
  const issuer = 'http://localhost/oauth'
  const settings = [
    { title: 'in parts under other paths', options: paths, hosting: partly },
    { title: 'as a router below a path', options: { issuer }, hosting: below },
    {
      title: 'as a router below a path, under paths of its own',
      options: { issuer, authorizationPath: '/v1/allow', tokenPath: '/v1/token' },
      hosting: { ...below, paths: { authorize: '/oauth/v1/allow', token: '/oauth/v1/token' } },
    },
    {
      title: 'in parts in a router of the host',
      options: { issuer, authorizationPath: '/allow' },
      hosting: inRouter,
    },
  ]
  test.each(settings)('leads on the main way $title', async ({ options, hosting }) => {
    for (const client of [photoBook, photoPrint])
      expect(await mainWay(stage(options, hosting), client)).toBe(200)
  })

  test.each(settings)('tells and refuses $title as ever', async ({ options, hosting }) => {
    const { flow } = stage(options, hosting)
    expect(errorPageOf(await flow.ask({}, 'alice'))).toBe('400 invalid_request')
    const wrong = { ...photoPrint, secret: 'guess' }
    expect(refusalOf(await flow.redeem(wrong, 'x'))).toBe('401 invalid_client')
    expect(refusalOf(await flow.redeem(photoFrame, 'x'))).toBe('400 invalid_grant')
  })

  test('as a router passes on what is none of its own', async () => {
    const { flow } = stage(
      {},
      {
        mount: (app, oauth) => {
          app.use(oauth.router())
          app.use((request, response) => response.send(`the host: ${request.path}`))
        },
      },
    )
    for (const path of ['/', '/token/', '/Token', '/authorize/x', '/authorize2'])
      expect((await flow.open(path)).text).toBe(`the host: ${path}`)
  })
})

test('A token part without client authentication refuses everybody, and warns of it at the start', async () => {
  const warning = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
  const oauth = createAuthorizationServer(canonicalOptions)
  oauth.events.on('failure', () => {})
  const app = express()
  app.post('/token', oauth.token())
  await setImmediate()
  expect(warning).toHaveBeenCalledWith(
    expect.stringContaining('oauth.clientAuthentication()'),
    expect.objectContaining({ code: 'EAS_NO_CLIENT_AUTHENTICATION' }),
  )
  warning.mockRestore()
  expect(refusalOf(await new Flow(app).redeem(photoPrint, 'x'))).toBe('500 server_error')
})

test('A router at another path than the issuer says warns of it', async () => {
  const warning = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
  const oauth = createAuthorizationServer({ ...canonicalOptions, issuer: 'http://localhost/oauth' })
  oauth.events.on('failure', () => {})
  const app = express()
  app.use('/elsewhere', oauth.router())
  await new Flow(app).open('/elsewhere/token')
  expect(warning).toHaveBeenCalledWith(
    expect.stringContaining('"/elsewhere"'),
    expect.objectContaining({ code: 'EAS_MOUNT_PATH' }),
  )
  warning.mockRestore()
})

test.each([
  'router',
  'authorize',
  'clientAuthentication',
  'token',
  'revocation',
  'introspection',
  'metadata',
] as const)('oauth.%s that is mounted uncalled says so', (name) => {
  const uncalled: (...given: unknown[]) => unknown = createAuthorizationServer(canonicalOptions)[name]
  expect(() => uncalled({}, {}, () => {})).toThrow(`mount oauth.${name}()`)
})

test('A server without an owner to ask has no authorization endpoint', async () => {
  const { issuer, scopes } = canonicalOptions
  const oauth = createAuthorizationServer({ issuer, scopes, clients: [nightlyReport.registration] })
  const app = express()
  app.use(oauth.router())
  const flow = new Flow(app)
  expect((await flow.open('/authorize')).status).toBe(404)
  const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
  tokensOf(await flow.request(nightlyReport, grant))
  expect(() => oauth.authorize()).toThrow('resourceOwner')
})
