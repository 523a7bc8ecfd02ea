import type { Response } from 'express'
import request from 'supertest'
import { type AuthorizationServerOptions, type ClientRegistration, memoryStore } from '../../lib/index'
import { application, type Hosting } from '../support/flows/application'
import { bent, photoBook, photoPrint } from '../support/flows/clients'
import { authorizationRequest, type Fields } from '../support/flows/flow'
import { workspaceQuestion } from '../support/flows/owner-decision'
import { clientId, document, Documents, sourceOf } from '../support/client-documents'
import { notesApp } from '../support/flows/registering'

/** What a page says, without its stylesheet; where the formatter breaks a line inside a tag is nothing to test. */
const tidy = (page: string) => page.replace(/<style>[^]*<\/style>/, '').replaceAll(/\s+>/g, '>')

/** The consent page of a client as a database has it: nobody has checked the registration. */
async function pageOf(
  bend: Readonly<Record<string, unknown>>,
  options: Partial<AuthorizationServerOptions> = {},
) {
  const registration = { ...photoBook.registration, scope: Object.keys(scopes).join(' '), ...bend }
  const { flow } = application({ clients: { find: async () => registration }, scopes, ...options }, routed)
  const scope = options.scopes === undefined ? 'see' : Object.keys(options.scopes).join(' ')
  const asked = { ...authorizationRequest({ registration }), scope }
  return tidy((await flow.ask(asked, 'alice')).text)
}
const scopes = { see: 'See' }
const routed: Hosting = { mount: (app, oauth) => app.use(oauth.router()) }

describe('The consent page shows of a client', () => {
  const link = (href: string, text: string) =>
    `<a href="${href}" target="_blank" rel="noopener noreferrer nofollow">${text}</a>`

  test.each<[string, Partial<ClientRegistration>, string]>([
    [
      'its logo, whose server learns no address [consent-23]',
      { logo_uri: 'https://cdn.example/logo.png' },
      '<img src="https://cdn.example/logo.png" alt="P" referrerpolicy="no-referrer" />',
    ],
    [
      'its website, by its host',
      { client_uri: 'https://a.example/a?b&c' },
      link('https://a.example/a?b&amp;c', '<bdi>a.example</bdi>'),
    ],
    ['its policy', { policy_uri: 'https://a.example/p' }, link('https://a.example/p', 'Privacy policy')],
    ['its terms', { tos_uri: 'https://a.example/t' }, link('https://a.example/t', 'Terms of service')],
  ])('%s', async (_what, bend, expected) => {
    expect(await pageOf(bend)).toContain(expected)
  })

  test.each(['logo_uri', 'client_uri', 'policy_uri', 'tos_uri'])(
    'no %s that a browser would run or send elsewhere [consent-17]',
    async (member) => {
      const plain = await pageOf({})
      const uris = [
        'javascript:alert(1)',
        ' JaVaScRiPt:alert(1)',
        'data:text/html,<p>',
        'ftp://a.example/',
        '/a',
        '',
      ]
      for (const uri of uris) expect(linksIn(await pageOf({ [member]: uri }))).toEqual(linksIn(plain))
    },
  )
  const linksIn = (page: string) => page.match(/(?:href|src)="(?!\?)[^"]*"/g)

  test('a website by the host that a browser would ask [consent-18]', async () => {
    const client_uri = 'https://bank.example@evil.example/bank.example'
    expect(await pageOf({ client_uri })).toContain('><bdi>evil.example</bdi></a>')
  })
})

