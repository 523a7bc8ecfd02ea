import { html } from '../../lib/index'
import { bent, photoPrint } from '../support/flows/clients'
import { consentFormOf } from '../support/flows/consent-form'
import { authorizationRequest, type Fields, formOf } from '../support/flows/flow'
import { setStage } from '../support/flows/stage'

const ask = ({ flow }: Pick<ReturnType<typeof setStage>, 'flow'>, bend: Fields = {}, language = 'en') =>
  flow.open(`/authorize?${formOf({ ...authorizationRequest(photoPrint), ...bend })}`, 'alice', {
    'Accept-Language': language,
  })

const languageOf = ({ text }: { readonly text: string }) => /<html ([^>]*)>/.exec(text)?.[1]
const evil = { redirect_uri: 'https://evil.example/cb' }

describe('The language of a page', () => {
  test('is that of ui_locales, then of Accept-Language, then the first of the server', async () => {
    const host = setStage()
    expect(languageOf(await ask(host, { ui_locales: 'nl fr-CA' }, 'de'))).toBe('lang="fr"')
    expect(languageOf(await ask(host, { ui_locales: 'nl' }, 'it, de-AT;q=0.9, en;q=0.1'))).toBe('lang="de"')
    expect(languageOf(await ask(host, {}, 'it'))).toBe('lang="en"')
    expect(languageOf(await ask(host, {}, 'ar'))).toBe('lang="ar" dir="rtl"')
    const german = setStage({ pages: { languages: ['de', 'en'] } })
    expect(languageOf(await ask(german, {}, 'it'))).toBe('lang="de"')
    expect(languageOf(await ask(german, { ui_locales: 'fr' }, 'en'))).toBe('lang="en"')
  })

  test('is that of the request on its error page, too, before and after the client is known', async () => {
    const host = setStage()
    for (const bend of [{ client_id: 'nobody' }, evil]) {
      const page = await ask(host, { ...bend, ui_locales: 'ja' })
      expect([page.status, languageOf(page)]).toEqual([400, 'lang="ja"'])
      expect(page.text).toContain('このリクエストは続行できません')
    }
  })

  test('of the answer to a decision is that of the question', async () => {
    const host = setStage()
    const { fields } = consentFormOf(await ask(host, { ui_locales: 'de' }, 'fr'), '/authorize')
    expect(fields).toHaveProperty('ui_locales', 'de')
    const send = (bend: Fields) =>
      host.flow.submit('/authorize', { ...fields, decision: 'maybe', ...bend }, 'alice', {
        'Accept-Language': 'fr',
      })
    expect(languageOf(await send({}))).toBe('lang="de"')
    expect(languageOf(await send({ ui_locales: undefined }))).toBe('lang="fr"')
  })

  test('is not chosen by ui_locales that are repeated or hostile', async () => {
    const host = setStage()
    const twice = await host.flow.open('/authorize?ui_locales=de&ui_locales=fr&client_id=nobody')
    expect(languageOf(twice)).toBe('lang="en"')
    const hostile = await ask(host, { client_id: 'nobody', ui_locales: '"><script> __proto__ de' })
    expect(languageOf(hostile)).toBe('lang="de"')
    expect(hostile.text).not.toContain('<script')
  })
})

test.each([
  ['to the home page of a registered client, never to a URI of the request', evil, {}, true],
  ['nowhere for a client that is unknown', { client_id: 'nobody' }, {}, false],
  ['nowhere for a client that is disabled', evil, { disabled: true }, false],
])('The error page leads %s', async (_where, bend, registered, leadsHome) => {
  const client = bent(photoPrint, { client_uri: 'https://print.example/home', ...registered })
  const page = await ask(setStage({ clients: [client.registration] }), bend)
  const home = '<a href="https://print.example/home" rel="noreferrer" referrerpolicy="no-referrer"'
  expect([page.status, page.text.includes(home), page.text.includes('<a ')]).toEqual([
    400,
    leadsHome,
    leadsHome,
  ])
  expect(page.text).not.toContain('evil.example')
})

describe('The look of the pages', () => {
  test('has the name, the logo, the colours and the texts of the host', async () => {
    const host = setStage({
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
    expect((await ask(host, { client_id: 'nobody' }, 'de')).text).toContain('<bdi>Licht</bdi>')
  })

  test('reaches a page of the host, with the language', async () => {
    const host = setStage({
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
