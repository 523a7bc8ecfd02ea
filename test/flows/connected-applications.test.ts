import type { Response } from 'supertest'
import { type ConnectedView, html, pageDocument } from '../../lib/index'
import { mountPhotos, withoutLimits } from '../support/flows/application'
import { bent, photoBook, photoFrame, photoPrint } from '../support/flows/clients'
import { consentFormOf } from '../support/flows/consent-form'
import { authorizationRequest, type Headers } from '../support/flows/flow'
import { relyingParty, withIdentity } from '../support/flows/identity-stage'
import { outcomeOf } from '../support/flows/outcome'
import { decideWith, workspaceQuestion } from '../support/flows/owner-decision'
import { codeOf } from '../support/flows/redirection'
import { photosApi, threeResources } from '../support/flows/resources'
import { describeOnStores, type SetStage, type Stage } from '../support/flows/stores-of-run'

const path = '/authorizations'
const day = 24 * 3600
/** Where a removal leads. */
const removed = `${path}?removed=photo-print&`

/** The names of the applications of a page, as a reader sees them. */
const namesIn = ({ text }: Response) =>
  [...text.matchAll(/<h2><bdi class="name">([^<]*)/g)].map(([, name]) => name)
/** Whether a page shows no application, in no list and in no question. */
const isEmpty = ({ status, text }: Response) => status === 200 && !/class="application"|<form/.test(text)
/** Where the page leads with this text. */
const linkIn = ({ text }: Response, label: string) =>
  new RegExp(`<a href="([^"]*)">${label}</a>`).exec(text)?.[1]?.replaceAll('&amp;', '&')

function actions(set: Stage) {
  const { flow } = set
  const list = (owner = 'alice', query = '', headers: Headers = {}) => flow.open(path + query, owner, headers)
  const ask = (clientId: string, owner = 'alice') =>
    list(owner, `?${new URLSearchParams({ remove: clientId }).toString()}`)
  const formOf = (page: Response) => consentFormOf(page, path)
  const press = (page: Response, owner?: string, headers: Headers = {}) => {
    const { action, fields } = formOf(page)
    return flow.submit(action, fields, owner, headers)
  }
  return { ...set, list, ask, formOf, press }
}

