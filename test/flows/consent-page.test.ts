import helmet from 'helmet'
import type { Response } from 'supertest'
import { implicit, type ConsentView } from '../../lib/index'
import { type Mount, mountAll } from '../support/flows/application'
import { bent, photoBook } from '../support/flows/clients'
import { authorizationRequest, type Fields, formOf, type Headers } from '../support/flows/flow'
import { insecureLinkOf } from '../support/flows/insecure-redirect'
import { redirectionOf } from '../support/flows/redirection'
import { describeOnStores, type Stage } from '../support/flows/stores-of-run'
import { tokensOf } from '../support/flows/tokens'
import { withOptionalScope, workspaceQuestion } from '../support/flows/owner-decision'

describeOnStores('The consent page', (stage) => {
  const asked = authorizationRequest(photoBook)

  test('says who asks, for what, as whom, and where the answer goes [consent-12]', async () => {
    const { flow } = stage({ resourceOwner: () => ({ subject: 'alice', name: 'Alice Liddell' }) })
    const { text } = await flow.ask({ ...asked, scope: 'photos:print' })
    expect(text).toContain('Photo Book')
    expect(text).toContain('Print your photos')
    expect(text).not.toContain('See your photos')
    expect(text).toContain('Alice Liddell')
    expect(text).toContain('book.example')
  })

  test('shows what a client calls itself, and runs none of it [consent-15]', async () => {
    const impostor = bent(photoBook, { client_name: '<script>alert(1)</script>' })
    const { flow } = stage({ clients: [impostor.registration] })
    const { text } = await flow.ask(asked, '"><img src=x>')
    expect(text).toContain('&lt;script&gt;alert(1)')
    expect(text).toContain('&quot;&gt;&lt;img src=x&gt;')
    expect(text).not.toMatch(/<script|<img/)
  })

  test('shows no logo over plain http, which a database may hold', async () => {
    const registration = { ...photoBook.registration, logo_uri: 'http://book.example/logo.png' }
    const { flow } = stage({ clients: { find: async () => registration } })
    const { status, text } = await flow.ask(asked, 'alice')
    expect(status).toBe(200)
    expect(text).not.toMatch(/<img|logo\.png/)
  })

  test('holds neither the state nor anything else of the request that a form could forge [consent-24, consent-13]', async () => {
    const { flow } = stage()
    const { text, headers } = await flow.ask({ ...asked, state: 'only-for-the-client' }, 'alice')
    expect(headers['content-security-policy']).toMatch(/form-action 'self' https:;.*frame-ancestors 'none'/)
    // The link for another account is the URL of the page itself, and no form can send it.
    expect(text.replace(/<a href="\?[^"]*"/, '')).not.toContain('only-for-the-client')
    expect(text.match(/type="hidden"/g)).toHaveLength(1)
  })
})

describe('page headers', () => {
  const asked = authorizationRequest(photoBook)
  const insecure = bent(photoBook, { redirect_uris: ['http://old.example/cb'], insecure_redirect_uris: true })
  const token = bent(photoBook, { grant_types: ['implicit'], response_types: ['token'] })

  const one = { limits: { openRequests: { attempts: 1 } } }
  const pages: readonly [string, object, (stage: Stage) => Promise<Response>][] = [
    ['consent', {}, ({ flow }) => flow.ask(asked, 'alice')],
    ['error', {}, ({ flow }) => flow.ask({ ...asked, client_id: 'nobody' }, 'alice')],
    [
      'error about too many requests',
      one,
      async ({ flow }) => {
        await flow.ask(asked, 'alice')
        return flow.ask(asked, 'alice')
      },
    ],
    [
      'continue',
      { clients: [token.registration], plugins: [implicit({ redirectBy: 'page' })] },
      ({ flow }) => {
        const rest = {
          ...authorizationRequest(token),
          code_challenge: undefined,
          code_challenge_method: undefined,
        }
        return flow.ask({ ...rest, response_type: 'token', scope: 'unheard-of' }, 'alice')
      },
    ],
    [
      'insecure redirect',
      { clients: [insecure.registration] },
      ({ flow }) => flow.ask({ ...authorizationRequest(insecure), scope: 'unheard-of' }, 'alice'),
    ],
  ]

  const behindHelmet: Mount = (app, oauth) => {
    app.use(helmet())
    mountAll(app, oauth)
  }

  describeOnStores('The page', (stage) => {
    describe.each([
      ['alone', mountAll],
      ['behind helmet', behindHelmet],
    ] as const)('%s', (_, mount) => {
      test.each(pages)(
        'for %s is not cached, not framed, and runs no script [consent-21, consent-22]',
        async (_name, options, open) => {
          const { headers, text } = await open(stage(options, { mount }))
          expect(headers).toMatchObject({
            'content-type': 'text/html; charset=utf-8',
            'cache-control': 'no-store',
            pragma: 'no-cache',
            'referrer-policy': 'same-origin',
            'x-content-type-options': 'nosniff',
            'x-frame-options': 'DENY',
          })
          expect(headers['content-security-policy']).toMatch(
            /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/=]+'; img-src 'self' https:; form-action [^;*]+; frame-ancestors 'none'; base-uri 'none'$/,
          )
          expect(text).not.toMatch(
            /<script|<iframe|<object|<embed|<base|http-equiv|javascript:| on\w+=| style=/i,
          )
        },
      )
    })
  })
})

