import { mayEndAt } from '../../../lib/http/form-action'
import { formActionOf, formTargetsOf } from '../../../lib/http/response'
import { warningsOf } from '../../support/rooms/warnings'

describe('form action', () => {
  const issuer = 'https://photos.example'
  const ownCallback = 'https://printer.example/callback'

  describe('mayEndAt', () => {
    it.each([
      ['', ownCallback],
      ["default-src 'none'", ownCallback],
      ["form-action 'self' https:", ownCallback],
      ["FORM-ACTION 'Self' HTTPS:", ownCallback],
      ["script-src 'self';form-action https://printer.example", ownCallback],
      ['form-action printer.example', ownCallback],
      ['form-action *.example', ownCallback],
      ['form-action https://printer.example:443/elsewhere', ownCallback],
      ['form-action printer.example:*', 'https://printer.example:8443/'],
      ['form-action http:', ownCallback],
      ['form-action *', ownCallback],
      ["form-action 'self'", 'https://photos.example/own/ownCallback'],
      ['form-action com.example.app:', 'com.example.app:/cb'],
      ["form-action https:; form-action 'none'", ownCallback],
      ["form-action 'self' https: http:", 'http://127.0.0.1:8080/cb'],
    ])('lets %j lead to %s', (policy, uri) => {
      expect(mayEndAt(policy, uri, issuer)).toBe(true)
    })

    it.each([
      ["form-action 'self'", ownCallback],
      ['form-action', ownCallback],
      ["form-action 'none'", ownCallback],
      ["default-src *; form-action 'self';", ownCallback],
      ["form-action 'self' https:", 'com.example.app:/cb'],
      ['form-action *', 'com.example.app:/cb'],
      ['form-action https:', 'http://127.0.0.1:8080/cb'],
      ['form-action example', ownCallback],
      ['form-action *.printer.example', ownCallback],
      ['form-action https://printer.example:8443', ownCallback],
      ['form-action https://other.example', ownCallback],
      ["form-action 'none'; form-action https:", ownCallback],
    ])('does not let %j lead to %s', (policy, uri) => {
      expect(mayEndAt(policy, uri, issuer)).toBe(false)
    })

    it.each([ownCallback, 'http://[::1]:8080/cb', 'com.example.app:/cb'])(
      'lets what the suite says lead to %s',
      (uri) => {
        expect(mayEndAt(formActionOf(formTargetsOf(uri)), uri, issuer)).toBe(true)
      },
    )
  })

  const client = `{ client_id: 'a', client_type: 'public', redirect_uris: ['https://a.example/cb'], scope: 'a' }`
  const shown = (before: string, pagesOption: string, site = 'none', query = '') =>
    warningsOf(`
    const app = express()
    ${before}
    const oauth = createAuthorizationServer({
      ...options, clients: [${client}], resourceOwner: () => 'alice', pkce: 'none', ${pagesOption}
    })
    app.use(oauth.router())
    await serve(app, async (url) => {
      for (let i = 0; i < 2; i++) await (await fetch(url + '/authorize?response_type=code&client_id=a&scope=a${query}', { redirect: 'manual', headers: { 'Sec-Fetch-Site': '${site}' } })).text()
    })
  `).map(({ code, message }) => `${code} ${message}`)
  const page = "pages: { consent: (request, response) => { response.send('mine') } }"
  const warning =
    "EAS_FORM_ACTION The page of the option pages.consent has a Content-Security-Policy that blocks the redirect to a.example: send the page with form-action 'self' https:."

  describe('EAS_FORM_ACTION', () => {
    it.each([
      ['helmet before the suite', "app.use(require('helmet')())", page],
      [
        'the page itself',
        '',
        `pages: { consent: (request, response) => { response.writeHead(200, { 'Content-Security-Policy': "form-action 'self'" }).end() } }`,
      ],
      [
        'a second policy',
        '',
        `pages: { consent: (request, response) => { response.set('Content-Security-Policy', ['form-action https:', "form-action 'self'"]).send('mine') } }`,
      ],
    ])('is given once when %s blocks the way back', (_what, before, pagesOption) => {
      expect(shown(before, pagesOption)).toEqual([warning])
    })

    it.each([
      [
        'the host says what the docs say',
        `app.use(require('helmet')({ contentSecurityPolicy: { directives: { 'form-action': ["'self'", 'https:'] } } }))`,
        page,
      ],
      ['there is no policy', '', page],
      ["the page is the suite's, behind helmet", "app.use(require('helmet')())", ''],
    ])('is not given when %s', (_what, before, pagesOption) => {
      expect(shown(before, pagesOption)).toEqual([])
    })

    const posted = (pagesOption: string, site = 'none') => {
      const withModes = `plugIns: [suite.formPost()], ${pagesOption}`
      return shown("app.use(require('helmet')())", withModes, site, '&response_mode=form_post')
    }

    it('is not given if another page posts the response, behind helmet', () => {
      expect(posted(page)).toEqual([])
      expect(posted('skipConsent: () => true', 'same-origin')).toEqual([])
    })

    const skip = 'skipConsent: () => true'
    const sentFrom = (site: string, before = "app.use(require('helmet')())") => shown(before, skip, site)

    it('is given once when the login leads to the client without a page, behind helmet', () => {
      expect(sentFrom('same-origin')).toEqual([
        "EAS_FORM_ACTION The login leads to a.example without a consent page, and the Content-Security-Policy of this server blocks that redirect after a form: send the page of the login, and the authorization endpoint, with form-action 'self' https:.",
      ])
    })

    it.each(['cross-site', 'none'])(
      'is not given when the browser comes from elsewhere than a page of the host: %s',
      (site) => {
        expect(sentFrom(site)).toEqual([])
      },
    )

    it('is not given when the policy of the host lets the login lead to the client', () => {
      const policy = `app.use(require('helmet')({ contentSecurityPolicy: { directives: { 'form-action': ["'self'", 'https:'] } } }))`
      expect([sentFrom('same-origin', policy), sentFrom('same-origin', '')]).toEqual([[], []])
    })
  })
})
