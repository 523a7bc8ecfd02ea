import express from 'express'
import { createAuthorizationServer } from '../../lib/index'
import { canonicalOptions, type Hosting, mountPhotos } from '../support/flows/application'
import { photoBook, photoFrame, photoPrint } from '../support/flows/clients'
import { errorPageOf } from '../support/flows/error-page'
import { authorizationRequest, Flow, formOf } from '../support/flows/flow'
import { trusting } from '../support/flows/guesses'
import { outcomeOf } from '../support/flows/outcome'
import { codeOf, redirectionOf } from '../support/flows/redirection'
import { describeOnStores, type Stage } from '../support/flows/stores-of-run'
import { refusalOf, tokensOf } from '../support/flows/tokens'

describeOnStores('The main way', (stage) => {
  test.each([photoBook, photoPrint, photoFrame])(
    'leads $registration.client_id from the login to calls that outlive a refresh',
    async (client) => {
      const { flow } = stage()
      const asked = `/authorize?${formOf(authorizationRequest(client))}`

      const handOff = await flow.open(asked)
      const { uri, parameters } = redirectionOf(handOff)
      expect(uri).toBe('/login')
      const returnTo = String(parameters['return_to'])

      const page = await flow.open(returnTo, 'alice')
      expect(page.status).toBe(200)
      const approval = await flow.decide(page, 'approve', 'alice')
      expect(redirectionOf(approval)).toEqual({
        uri: client.registration.redirect_uris[0],
        parameters: { code: expect.any(String), state: 'af0ifjsldkj', iss: 'http://localhost' },
      })

      const first = tokensOf(await flow.redeem(client, codeOf(approval)))
      const before = await flow.photos(first.accessToken)
      expect(before.status).toBe(200)
      expect(before.body).toEqual({
        authorizationId: expect.any(String),
        clientId: client.registration.client_id,
        subject: 'alice',
        scope: client.registration.scope.split(' '),
        tokenType: 'bearer',
        expiresAt: expect.any(Number),
      })

      const second = tokensOf(await flow.refresh(client, first.refreshToken))
      expect(second.accessToken).not.toBe(first.accessToken)
      expect(second.refreshToken).not.toBe(first.refreshToken)
      const after = await flow.photos(second.accessToken)
      expect(after.body).toMatchObject({ subject: 'alice', authorizationId: before.body.authorizationId })
    },
  )
})

const partly: Hosting = {
  mount: (app, oauth) => {
    app.all('/connect/allow', oauth.authorize())
    app.post('/connect/token', oauth.clientAuthentication(), oauth.token())
    mountPhotos(app, oauth)
  },
  paths: { authorize: '/connect/allow', token: '/connect/token' },
}
const paths = { authorization: '/connect/allow', token: '/connect/token' }

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

async function mainWay({ flow }: Stage, client: typeof photoPrint): Promise<number> {
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
    { title: 'in parts under other paths', options: { paths }, hosting: partly },
    { title: 'as a router below a path', options: { issuer }, hosting: below },
    {
      title: 'in parts in a router of the host',
      options: { issuer, paths: { authorization: '/allow' } },
      hosting: inRouter,
    },
  ]
  test.each(settings)('leads on the main way $title, and refuses as usual', async ({ options, hosting }) => {
    const set = stage(options, hosting)
    expect(await mainWay(set, photoPrint)).toBe(200)
    expect(errorPageOf(await set.flow.ask({}, 'alice'))).toBe('400 invalid_request')
    const wrong = { ...photoPrint, secret: 'guess' }
    expect(refusalOf(await set.flow.redeem(wrong, 'x'))).toBe('401 invalid_client')
  })

  test('with a slash behind the path of an endpoint, as Express forgives it', async () => {
    const { flow } = stage()
    const { refreshToken } = await flow.tokens(photoPrint)
    const refresh = { grant_type: 'refresh_token', refresh_token: refreshToken }
    tokensOf(await flow.request(photoPrint, refresh, '/token/'))
    const asked = formOf(authorizationRequest(photoPrint))
    expect(outcomeOf(await flow.open(`/authorize/?${asked}`, 'alice'))).toBe('question')
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
    for (const path of ['/', '/token//', '/Token', '/authorize/x', '/authorize2'])
      expect((await flow.open(path)).text).toBe(`the host: ${path}`)
  })
})

test('A token part without client authentication before it authenticates clients itself [client-27]', async () => {
  const oauth = createAuthorizationServer(canonicalOptions)
  const app = express()
  app.post('/token', oauth.token())
  const flow = new Flow(app)
  const { client_id } = photoPrint.registration
  expect(
    refusalOf(await flow.submit('/token', { grant_type: 'authorization_code', code: 'x', client_id })),
  ).toBe('401 invalid_client')
  expect(refusalOf(await flow.redeem(photoPrint, 'x'))).toBe('400 invalid_grant')
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

const issuer = 'https://photos.example'
const asked = authorizationRequest(photoPrint)
const overTls = { 'X-Forwarded-Proto': 'https' }

describeOnStores('With an https issuer', (stage) => {
  test.each([
    ['a proxy that no one trusts', overTls, {}],
    ['a trusted proxy that got it over plain HTTP', { 'X-Forwarded-Proto': 'http' }, trusting],
    ['a trusted proxy that says nothing', {}, trusting],
  ])('both endpoints refuse plain HTTP: %s [edge-2]', async (_, headers, hosting) => {
    const set = stage({ issuer }, hosting)
    const flow = set.flow.behind(headers)
    expect(errorPageOf(await flow.ask(asked, 'alice'))).toBe('400 invalid_request')
    expect(errorPageOf(await flow.submit('/authorize', asked))).toBe('400 invalid_request')
    expect(refusalOf(await flow.redeem({ ...photoPrint, secret: 'guess' }, 'x'))).toBe('400 invalid_request')
    expect(new Set(set.failures.map(({ reason }) => reason))).toEqual(new Set(['tls_required']))
  })

  test('a trusted proxy that ended TLS leads on the main way, and what was begun over TLS cannot be ended without, and stays good [edge-3]', async () => {
    const plain = stage({ issuer }, trusting).flow
    const safe = plain.behind(overTls)
    const page = await safe.ask(asked, 'alice')
    expect(errorPageOf(await plain.decide(page, 'approve', 'alice'))).toBe('400 invalid_request')
    const code = codeOf(await safe.decide(page, 'approve', 'alice'))
    expect(refusalOf(await plain.redeem(photoPrint, code))).toBe('400 invalid_request')
    const { accessToken } = tokensOf(await safe.redeem(photoPrint, code))
    expect((await safe.photos(accessToken)).status).toBe(200)
  })

  test('no URL is built from what a request says of its host [redirect-21]', async () => {
    const forged = { ...overTls, Host: 'evil.example', 'X-Forwarded-Host': 'evil.example' }
    const flow = stage({ issuer }, trusting).flow.behind(forged)
    expect((await flow.ask(asked)).get('Location')).toMatch(/^\/login\?return_to=%2Fauthorize%3F/)
    const approval = await flow.decide(await flow.ask(asked, 'alice'), 'approve', 'alice')
    expect(redirectionOf(approval).parameters['iss']).toBe(issuer)
  })
})