describe('insecure redirect', () => {
  const callback = 'http://old.example/callback?app=1'
  const old = bent(photoBook, {
    redirect_uris: [callback, 'https://book.example/callback', 'http://127.0.0.1:7000/callback'],
    insecure_redirect_uris: true,
  })
  const asked = authorizationRequest(old)

  describeOnStores('Before a redirect over plain HTTP the owner is warned', (stage) => {
    const set = () => stage({ clients: [old.registration] })

    test('after an approval, a denial, an error and a failure of the store', async () => {
      const { flow, store, failures } = set()
      const approval = await flow.decide(await flow.ask(asked, 'alice'), 'approve', 'alice')
      const link = insecureLinkOf(approval)
      expect(link.href.startsWith(`${callback}&code=ac_`)).toBe(true)
      expect(approval.text).toContain('the app then gets no access')
      tokensOf(await flow.redeem(old, String(link.searchParams.get('code'))))
      const denial = await flow.decide(await flow.ask(asked, 'alice'), 'deny', 'alice')
      expect(insecureLinkOf(denial).searchParams.get('error')).toBe('access_denied')
      expect(denial.text).toContain('No access was given.')
      expect(failures).toMatchObject([{ code: 'access_denied', requestId: denial.get('X-Request-Id') }])
      const request = { ...asked, scope: 'unheard-of', state: `"><script>alert(1)</script>&#39;` }
      const { searchParams } = insecureLinkOf(await flow.submit('/authorize', request, 'alice'))
      expect([searchParams.get('error'), searchParams.get('state')]).toEqual(['invalid_scope', request.state])
      store.begin('fails', 'write')
      expect(insecureLinkOf(await flow.ask(asked, 'alice')).searchParams.get('error')).toBe(
        'temporarily_unavailable',
      )
    })

    test('though the host asks on a page of its own', async () => {
      const { flow } = stage({
        clients: [old.registration],
        pages: {
          consent: (_request, response, { action, fields }) => {
            const hidden = Object.entries(fields).map(
              ([name, value]) => `<input type="hidden" name="${name}" value="${value}">`,
            )
            response.send(`<form method="post" action="${action}">${hidden.join('')}</form>`)
          },
        },
      })
      const response = await flow.decide(await flow.ask(asked, 'alice'), 'approve', 'alice')
      expect(insecureLinkOf(response).host).toBe('old.example')
    })

    test.each(['https://book.example/callback', 'http://127.0.0.1:7000/callback'])(
      'and not of %s, a protected one of the same client',
      async (redirect_uri) => {
        const { flow } = set()
        const page = await flow.ask({ ...asked, redirect_uri }, 'alice')
        expect(redirectionOf(await flow.decide(page, 'approve', 'alice')).uri).toBe(redirect_uri)
      },
    )
  })
})

const asked = authorizationRequest(photoBook)
const acceptsJson = { Accept: 'application/json' }
const sendsJson = { 'Content-Type': 'application/json' }

