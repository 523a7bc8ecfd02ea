import helmet from 'helmet'
import type { Response } from 'supertest'
import { implicit } from '../../lib/index'
import { type Mount, mountAll } from '../support/flows/application'
import { bent, photoBook } from '../support/flows/clients'
import { authorizationRequest } from '../support/flows/flow'
import { insecureLinkOf } from '../support/flows/insecure-redirect'
import { codeOf, redirectionOf } from '../support/flows/redirection'
import { describeOnStores, type Stage } from '../support/flows/stores-of-run'
import { tokensOf } from '../support/flows/tokens'

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

  test('can be the own page of the host, which posts the fields and a decision', async () => {
    const { flow } = stage({ pages: { consent: (_request, response, view) => response.json(view) } })
    const page = await flow.ask(asked, 'alice')
    expect(page.headers).toMatchObject({ 'cache-control': 'no-store', 'x-frame-options': 'DENY' })
    expect(page.body).toMatchObject({
      client: { client_id: 'photo-book', client_name: 'Photo Book' },
      resourceOwner: { subject: 'alice' },
      scope: [
        { token: 'photos:read', description: 'See your photos' },
        { token: 'photos:print', description: 'Print your photos' },
      ],
      redirectTo: 'https://book.example/callback',
    })
    const { fields, action } = page.body
    expect(action).toBe('?')
    codeOf(await flow.submit('/authorize?', { ...fields, decision: 'approve' }, 'alice'))
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
      { clients: [token.registration], responseTypes: [implicit({ redirectBy: 'page' })] },
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
      store.begin('fails', 'save')
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
