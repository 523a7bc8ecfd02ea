import request from 'supertest'
import { html, invalidRequest, pageDocument, type PageEndpoint } from '../../lib/index'
import { outcomeOf } from '../support/flows/outcome'
import { setStage } from '../support/flows/stage'
import { bent, photoPrint } from '../support/flows/clients'
import { consentFormOf } from '../support/flows/consent-form'
import { authorizationRequest, type Fields, formOf } from '../support/flows/flow'

const greeting: PageEndpoint = {
  kind: 'page',
  name: 'greeting',
  path: '/greeting',
  listed: true,
  async handle({ method, parameters, resourceOwner, target, address, locale }) {
    const name = parameters.get('name') ?? resourceOwner?.subject ?? 'stranger'
    if (name === 'nobody') throw invalidRequest('name_unknown', 'Nobody has this name.')
    if (method === 'POST') return { redirect: `${target}?name=${encodeURIComponent(name)}` }
    const headers = { 'X-Seen': String(address !== undefined), 'X-Frame-Options': 'ALLOWALL' }
    return { html: pageDocument({ title: 'Hello', content: html`<p>Hello ${name}</p>`, locale }), headers }
  },
}

const own: PageEndpoint = {
  kind: 'page',
  name: 'own',
  path: '/own',
  login: 'required',
  handle: async ({ resourceOwner }) => ({ html: `<p>${resourceOwner.subject}</p>` }),
}

const pageWith = (response: unknown): PageEndpoint => ({
  kind: 'page',
  name: 'odd',
  path: '/odd',
  method: 'GET',
  handle: jest.fn().mockResolvedValue(response),
})

describe('a page', () => {
  const { flow, app, failures } = setStage({
    plugins: [{ name: 'host-endpoints', endpoints: [greeting, own] }],
  })

  test('is served with the headers of every page, and escapes what the tag html gets', async () => {
    const response = await flow.open('/greeting?name=%3Cb%3E', 'alice')
    expect(response.text).toContain('Hello &lt;b&gt;')
    expect(response.headers).toMatchObject({
      'cache-control': 'no-store',
      'x-frame-options': 'DENY',
      'x-seen': 'true',
      'content-security-policy': expect.stringContaining("form-action 'self';"),
    })
  })

  test('that needs a login sends to it, which returns to the same page, at most three times a minute', async () => {
    let path = '/own?tab=2'
    for (let returns = 0; returns < 3; returns++) {
      const login = new URL(String((await flow.open(path)).get('Location')), 'http://localhost')
      expect(login.pathname).toBe('/login')
      path = String(login.searchParams.get('return_to'))
    }
    expect(path).toContain('/own?tab=2&')
    expect((await flow.open(path, 'alice')).text).toBe('<p>alice</p>')
    expect(outcomeOf(await flow.open(path))).toBe('page 400 invalid_request')
  })

  test.each([
    ['of another site', { 'Sec-Fetch-Site': 'cross-site' }, 'page 400 invalid_request'],
    ['of another origin', { Origin: 'https://evil.example' }, 'page 400 invalid_request'],
    ['of this server', { 'Sec-Fetch-Site': 'same-origin', Origin: 'http://localhost' }, 'redirect code'],
  ])('takes no form but its own: a form %s', async (_what, headers, outcome) => {
    expect(outcomeOf(await flow.submit('/greeting', { name: 'ada' }, 'alice', headers))).toBe(outcome)
  })

  test('redirects a form to a path of this server', async () => {
    const response = await flow.submit('/greeting', { name: 'ada & co' })
    expect([response.status, response.get('Location')]).toEqual([303, '/greeting?name=ada%20%26%20co'])
  })

  test('refuses other methods on the page of errors, so that no link checker causes anything', async () => {
    for (const method of ['head', 'put'] as const) {
      const { status, headers } = await request(app)[method]('/greeting')
      expect([status, headers['allow']]).toEqual([405, 'GET, POST'])
    }
    const { text } = await request(app).put('/greeting')
    expect(text).toContain('The greeting endpoint takes GET or POST requests only.')
  })

  test('shows an error on the page of errors, under its own name in events', async () => {
    expect(outcomeOf(await flow.open('/greeting?name=nobody'))).toBe('page 400 invalid_request')
    expect(failures.at(-1)).toMatchObject({ endpoint: 'greeting', reason: 'name_unknown' })
  })

  test('stands in the metadata only if it is listed, without methods of client authentication', async () => {
    const { body } = await flow.open('/.well-known/oauth-authorization-server')
    expect(body).toMatchObject({ greeting_endpoint: 'http://localhost/greeting' })
    expect(Object.keys(body)).not.toContain('own_endpoint')
    expect(Object.keys(body)).not.toContain('greeting_endpoint_auth_methods_supported')
  })

  test('counts with the authorization requests of its network', async () => {
    const limits = { networks: { authorization: { attempts: 2, seconds: 60 } } }
    const stage = setStage({ plugins: [{ name: 'host-endpoints', endpoints: [greeting] }], limits })
    await stage.flow.open('/authorize')
    expect((await stage.flow.open('/greeting')).status).toBe(200)
    expect((await stage.flow.open('/greeting')).status).toBe(429)
  })

  test('is closed during maintenance and after close()', async () => {
    const closed = setStage({
      plugins: [{ name: 'host-endpoints', endpoints: [greeting] }],
      maintenance: () => true,
    })
    expect((await closed.flow.open('/greeting')).status).toBe(503)
    const ended = setStage({ plugins: [{ name: 'host-endpoints', endpoints: [greeting] }] })
    await ended.oauth.close()
    expect((await ended.flow.open('/greeting')).status).toBe(503)
  })
})