test.each([
  ['https://book.example/oauth/callback?x=1', 'book.example', "'self' https:", undefined],
  ['https://book.example:8443/cb', 'book.example:8443', "'self' https:", undefined],
  ['http://127.0.0.1:51004/cb', 'http://127.0.0.1:51004', "'self' https: http:", 'a program on this device.'],
  ['http://[::1]:8080/cb', 'http://[::1]:8080', "'self' https: http:", 'a program on this device.'],
  [
    'com.example.book:/cb',
    'an app on this device (com.example.book:)',
    "'self' https: com.example.book:",
    'an app on this device.',
  ],
])('An answer to %s returns to %s, where the form may end', async (uri, named, sources, warning) => {
  const client = bent(photoBook, { redirect_uris: [uri] })
  const { flow } = application({ clients: [client.registration] })
  const { text, headers } = await flow.ask(authorizationRequest(client), 'alice')
  expect(text).toContain(`<dd><bdi>${named}</bdi></dd>`)
  expect(headers['content-security-policy']).toContain(`; form-action ${sources};`)
  expect(/The access goes to ([^<]*)/.exec(text)?.[1]).toBe(warning)
})

describe('The permissions', () => {
  const grouped = {
    erase: { description: 'Erase', group: 'Photos', weight: 'danger' },
    see: { description: 'See', group: 'Photos' },
    name: { description: 'Name' },
    add: { description: 'Add', group: 'Photos', weight: 'write', optional: true },
    mail: { description: 'mail', group: 'Profile' },
  } as const
  const registered = { scope: Object.keys(grouped).join(' ') }
  const linesIn = (page: string) =>
    [...page.matchAll(/<h3 dir="auto">([^<]*)|<span dir="auto">([^<]*)/g)].map(
      ([, heading, text]) => heading ?? text,
    )

  test('stand in groups, in the order in which the first of each appears, and dangerous ones last', async () => {
    const page = await pageOf(registered, { scopes: grouped })
    expect(linesIn(page)).toEqual(
      'Photos, See, Add, Name, Profile, mail, Think twice before you allow this, Erase'.split(', '),
    )
    expect(page.match(/<\w+ class="weight">[^<]*/g)).toEqual([
      '<span class="weight">Makes changes',
      '<strong class="weight">Far-reaching',
    ])
    expect(page.match(/<input type="checkbox"[^>]*>/g)).toEqual([
      '<input type="checkbox" name="scope:add" value="yes" />',
    ])
    expect(page).toContain('the app gets only what you tick')
    // A token that is its own description stands there once.
    expect(page.split('mail<')).toHaveLength(2)
  })

  test('that the owner has allowed before stand last, below their own heading, with their marks', async () => {
    const registration = { ...photoBook.registration, ...registered }
    const { flow } = application({ clients: [registration], scopes: grouped, rememberConsent: true }, routed)
    const asked = authorizationRequest({ registration })
    await flow.decide(await flow.ask({ ...asked, scope: 'erase see mail' }, 'alice'), 'approve', 'alice')
    const page = tidy((await flow.ask({ ...asked, prompt: 'consent' }, 'alice')).text)
    expect(linesIn(page)).toEqual(
      'Name, Photos, Add, You have allowed this already, Erase, See, mail'.split(', '),
    )
    expect(page).toContain('Far-reaching')
  })
})

test.each([
  [
    'six answers are buttons, none of which is chosen',
    6,
    /<input type="radio" name="choice" value="w\d" required \/>/g,
  ],
  ['seven answers are a list, which begins with none', 7, /<option value="(?:w\d)?"/g],
])('A question: %s', async (_what, count, pattern) => {
  const workspaces = Array.from({ length: count }, (_, index) => `w${index}`)
  const page = await pageOf({}, { choices: () => workspaceQuestion(...workspaces) })
  expect(page.match(pattern)).toHaveLength(count === 7 ? 8 : 6)
  expect(page).toMatch(/<(?:legend|span) dir="auto">Which workspace\?</)
})