describeOnStores('The page of connected applications', (stage) => {
  function open(...[options]: Parameters<SetStage>) {
    const clients = [photoPrint, photoBook, photoFrame].map(({ registration }) => registration)
    return actions(stage({ authorizations: {}, clients, ...withoutLimits, ...options }))
  }

  test('names no endpoint of a plug-in as an API', async () => {
    const resources = { [photosApi]: { scopes: ['photos:read'], name: 'The photos' } }
    const { flow, list } = actions(stage(withIdentity({ authorizations: {}, resources })))
    await flow.tokens(relyingParty, { scope: 'openid' })
    const { text } = await list()
    expect(text).toContain('Know who you are')
    expect(text).not.toMatch(/Access to|userinfo/)
  })

  test('lists each client of the owner once, with every permission and the days', async () => {
    const { flow, list, clock } = open()
    const { refreshToken } = await flow.tokens(photoPrint, { scope: 'photos:read' })
    clock.advance(3 * day)
    await flow.tokens(photoPrint, { scope: 'photos:print' })
    await flow.tokens(photoBook, { scope: 'photos:read' })
    await flow.tokens(photoFrame, {}, 'bob')
    const page = await list()
    expect(page.status).toBe(200)
    expect(namesIn(page)).toEqual(['Photo Book', 'Photo Print'])
    expect(page.text.match(/<code>[^<]*/g)).toEqual([
      '<code>photos:read',
      '<code>photos:read',
      '<code>photos:print',
    ])
    const date = (seconds: number) => new Date(seconds).toISOString().slice(0, 10)
    const [today, before] = [date(clock.read()), date(clock.read() - 3 * day * 1000)]
    // Nothing was renewed yet: these are the days of the approvals.
    expect(page.text.match(/(?<=datetime=")[^"]*/g)).toEqual([today, before])
    expect(page.text).not.toContain('Last renewed')
    await flow.refresh(photoPrint, refreshToken)
    expect((await list()).text).toContain(`Last renewed on <time datetime="${today}"`)
  })

  test('shows and removes a client that gets in by a remembered consent alone', async () => {
    const set = open({ rememberConsent: true })
    const { flow, oauth, list, ask, press, clock } = set
    const asksSilently = async () =>
      outcomeOf(await flow.ask({ ...authorizationRequest(photoPrint), prompt: 'none' }, 'alice'))
    const at = Math.floor(clock.read() / 1000)
    await flow.approve(photoPrint, { scope: 'photos:read' })
    await flow.approve(photoPrint, { scope: 'photos:print' })
    clock.advance(100 * day)
    const { authorizations, consents } = await oauth.authorizations.list('alice')
    expect([authorizations.length, consents]).toEqual([
      0,
      [
        {
          clientId: 'photo-print',
          scope: ['photos:read', 'photos:print'],
          claims: [],
          grantedAt: at,
          expiresAt: expect.any(Number),
        },
      ],
    ])
    const page = await list()
    expect(namesIn(page)).toEqual(['Photo Print'])
    expect(page.text.match(/<code>[^<]*/g)).toEqual(['<code>photos:read', '<code>photos:print'])
    expect(isEmpty(await list('bob'))).toBe(true)
    expect(await asksSilently()).toBe('redirect code')
    const done = await press(await ask('photo-print'), 'alice')
    expect((await flow.open(String(done.get('Location')), 'alice')).text).toContain('is removed')
    expect(await asksSilently()).toBe('redirect consent_required')
    expect(isEmpty(await list())).toBe(true)
    expect((await oauth.authorizations.list('alice')).consents).toEqual([])
  })

  test('asks before a removal, removes everything of the client at once, and says so, however often it is sent', async () => {
    const { flow, oauth, list, ask, press } = open()
    const revoked: string[] = []
    oauth.events.on('revoked', ({ clientId = '' }) => revoked.push(clientId))
    const both = [await flow.tokens(photoPrint), await flow.tokens(photoPrint, { scope: 'photos:read' })]
    const other = await flow.tokens(photoBook)
    const question = await ask('photo-print')
    expect(question.text).toContain('<h1>Remove the access of <bdi>Photo Print</bdi>?</h1>')
    expect(outcomeOf(await press(question))).toBe('page 400 invalid_request')
    expect((await flow.photos(both[0]?.accessToken ?? '')).status).toBe(200)
    const answers = [await press(question, 'alice')]
    answers.push(...(await Promise.all([press(question, 'alice'), press(question, 'alice')])))
    for (const answer of answers)
      expect([answer.status, answer.get('Location')]).toEqual([303, expect.stringContaining(removed)])
    for (const { accessToken } of both) expect((await flow.photos(accessToken)).status).toBe(401)
    expect((await flow.photos(other.accessToken)).status).toBe(200)
    expect(revoked).toEqual(['photo-print', 'photo-print'])
    const after = await flow.open(String(answers[0]?.get('Location')), 'alice')
    expect(after.text).toContain('The access of <bdi>Photo Print</bdi> is removed.')
    expect([namesIn(after), namesIn(await list())]).toEqual([['Photo Book'], ['Photo Book']])
    expect((await ask('photo-print')).text).not.toContain('<form')
    const away = await flow.open(path)
    expect([outcomeOf(away), away.get('Location')]).toEqual([
      'login',
      expect.stringContaining(encodeURIComponent(`${path}?`)),
    ])
  })

  test('refuses a form of another site, by both headers', async () => {
    const { flow, ask, press } = open()
    const { accessToken } = await flow.tokens(photoPrint)
    const question = await ask('photo-print')
    for (const headers of [{ 'Sec-Fetch-Site': 'same-site' }, { Origin: 'https://evil.example' }])
      expect(outcomeOf(await press(question, 'alice', headers))).toBe('page 400 invalid_request')
    expect((await flow.photos(accessToken)).status).toBe(200)
  })

  test('removes nothing by a form without the text that only the page of this owner has', async () => {
    const { flow, list, ask, formOf, oauth } = open()
    const { accessToken } = await flow.tokens(photoPrint)
    await flow.tokens(photoBook)
    await flow.tokens(photoPrint, {}, 'bob')
    const [listed] = (await oauth.authorizations.list('alice')).authorizations
    const authorizationId = listed?.authorizationId ?? 'none'
    const of = async (clientId: string, owner = 'alice') => formOf(await ask(clientId, owner)).fields
    const own = await of('photo-print')
    const form = own['form'] ?? ''
    // Every API knows the id of an authorization, as `jti` of its tokens.
    expect(JSON.stringify(own)).not.toContain(authorizationId)
    const { text } = await list('alice', `?removed=photo-print&form=${form}`)
    expect(text).not.toContain('is removed')
    for (const wrong of [
      { client_id: 'photo-print' },
      { client_id: 'photo-print', form: authorizationId },
      { client_id: 'photo-print', form: 'x'.repeat(3000) },
      { ...own, form: [form, form] },
      { ...own, form: (await of('photo-book'))['form'] ?? '' },
      await of('photo-print', 'bob'),
    ])
      expect(outcomeOf(await flow.submit(path, wrong, 'alice'))).toBe('page 400 invalid_request')
    await flow.open(`${path}?${new URLSearchParams(own).toString()}`, 'alice')
    expect((await flow.photos(accessToken)).status).toBe(200)
  })

  test('knows no client of another owner, and says nothing about one that the owner never approved', async () => {
    const { flow, list, ask } = open()
    await flow.tokens(photoPrint, {}, 'bob')
    for (const name of ['photo-print', 'photo-book', '__proto__']) {
      for (const page of [await ask(name), await list('alice', `?removed=${name}`)])
        expect(isEmpty(page)).toBe(true)
      expect((await list('alice', `?removed=${name}`)).text).not.toContain('is removed')
    }
    expect((await list('bob', '?removed=photo-print')).text).not.toContain('is removed')
    expect(outcomeOf(await list('alice', '?remove=a&remove=b'))).toBe('page 400 invalid_request')
  })

  test('shows a client that is not registered any more by its id, and removes it', async () => {
    const set = open()
    await set.flow.tokens(photoPrint)
    const later = actions({ ...set, ...open({ clients: [], store: set.store }) })
    expect(namesIn(await later.list())).toEqual(['photo-print'])
    await later.press(await later.ask('photo-print'), 'alice')
    expect(namesIn(await later.list())).toEqual([])
  })

  test('shows the resources by their names, and the choice of the owner', async () => {
    const client = bent(photoPrint, { scope: 'photos:read' })
    const { flow, oauth, list } = open({
      clients: [client.registration],
      resources: threeResources,
      defaultResource: photosApi,
      choices: () => workspaceQuestion('w1', 'w2'),
    })
    const page = await flow.ask({ ...authorizationRequest(client), resource: photosApi }, 'alice')
    await flow.redeem(client, codeOf(await decideWith(flow, page, { choice: 'w2' })))
    const { text } = await list()
    expect(text.match(/<d[td][^>]*>(?:<p><bdi>)?[^<\s][^<]*/g)?.join(' ')).toMatch(
      /Access to.*Photos of the API.*Which workspace\?.*Workspace w2/,
    )
    expect(text).not.toContain(photosApi)
    const { authorizations } = await oauth.authorizations.list('alice')
    expect(authorizations).toMatchObject([{ choice: { workspace: 'w2' }, resources: [photosApi] }])
  })

  test.each<[string, () => ReturnType<typeof workspaceQuestion>]>([
    ['belongs to another question', () => ({ ...workspaceQuestion('w2'), name: 'team' })],
    [
      'cannot be looked up',
      () => {
        throw new Error('The database is away.')
      },
    ],
  ])('shows a choice as it is kept if it %s', async (_what, choices) => {
    const set = open({ choices: () => workspaceQuestion('w2') })
    await set.flow.tokens(photoPrint)
    const later = actions({ ...set, ...open({ choices, store: set.store }) })
    const { text } = await later.list()
    expect(text).toMatch(/<dd[^>]*>(?:<p>)?<bdi>w2</)
  })

  test('says that an app may be missing, until none can be', async () => {
    const { list, clock } = open()
    const [lacking, none] = [/This list may lack apps/, /No app can access your account/]
    const before = await list()
    expect([lacking.test(before.text), none.test(before.text)]).toEqual([true, false])
    clock.advance(31 * day)
    const after = await list()
    expect([lacking.test(after.text), none.test(after.text)]).toEqual([false, true])
  })

  test('speaks the language of ui_locales through the whole removal', async () => {
    const { flow, list, press } = open()
    await flow.tokens(photoPrint)
    const first = await list('alice', '?ui_locales=de')
    const remove = /<a href="([^"]*)" aria-label="Photo Print entfernen"/.exec(first.text)?.[1] ?? ''
    const question = await list('alice', remove.replaceAll('&amp;', '&'))
    expect(question.text).toContain('Den Zugriff von <bdi>Photo Print</bdi> entfernen?')
    expect(linkIn(question, 'Behalten')).toBe('?ui_locales=de')
    const done = await flow.open(String((await press(question, 'alice')).get('Location')), 'alice')
    expect(done.text).toContain('Der Zugriff von <bdi>Photo Print</bdi> ist entfernt.')
  })

  test('a store that fails is a page that says to try again', async () => {
    const { flow, list, ask, press, store } = open()
    await flow.tokens(photoPrint)
    const question = await ask('photo-print')
    for (const verb of ['owner', 'read'] as const) {
      store.begin('fails', verb)
      expect(outcomeOf(await list())).toBe('page 503 temporarily_unavailable')
      store.recover()
    }
    store.begin('fails', 'remove')
    expect(outcomeOf(await press(question, 'alice'))).toBe('page 503 temporarily_unavailable')
    store.recover()
    expect((await press(question, 'alice')).status).toBe(303)
    expect(namesIn(await list())).toEqual([])
  })

  test('comes in parts: each of many clients is on one page, forwards and backwards', async () => {
    const clients = Array.from({ length: 60 }, (_, index) => bent(photoPrint, { client_id: `c${index}` }))
    const set = open({
      clients: clients.map(({ registration }) => registration),
      skipConsent: () => true,
      limits: { networks: false, openRequests: false },
    })
    await Promise.all(clients.map((client) => set.flow.ask(authorizationRequest(client), 'alice')))
    let page = await set.list()
    /** The links to the clients of each page, until none leads on. */
    const walk = async (label: string) => {
      const seen: string[] = []
      for (let pages = 0; pages < 60; pages++) {
        expect(page.text.length).toBeLessThan(20_000)
        seen.push(...[...page.text.matchAll(/[?&]remove=(c\d+)/g)].map(([, id = '']) => id))
        const next = linkIn(page, label)
        if (next === undefined) return seen
        page = await set.list('alice', next)
      }
      return seen
    }
    const [forwards, backwards] = [await walk('More'), await walk('Back')]
    for (const seen of [forwards, backwards]) expect([seen.length, new Set(seen).size]).toEqual([60, 60])
  })
})

