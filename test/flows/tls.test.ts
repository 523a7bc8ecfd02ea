import { mountAll, type Hosting, type Mount } from '../support/flows/application'
import { photoBook, photoPrint } from '../support/flows/clients'
import { errorPageOf } from '../support/flows/error-page'
import { describeOnStores } from '../support/flows/stores-of-run'
import { authorizationRequest } from '../support/flows/flow'
import { codeOf, redirectionOf } from '../support/flows/redirection'
import { refusalOf, tokensOf } from '../support/flows/tokens'

const issuer = 'https://photos.example'
const asked = authorizationRequest(photoPrint)
const overTls = { 'X-Forwarded-Proto': 'https' }

const trustingMount: Mount = (app, oauth) => {
  app.set('trust proxy', 'loopback')
  mountAll(app, oauth)
}
const trusting: Hosting = { mount: trustingMount }

describeOnStores('With an https issuer', (stage) => {
  test.each([
    ['no proxy', {}, {}],
    ['a proxy that no one trusts', overTls, {}],
    ['a trusted proxy that got it over plain HTTP', { 'X-Forwarded-Proto': 'http' }, trusting],
    ['a trusted proxy that says nothing', {}, trusting],
  ])('both endpoints refuse plain HTTP: %s [edge-2]', async (_, headers, hosting) => {
    const set = stage({ issuer }, hosting)
    const flow = set.flow.behind(headers)
    expect(errorPageOf(await flow.ask(asked, 'alice'))).toBe('400 invalid_request')
    expect(errorPageOf(await flow.ask(asked))).toBe('400 invalid_request')
    expect(errorPageOf(await flow.submit('/authorize', asked, 'alice'))).toBe('400 invalid_request')
    expect(refusalOf(await flow.redeem(photoPrint, 'x'))).toBe('400 invalid_request')
    expect(refusalOf(await flow.redeem({ ...photoPrint, secret: 'guess' }, 'x'))).toBe('400 invalid_request')
    expect(new Set(set.failures.map(({ reason }) => reason))).toEqual(new Set(['tls_required']))
    expect(set.store.calls).toEqual({ find: 0, save: 0, remove: 0 })
  })

  test.each([photoBook, photoPrint])(
    'a trusted proxy that ended TLS leads $registration.client_id on the main way',
    async (client) => {
      const flow = stage({ issuer }, trusting).flow.behind(overTls)
      const { refreshToken } = await flow.tokens(client)
      const { accessToken } = tokensOf(await flow.refresh(client, refreshToken))
      expect((await flow.photos(accessToken)).status).toBe(200)
    },
  )

  test('what was begun over TLS cannot be ended without, and stays good [edge-3]', async () => {
    const plain = stage({ issuer }, trusting).flow
    const safe = plain.behind(overTls)
    const page = await safe.ask(asked, 'alice')
    expect(errorPageOf(await plain.decide(page, 'approve', 'alice'))).toBe('400 invalid_request')
    const code = codeOf(await safe.decide(page, 'approve', 'alice'))
    expect(refusalOf(await plain.redeem(photoPrint, code))).toBe('400 invalid_request')
    expect(tokensOf(await safe.redeem(photoPrint, code)).expiresIn).toBe(3600)
  })

  test('no URL is built from what a request says of its host', async () => {
    const forged = { ...overTls, Host: 'evil.example', 'X-Forwarded-Host': 'evil.example' }
    const flow = stage({ issuer }, trusting).flow.behind(forged)
    expect((await flow.ask(asked)).get('Location')).toMatch(/^\/login\?return_to=%2Fauthorize%3F/)
    const approval = await flow.decide(await flow.ask(asked, 'alice'), 'approve', 'alice')
    expect(redirectionOf(approval).parameters['iss']).toBe(issuer)
  })
})

describeOnStores('With an issuer on a loopback host', (stage) => {
  test.each(['http://localhost', 'http://127.0.0.1:3000', 'http://[::1]:3000'])(
    'plain HTTP will do: %s',
    async (own) => {
      expect((await stage({ issuer: own }).flow.tokens(photoBook)).expiresIn).toBe(3600)
    },
  )
})