describe('a page with json', () => {
  const tally: PageEndpoint = {
    kind: 'page',
    name: 'tally',
    path: '/tally',
    json: true,
    handle: async ({ method, parameters }) =>
      method === 'POST'
        ? { redirect: `/tally?more=${parameters.require('more')}` }
        : { html: '<p>1</p>', ...(parameters.mentions('bare') ? {} : { view: { count: 1 } }) },
  }
  const { flow } = setStage({ plugins: [{ name: 'host-endpoints', endpoints: [tally, greeting] }] })
  const json = { Accept: 'application/json' }
  const sent = { 'Content-Type': 'application/json' }

  test('gives scripts its view, and people the page', async () => {
    expect((await flow.open('/tally', undefined, json)).body).toEqual({ count: 1 })
    expect((await flow.open('/tally')).text).toBe('<p>1</p>')
    expect((await flow.open('/tally?bare', undefined, json)).text).toBe('<p>1</p>')
  })

  test('takes a form as JSON, and says where to go', async () => {
    const response = await flow.submit('/tally', '{"more":"2"}', undefined, sent)
    expect([response.status, response.body]).toEqual([200, { redirect_to: '/tally?more=2' }])
  })

  test('refuses scripts of other sites, and a page without json takes no JSON', async () => {
    const crossing = { 'Sec-Fetch-Site': 'cross-site' }
    for (const response of [
      await flow.open('/tally', undefined, { ...json, ...crossing }),
      await flow.submit('/tally', '{"more":"2"}', undefined, { ...sent, ...crossing }),
      await flow.submit('/greeting', '{"name":"ada"}', undefined, sent),
    ])
      expect([response.status, response.body.error]).toEqual([400, 'invalid_request'])
  })
})

test.each<[string, unknown]>([
  ['another origin', { redirect: 'https://evil.example/' }],
  ['a path that is a host', { redirect: '//evil.example/' }],
  ['a path with a backslash', { redirect: '/\\evil.example/' }],
  ['a redirect with a page', { redirect: '/', html: '' }],
  ['a place that is a script', { leaveTo: 'javascript:alert(1)' }],
  ['a place that is no URI', { leaveTo: '/bye' }],
  ['no text', { html: 7 }],
  ['headers that are no texts', { html: '', headers: { a: 1 } }],
  ['a view that is no object', { html: '', view: 'x' }],
  ['a member that nobody knows', { html: '', body: '' }],
  ['nothing', undefined],
])('a page that resolves to %s is a fault of the server, and leads nowhere', async (_what, response) => {
  const { flow } = setStage({ plugins: [{ name: 'host-endpoints', endpoints: [pageWith(response)] }] })
  const { status, headers } = await flow.open('/odd')
  expect([status, headers['location']]).toEqual([500, undefined])
})

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
        texts: { de: { consent: { allow: 'Verbinden', requestAt: 'will zu {}' } } },
      },
    })
    const page = await ask(host, {}, 'de')
    expect(page.text).toContain('<img src="/logo.svg" alt="" />')
    expect(page.text).toContain('will zu <bdi>Licht</bdi>')
    expect(page.text).toMatch(/value="approve"[^>]*>Verbinden</)
    expect(page.text).toContain('--accent: #0b6b4f;')
    expect((await ask(host, { client_id: 'nobody' }, 'de')).text).toContain('<bdi>Licht</bdi>')
  })
})