describeOnStores('The page of connected applications as JSON', (stage) => {
  const open = () => actions(stage({ authorizations: {} }))
  const json = { Accept: 'application/json' }

  test('is the view, and a removal says where to go', async () => {
    const { flow, list } = open()
    const { accessToken } = await flow.tokens(photoPrint)
    const response = await list('alice', '', json)
    expect([response.status, response.get('Access-Control-Allow-Origin')]).toEqual([200, undefined])
    expect(response.body).toMatchObject({
      language: { tag: 'en', dir: 'ltr' },
      resourceOwner: { subject: 'alice' },
      applications: [
        {
          client: { client_id: 'photo-print', client_name: 'Photo Print' },
          scope: [{ token: 'photos:read', description: 'See your photos', weight: 'read' }, {}],
          removeAt: '?remove=photo-print',
          fields: { client_id: 'photo-print', form: expect.any(String) },
        },
      ],
      isComplete: false,
      action: '?',
    })
    const [application]: ConnectedView['applications'] = response.body.applications
    const headers = { ...json, 'Content-Type': 'application/json' }
    const removal = JSON.stringify(application?.fields)
    const refused = await flow.submit(path, removal, 'alice', { ...headers, 'Sec-Fetch-Site': 'cross-site' })
    expect([refused.status, refused.body.error]).toEqual([400, 'invalid_request'])
    expect((await flow.photos(accessToken)).status).toBe(200)
    const done = await flow.submit(path, removal, 'alice', headers)
    expect([done.status, done.body]).toEqual([200, { redirect_to: expect.stringContaining(removed) }])
    expect((await flow.photos(accessToken)).status).toBe(401)
    expect((await flow.open(done.body.redirect_to, 'alice', json)).body).toMatchObject({
      removed: { client_name: 'Photo Print' },
    })
  })

  test('is for scripts of this site and owners who are logged in alone', async () => {
    const { flow, list } = open()
    for (const response of [
      await list('alice', '', { ...json, 'Sec-Fetch-Site': 'cross-site' }),
      await flow.open(path, undefined, json),
      await flow.submit(path, '[]', 'alice', { ...json, 'Content-Type': 'application/json' }),
    ])
      expect([response.status, response.body.error]).toEqual([400, 'invalid_request'])
  })
})