describeOnStores('The consent page as JSON', (stage) => {
  const open = () => stage({ ...withOptionalScope, choices: () => workspaceQuestion('w1', 'w2') })
  const ask = ({ flow }: Stage, headers: Headers = {}, fields: Fields = asked) =>
    flow.open(`/authorize?${formOf(fields)}`, 'alice', { ...acceptsJson, ...headers })
  const fieldsOf = ({ body }: { body: ConsentView }): Fields => body.fields
  const send = ({ flow }: Stage, fields: object, headers: Headers = {}, owner?: string) =>
    flow.submit('/authorize', JSON.stringify(fields), owner ?? 'alice', { ...sendsJson, ...headers })

  test('is the view for a program that accepts JSON and no HTML', async () => {
    const response = await ask(open())
    expect(response.status).toBe(200)
    expect(response.get('Content-Type')).toBe('application/json; charset=utf-8')
    expect(response.get('Cache-Control')).toBe('no-store')
    expect(response.get('X-Content-Type-Options')).toBe('nosniff')
    expect(response.get('Access-Control-Allow-Origin')).toBeUndefined()
    expect(response.body).toMatchObject({
      client: { client_id: 'photo-book', client_name: 'Photo Book' },
      resourceOwner: { subject: 'alice' },
      scope: [
        { token: 'photos:read', description: 'See your photos', weight: 'read' },
        { token: 'photos:print', weight: 'write', field: 'scope:photos:print' },
      ],
      question: { text: 'Which workspace?', field: 'choice', answers: [{ value: 'w1' }, { value: 'w2' }] },
      action: '?',
      fields: { authorization_request: expect.any(String) },
      redirectTo: 'https://book.example/callback',
      receiver: 'web',
    })
  })

  test.each<[string, (fields: Fields) => [object | Fields, Headers]]>([
    ['JSON', (fields) => [{ ...fields, choice: 'w1', scope: 'photos:read' }, {}]],
    ['JSON with boxes', (fields) => [{ ...fields, choice: 'w1' }, { Accept: '*/*' }]],
  ])('takes a decision as %s, and answers where to go', async (_how, decisionOf) => {
    const set = open()
    const [decision, headers] = decisionOf({ ...fieldsOf(await ask(set)), decision: 'approve' })
    const answer = await send(set, decision, headers)
    expect([answer.status, Object.keys(answer.body)]).toEqual([200, ['redirect_to']])
    expect(answer.get('Location')).toBeUndefined()
    expect(answer.get('Cache-Control')).toBe('no-store')
    const { origin, pathname, searchParams } = new URL(answer.body.redirect_to)
    expect([origin + pathname, searchParams.get('state')]).toEqual([
      'https://book.example/callback',
      asked.state,
    ])
    const tokens = tokensOf(await set.flow.redeem(photoBook, String(searchParams.get('code'))))
    expect(tokens.scope).toBe('photos:read')
  })

  test('answers a repeated decision with the same code, and says when it is too late', async () => {
    const set = open()
    const decision = { ...fieldsOf(await ask(set)), decision: 'approve', choice: 'w1' }
    const first = await send(set, decision)
    set.clock.advance(2)
    expect((await send(set, decision)).body).toEqual(first.body)
    const other = await send(set, { ...decision, choice: 'w2' })
    expect([other.status, other.body.error]).toEqual([400, 'invalid_request'])
    await set.flow.redeem(photoBook, String(new URL(first.body.redirect_to).searchParams.get('code')))
    const late = await send(set, decision)
    expect([late.status, late.body.error]).toEqual([400, 'invalid_request'])
  })

  test.each<[string, Headers]>([
    ['of another site', { 'Sec-Fetch-Site': 'cross-site' }],
    ['of another origin, in an old browser', { Origin: 'https://evil.example' }],
  ])('refuses a view and a decision %s', async (_whose, headers) => {
    const set = open()
    const view = await ask(set, headers)
    expect([view.status, view.body.error]).toEqual([400, 'invalid_request'])
    const decision = { ...fieldsOf(await ask(set)), decision: 'approve', choice: 'w1' }
    for (const response of [
      await send(set, decision, headers),
      await set.flow.submit('/authorize', decision, 'alice', { ...acceptsJson, ...headers }),
    ])
      expect([response.status, response.body.error]).toEqual([400, 'invalid_request'])
    expect((await send(set, decision, { 'Sec-Fetch-Site': 'same-origin' })).status).toBe(200)
  })

  test('refuses a decision of another owner, of no owner, and without its token', async () => {
    const set = open()
    const decision = { ...fieldsOf(await ask(set)), decision: 'approve', choice: 'w1' }
    const answers = [
      await send(set, decision, {}, 'mallory'),
      await set.flow.submit('/authorize', JSON.stringify(decision), undefined, sendsJson),
      await send(set, { ...decision, authorization_request: 'ar_x' }),
      await send(set, { decision: 'approve' }),
    ]
    for (const { status, body } of answers) expect([status, body.error]).toEqual([400, 'invalid_request'])
    expect((await send(set, decision)).status).toBe(200)
  })

  test.each<[string, string]>([
    ['a list', '[]'],
    ['broken JSON', '{"authorization_request":'],
    ['deep JSON', `{"authorization_request":${'['.repeat(40)}${']'.repeat(40)}}`],
    ['a list as scope', '{"authorization_request":"ar_x","decision":"approve","scope":["a"]}'],
    ['a prototype', '{"__proto__":{"authorization_request":"ar_x"}}'],
  ])('refuses %s', async (_what, text) => {
    const { flow } = open()
    const { status, body } = await flow.submit('/authorize', text, 'alice', sendsJson)
    expect([status, body.error]).toEqual([400, 'invalid_request'])
  })

  test('is the view although the host renders its own page', async () => {
    const { flow } = stage({ pages: { consent: (_request, response) => response.send('own') } })
    const response = await flow.open(`/authorize?${formOf(asked)}`, 'alice', acceptsJson)
    expect(response.body.client.client_id).toBe('photo-book')
  })
})

