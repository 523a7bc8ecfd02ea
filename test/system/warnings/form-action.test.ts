import { warningsOf } from '../../support/warnings'

const helmet = "app.use(require('helmet')())"
const asTold = `app.use(require('helmet')({ contentSecurityPolicy: { directives: { 'form-action': ["'self'", 'https:'] } } }))`
const sends = (...policies: readonly string[]) =>
  `pages: { consent: (request, response) => { response.set('Content-Security-Policy', ${JSON.stringify(policies)}).send('mine') } }`
const ownPage = "pages: { consent: (request, response) => { response.send('mine') } }"
const skip = 'skipConsent: () => true'
const callback = 'https://printer.example/callback'

interface Story {
  readonly before?: string
  readonly options: string
  readonly site?: string
  readonly query?: string
  readonly uri?: string
}

/** The warnings of a server that is asked twice. */
async function shown({ before = '', options, site = 'none', query = '', uri = callback }: Story) {
  const warnings = await warningsOf(`
    const app = express()
    ${before}
    const client = { client_id: 'a', client_type: 'public', redirect_uris: ['${uri}'], scope: 'a' }
    app.use(createAuthorizationServer({
      ...options, clients: [client], resourceOwner: () => 'alice', pkce: 'none', ${options}
    }).router())
    const path = '/authorize?response_type=code&client_id=a&scope=a&redirect_uri=' + encodeURIComponent('${uri}') + '${query}'
    await serve(app, async (url) => {
      for (let i = 0; i < 2; i++)
        await (await fetch(url + path, { redirect: 'manual', headers: { 'Sec-Fetch-Site': '${site}' } })).text()
    })
  `)
  return warnings
    .map(({ code, message }) => `${code} ${message}`)
    .filter((line) => line.startsWith('EAS_FORM'))
}

const warning =
  "EAS_FORM_ACTION The page of the option pages.consent has a Content-Security-Policy that blocks the redirect to printer.example: send the page with form-action 'self' https:."
const ofLogin =
  "EAS_FORM_ACTION The login leads to printer.example without a consent page, and the Content-Security-Policy of this server blocks that redirect after a form: send the page of the login, and the authorization endpoint, with form-action 'self' https:."

test.each<[string, Story, readonly string[]]>([
  ['helmet stands before a page of the host', { before: helmet, options: ownPage }, [warning]],
  [
    'the page itself says so',
    {
      options: `pages: { consent: (request, response) => { response.writeHead(200, { 'Content-Security-Policy': "form-action 'self'" }).end() } }`,
    },
    [warning],
  ],
  ['a second policy says so', { options: sends('form-action https:', "form-action 'self'") }, [warning]],
  ['the host says what the docs say', { before: asTold, options: ownPage }, []],
  ['there is no policy', { options: ownPage }, []],
  ["the page is the suite's, behind helmet", { before: helmet, options: '' }, []],
  [
    'a login leads to the client without a page',
    { before: helmet, options: skip, site: 'same-origin' },
    [ofLogin],
  ],
  ['the browser comes from another site', { before: helmet, options: skip, site: 'cross-site' }, []],
  ['the browser comes from nowhere', { before: helmet, options: skip }, []],
  ['the policy lets the login lead there', { before: asTold, options: skip, site: 'same-origin' }, []],
  ['no policy is there at the login', { options: skip, site: 'same-origin' }, []],
  ...[{ options: ownPage }, { options: skip, site: 'same-origin' }].map(
    ({ options, ...more }): [string, Story, readonly string[]] => [
      `another page posts the response (${options})`,
      {
        before: helmet,
        options: `plugins: [suite.formPost()], ${options}`,
        query: '&response_mode=form_post',
        ...more,
      },
      [],
    ],
  ),
])(
  'EAS_FORM_ACTION is given once where a policy blocks the way back, and only there: %s',
  async (_when, story, lines) => {
    expect(await shown(story)).toEqual(lines)
  },
)

const [loopback, app] = ['http://127.0.0.1:8080/cb', 'com.example.app:/cb']

test.each([
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
  ["form-action 'self'", 'http://localhost/own/callback'],
  ['form-action com.example.app:', app],
  ["form-action https:; form-action 'none'", callback],
  ["form-action 'self' https: http:", loopback],
])('The policy %j lets a form lead to %s', async (policy, uri) => {
  expect(await shown({ options: sends(policy), uri })).toEqual([])
})

test.each([
  ["form-action 'self'", callback],
  ['form-action', callback],
  ["form-action 'none'", callback],
  ["default-src *; form-action 'self';", callback],
  ["form-action 'self' https:", app],
  ['form-action *', app],
  ['form-action https:', loopback],
  ['form-action example', callback],
  ['form-action *.printer.example', callback],
  ['form-action https://printer.example:8443', callback],
  ['form-action https://other.example', callback],
  ["form-action 'none'; form-action https:", callback],
])('The policy %j does not let a form lead to %s', async (policy, uri) => {
  expect(await shown({ options: sends(policy), uri })).toHaveLength(1)
})