test('The buttons: the refusal comes first, is the default of the form and needs no answer [consent-14]', async () => {
  const [deny, approve] = [
    '<button type="submit" name="decision" value="deny" formnovalidate>Cancel',
    '<button type="submit" name="decision" value="approve" class="primary">Allow',
  ]
  const buttonsIn = (page: string) => page.match(/<button [^>]*>\w+/g)
  expect(buttonsIn(await pageOf({}))).toEqual([deny, approve])
  const stuck = await pageOf({}, { choices: () => ({ ...workspaceQuestion(), none: 'No <b> workspace.' }) })
  expect(buttonsIn(stuck)).toEqual([deny])
  expect(stuck).toContain('No &lt;b&gt; workspace.')
})

test('Every redirect of a form is 303, so that the browser sends no form on [redirect-22]', async () => {
  const { flow } = application()
  const asked: Fields = authorizationRequest(photoBook)
  const page = await flow.ask(asked, 'alice')
  const answers = [
    await flow.decide(page, 'approve', 'alice'),
    await flow.decide(await flow.ask(asked, 'alice'), 'deny', 'alice'),
    await flow.submit('/authorize', asked),
    await flow.submit('/authorize', { ...asked, scope: 'unheard-of' }, 'alice'),
  ]
  for (const { status, headers } of answers)
    expect({ status, ...headers }).toMatchObject({
      status: 303,
      'cache-control': 'no-store',
      'content-length': '0',
    })
})

describe('What a person cannot see in the name of a client', () => {
  const tags = '\u{E0042}\u{E0061}\u{E006E}\u{E006B}'
  const client_name = `Photo\u034F Book\uFE0F${tags}`
  const nothing = `\uFE0F${tags}`
  const consentPage = (_request: unknown, response: Response, view: object) => response.json(view)

  /** The names that the page and the view of a host get. */
  async function shownOf(options: object, asked: ReturnType<typeof authorizationRequest>) {
    const { text } = await application(options).flow.ask(asked, 'alice')
    const { body } = await application({ ...options, pages: { consent: consentPage } }).flow.ask(
      asked,
      'alice',
    )
    return [/<bdi class="name">(.*?)<\/bdi>/.exec(text)?.[1], body.client.client_name]
  }

  test('is left out for a registration of the host [consent-34]', async () => {
    const ofHost = (name: string) => {
      const client = bent(photoBook, { client_name: name })
      return shownOf({ clients: [client.registration] }, authorizationRequest(client))
    }
    expect(await ofHost(client_name)).toEqual(['Photo Book', 'Photo Book'])
    expect(await ofHost(nothing)).toEqual(['photo-book', undefined])
  })

  test('is left out for a client with a document [consent-34]', async () => {
    const ofDocument = (name: string) => {
      const documents = new Documents(new Map([[clientId, { ...document, client_name: name }]]))
      const registration = { ...photoPrint.registration, client_id: clientId }
      const asked = {
        ...authorizationRequest({ registration }),
        redirect_uri: 'https://notes.example/callback',
      }
      return shownOf({ clients: sourceOf(documents) }, asked)
    }
    expect(await ofDocument(client_name)).toEqual(['Photo Book', 'Photo Book'])
    expect(await ofDocument(nothing)).toEqual([clientId, undefined])
  })

  test('is left out for a client that registered itself [consent-34]', async () => {
    const ofDynamic = async (name: string) => {
      const store = memoryStore()
      const { app } = application({ store, dynamicRegistration: {} })
      const { body } = await request(app)
        .post('/register')
        .send({ ...notesApp, client_name: name })
      expect(body.client_name).toBe(name)
      const registration = { ...photoPrint.registration, client_id: String(body.client_id) }
      const [redirect_uri = ''] = notesApp.redirect_uris
      const asked = { ...authorizationRequest({ registration }), redirect_uri, scope: 'photos:read' }
      return shownOf({ store, dynamicRegistration: {} }, asked)
    }
    expect(await ofDynamic(client_name)).toEqual(['Photo Book', 'Photo Book'])
    expect(await ofDynamic(nothing)).toEqual([expect.stringMatching(/^dynamic_/), undefined])
  })
})