describeOnStores('Not you?', (stage) => {
  const viewFor = async ({ flow }: Stage, path: string, owner = 'alice'): Promise<ConsentView> =>
    (await flow.open(path, owner, acceptsJson)).body
  const switchOf = (view: ConsentView) => `/authorize${String(view.switchAccount)}`

  test('leads through the login to the same question of another owner', async () => {
    const set = stage()
    const view = await viewFor(set, `/authorize?${formOf(asked)}`)
    const login = await set.flow.open(switchOf(view), 'alice')
    const target = new URL(String(login.get('Location')), 'http://localhost')
    expect([login.status, target.pathname, target.searchParams.get('prompt')]).toEqual([
      303,
      '/login',
      'select_account',
    ])
    const again = await viewFor(set, String(target.searchParams.get('return_to')), 'bob')
    expect(again.resourceOwner.subject).toBe('bob')
    expect([again.scope, again.redirectTo, again.client]).toEqual([view.scope, view.redirectTo, view.client])
    // The page after the choice can be left for a third account, too.
    expect(switchOf(again)).toBe(switchOf(view))
    const answer = await set.flow.submit(
      '/authorize',
      { ...again.fields, decision: 'approve' },
      'bob',
      acceptsJson,
    )
    const { searchParams } = new URL(answer.body.redirect_to)
    expect(searchParams.get('state')).toBe(asked.state)
    const { accessToken } = tokensOf(await set.flow.redeem(photoBook, String(searchParams.get('code'))))
    expect((await set.flow.photos(accessToken)).body.subject).toBe('bob')
    const old = await set.flow.submit(
      '/authorize',
      { ...view.fields, decision: 'approve' },
      'bob',
      acceptsJson,
    )
    expect([old.status, old.body.error]).toEqual([400, 'invalid_request'])
  })

  test('keeps what the request says of the page, and repeated parameters', async () => {
    const view = await viewFor(
      stage(),
      `/authorize?${formOf({ ...asked, prompt: 'consent', ui_locales: 'de', other: ['1', '2'] })}`,
    )
    const query = new URLSearchParams(String(view.switchAccount))
    expect(query.get('prompt')).toBe('consent select_account')
    expect([query.get('ui_locales'), query.getAll('other')]).toEqual(['de', ['1', '2']])
  })

  test('is no link for a request that is too long for one, or that is good once', async () => {
    const { flow } = stage()
    const long = { ...asked, padding: 'x'.repeat(7000) }
    const page = await flow.submit('/authorize', long, 'alice', { ...acceptsJson })
    expect(page.body.switchAccount).toBeUndefined()
    const replaced = stage({
      plugins: [{ name: 'pushed', resolve: async (parameters) => ({ parameters: parameters.format() }) }],
    })
    expect((await viewFor(replaced, `/authorize?${formOf(asked)}`)).switchAccount).toBeUndefined()
  })
})
