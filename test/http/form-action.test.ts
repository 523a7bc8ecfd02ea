import { mayEndAt } from '../../lib/http/consent'
import { formActionOf, formTargetsOf } from '../../lib/http/response'
import { warningsOf } from '../support/rooms/warnings'

const issuer = 'https://photos.example'
const callback = 'https://printer.example/callback'

describe('mayEndAt', () => {
  it.each([
    ['', callback],
    ["default-src 'none'", callback],
    ["form-action 'self' https:", callback],
    ["FORM-ACTION 'Self' HTTPS:", callback],
    ["script-src 'self';form-action https://printer.example", callback],
    ['form-action printer.example', callback],
    ['form-action *.example', callback],
    ['form-action https://printer.example:443/elsewhere', callback],
    ['form-action printer.example:*', 'https://printer.example:8443/'],
    ['form-action http:', callback],
    ['form-action *', callback],
    ["form-action 'self'", 'https://photos.example/own/callback'],
    ['form-action com.example.app:', 'com.example.app:/cb'],
    ["form-action https:; form-action 'none'", callback],
    ["form-action 'self' https: http:", 'http://127.0.0.1:8080/cb'],
  ])('lets %j lead to %s', (policy, uri) => {
    expect(mayEndAt(policy, uri, issuer)).toBe(true)
  })

  it.each([
    ["form-action 'self'", callback],
    ['form-action', callback],
    ["form-action 'none'", callback],
    ["default-src *; form-action 'self';", callback],
    ["form-action 'self' https:", 'com.example.app:/cb'],
    ['form-action *', 'com.example.app:/cb'],
    ['form-action https:', 'http://127.0.0.1:8080/cb'],
    ['form-action example', callback],
    ['form-action *.printer.example', callback],
    ['form-action https://printer.example:8443', callback],
    ['form-action https://other.example', callback],
    ["form-action 'none'; form-action https:", callback],
  ])('does not let %j lead to %s', (policy, uri) => {
    expect(mayEndAt(policy, uri, issuer)).toBe(false)
  })

  it.each([callback, 'http://[::1]:8080/cb', 'com.example.app:/cb'])(
    'lets what the suite says lead to %s',
    (uri) => {
      expect(mayEndAt(formActionOf(formTargetsOf(uri)), uri, issuer)).toBe(true)
    },
  )
})

const client = `{ client_id: 'a', client_type: 'public', redirect_uris: ['https://a.example/cb'], scope: 'a' }`
const shown = (before: string, consentPage: string, more = '') =>
  warningsOf(`
    const app = express()
    ${before}
    const oauth = createAuthorizationServer({
      ...options, clients: [${client}], resourceOwner: () => 'alice', pkce: 'none', ${consentPage}
    })
    app.use(oauth.router())
    await serve(app, async (url) => {
      for (let i = 0; i < 2; i++) await (await fetch(url + '/authorize?response_type=code&client_id=a&scope=a${more}', { redirect: 'manual' })).text()
    })
  `).map(({ code, message }) => `${code} ${message}`)
const page = "consentPage: (request, response) => { response.send('mine') }"
const warning =
  "EAS_FORM_ACTION The page of the option consentPage has a Content-Security-Policy that keeps browsers from returning to a.example: send it with form-action 'self' https:."

describe('EAS_FORM_ACTION', () => {
  it.each([
    ['helmet before the suite', "app.use(require('helmet')())", page],
    [
      'the page itself',
      '',
      `consentPage: (request, response) => { response.writeHead(200, { 'Content-Security-Policy': "form-action 'self'" }).end() }`,
    ],
    [
      'a second policy',
      '',
      `consentPage: (request, response) => { response.set('Content-Security-Policy', ['form-action https:', "form-action 'self'"]).send('mine') }`,
    ],
  ])('is given once when %s blocks the way back', (_what, before, consentPage) => {
    expect(shown(before, consentPage)).toEqual([warning])
  })

  it.each([
    [
      'the host says what the docs say',
      `app.use(require('helmet')({ contentSecurityPolicy: { directives: { 'form-action': ["'self'", 'https:'] } } }))`,
      page,
    ],
    ['there is no policy', '', page],
    ["the page is the suite's, behind helmet", "app.use(require('helmet')())", ''],
  ])('is not given when %s', (_what, before, consentPage) => {
    expect(shown(before, consentPage)).toEqual([])
  })
})
