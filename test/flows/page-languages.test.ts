import request from 'supertest'
import { html } from '../../lib/index'
import { authorizationRequest, consentTokenIn } from '../support/rooms/consent-form'
import { hostWith } from '../support/rooms/host'
import { printer } from '../support/rooms/registrations'

type Host = ReturnType<typeof hostWith>

const ask = (host: Host, bend: object = {}, acceptLanguage = 'en') =>
  request(host.app)
    .get('/authorize')
    .query({ ...authorizationRequest, ...bend })
    .set('Accept-Language', acceptLanguage)

const languageOf = ({ text }: { readonly text: string }) => /<html ([^>]*)>/.exec(text)?.[1]

describe('The language of a page', () => {
  it('is that of ui_locales, then of Accept-Language, then the first of the server', async () => {
    const host = hostWith()
    expect(languageOf(await ask(host, { ui_locales: 'nl fr-CA' }, 'de'))).toBe('lang="fr"')
    expect(languageOf(await ask(host, { ui_locales: 'nl' }, 'it, de-AT;q=0.9, en;q=0.1'))).toBe('lang="de"')
    expect(languageOf(await ask(host, {}, 'it'))).toBe('lang="en"')
    expect(languageOf(await ask(host, {}, 'ar'))).toBe('lang="ar" dir="rtl"')
    const german = hostWith({ pages: { languages: ['de', 'en'] } })
    expect(languageOf(await ask(german, {}, 'it'))).toBe('lang="de"')
    expect(languageOf(await ask(german, { ui_locales: 'fr' }, 'en'))).toBe('lang="en"')
  })

  it('is that of the request on its error page, too, before and after the client is known', async () => {
    const host = hostWith()
    for (const bend of [{ client_id: 'nobody' }, { redirect_uri: 'https://evil.example/' }]) {
      const page = await ask(host, { ...bend, ui_locales: 'ja' })
      expect(page.status).toBe(400)
      expect(languageOf(page)).toBe('lang="ja"')
      expect(page.text).toContain('このリクエストは続行できません')
    }
  })

  it('of the answer to a decision is that of the question', async () => {
    const host = hostWith()
    const page = await ask(host, { ui_locales: 'de' }, 'fr')
    expect(page.text).toContain('<input type="hidden" name="ui_locales" value="de" />')
    const decision = { authorization_request: consentTokenIn(page.text), decision: 'maybe' }
    const send = (fields: object) =>
      request(host.app).post('/authorize').set('Accept-Language', 'fr').type('form').send(fields)
    expect(languageOf(await send({ ...decision, ui_locales: 'de' }))).toBe('lang="de"')
    expect(languageOf(await send(decision))).toBe('lang="fr"')
  })

  it('is not chosen by ui_locales that are repeated or hostile', async () => {
    const host = hostWith()
    const twice = await request(host.app)
      .get('/authorize?ui_locales=de&ui_locales=fr')
      .query({ client_id: 'nobody' })
    expect(languageOf(twice)).toBe('lang="en"')
    const hostile = await ask(host, { client_id: 'nobody', ui_locales: '"><script> __proto__ de' })
    expect(languageOf(hostile)).toBe('lang="de"')
    expect(hostile.text).not.toContain('<script')
  })
})

describe('The error page', () => {
  it('leads back to the home page of a registered client, never to a URI of the request', async () => {
    const client_uri = 'https://printer.example/home'
    const host = hostWith({ clients: [{ ...printer, client_uri }] })
    const page = await ask(host, { redirect_uri: 'https://evil.example/cb', state: 'x' })
    expect(page.text).toContain(`<a href="${client_uri}" rel="noreferrer" referrerpolicy="no-referrer"`)
    expect(page.text).not.toContain('evil.example')
  })

  it.each([
    ['unknown', { client_id: 'nobody' }, {}],
    ['disabled', { redirect_uri: 'https://evil.example/cb' }, { disabled: true }],
  ])('leads nowhere for a client that is %s', async (_what, bend, registered) => {
    const host = hostWith({
      clients: [{ ...printer, client_uri: 'https://printer.example/', ...registered }],
    })
    const page = await ask(host, bend)
    expect(page.status).toBe(400)
    expect(page.text).not.toContain('<a ')
  })
})

describe('The look of the pages', () => {
  it('has the name, the logo, the colours and the texts of the host', async () => {
    const host = hostWith({
      pages: {
        service: { name: { en: 'Lumen', de: 'Licht' }, logo: '/logo.svg', colors: { accent: '#0b6b4f' } },
        texts: { de: { consent: { allow: 'Verbinden', requestAt: (name) => html`will zu ${name}` } } },
      },
    })
    const page = await ask(host, {}, 'de')
    expect(page.text).toContain('<img src="/logo.svg" alt="" />')
    expect(page.text).toContain('will zu <bdi>Licht</bdi>')
    expect(page.text).toMatch(/value="approve"[^>]*>Verbinden</)
    expect(page.text).toContain('--accent: #0b6b4f;')
    const refused = await ask(host, { client_id: 'nobody' }, 'de')
    expect(refused.text).toContain('<bdi>Licht</bdi>')
  })

  it('reaches a page of the host, with the language, and no logo of the client if it is unregistered', async () => {
    const host = hostWith({
      pages: {
        service: { name: 'Lumen' },
        consent: (_request, response, { service, language }) => response.json({ service, language }),
      },
    })
    expect((await ask(host, { ui_locales: 'ar' })).body).toEqual({
      service: { name: 'Lumen' },
      language: { tag: 'ar', dir: 'rtl' },
    })
  })
})
