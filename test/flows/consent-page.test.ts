import { bent, photoBook } from '../support/flows/clients'
import { describeOnStores } from '../support/flows/stores-of-run'
import { authorizationRequest } from '../support/flows/flow'
import { codeOf, redirectionOf } from '../support/flows/redirection'

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

  test('is cached and framed by no one, and its form goes to this site and on to the client [consent-13]', async () => {
    const { flow } = stage()
    const { headers } = await flow.ask(asked, 'alice')
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      pragma: 'no-cache',
      'x-frame-options': 'DENY',
      'content-security-policy': expect.stringMatching(/form-action 'self' https:;.*frame-ancestors 'none'/),
    })
  })

  test('holds neither the state nor anything else of the request that a form could forge [consent-24]', async () => {
    const { flow } = stage()
    const { text } = await flow.ask({ ...asked, state: 'only-for-the-client' }, 'alice')
    expect(text).not.toContain('only-for-the-client')
    expect(text.match(/type="hidden"/g)).toHaveLength(1)
  })

  test('ends in a denial when the owner says no, and no code comes of it', async () => {
    const { flow } = stage()
    const page = await flow.ask(asked, 'alice')
    expect(redirectionOf(await flow.decide(page, 'deny', 'alice'))).toEqual({
      uri: 'https://book.example/callback',
      parameters: {
        error: 'access_denied',
        error_description: expect.any(String),
        state: asked.state,
        iss: 'http://localhost',
      },
    })
  })

  test('can be the own page of the host, which posts the fields and a decision', async () => {
    const { flow } = stage({ consentPage: (_request, response, view) => response.json(view) })
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