describeOnStores('A host', (stage) => {
  test('renders the list and the question itself, in its own design', async () => {
    const connected = (_request: unknown, response: { send(text: string): unknown }, view: ConnectedView) => {
      const { removing, applications, action } = view
      const content =
        removing === undefined
          ? html`<ul>
              ${applications.map(({ client, removeAt }) => html`<li><a href="${removeAt}">${client.client_id}</a></li>`)}
            </ul>`
          : html`<form method="post" action="${action}">
              ${Object.entries(removing.fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
            </form>`
      response.send(pageDocument({ title: 'Own', content }))
    }
    const { flow, list, press } = actions(stage({ authorizations: {}, pages: { connected } }))
    const { accessToken } = await flow.tokens(photoPrint)
    const page = await list()
    expect([page.text.includes('<title>Own</title>'), page.get('Cache-Control')]).toEqual([true, 'no-store'])
    const question = await list('alice', linkIn(page, 'photo-print'))
    expect((await press(question, 'alice')).status).toBe(303)
    expect((await flow.photos(accessToken)).status).toBe(401)
    expect((await list('alice', '', { Accept: 'application/json' })).body).toHaveProperty('applications')
  })

  test('mounts the page alone, under a prefix', async () => {
    const set = actions(
      stage(
        { issuer: 'http://localhost/oauth', authorizations: { path: '/mine' } },
        {
          paths: { authorize: '/oauth/authorize', token: '/oauth/token' },
          mount: (app, oauth) => {
            app.all('/oauth/mine', oauth.endpoint('authorizations'))
            app.use('/oauth', oauth.router())
            mountPhotos(app, oauth)
          },
        },
      ),
    )
    const { accessToken } = await set.flow.tokens(photoPrint)
    const question = await set.flow.open('/oauth/mine?remove=photo-print', 'alice')
    const { action, fields } = consentFormOf(question, '/oauth/mine')
    const done = await set.flow.submit(action, fields, 'alice')
    expect(done.get('Location')).toContain('/oauth/mine?removed=photo-print&')
    expect((await set.flow.photos(accessToken)).status).toBe(401)
  })

  test.each<[string, object, string]>([
    ['the page', {}, '/authorizations'],
    ['the page at its path', { path: '/apps' }, '/apps'],
    ['a page of the host', { manageAt: 'https://photos.example/apps' }, 'https://photos.example/apps'],
  ])('leads from the consent page to %s', async (_where, authorizations, manageAt) => {
    const { flow } = stage({ authorizations })
    const { text } = await flow.ask(authorizationRequest(photoPrint), 'alice')
    expect(/You can end the access at any time under <a href="([^"]*)"/.exec(text)?.[1]).toBe(manageAt)
  })
})
