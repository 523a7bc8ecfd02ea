import { bent, photoBook, photoFrame, type ClientApplication } from '../support/flows/clients'
import { describeOnStores } from '../support/flows/stores-of-run'
import { authorizationRequest, formOf } from '../support/flows/flow'
import { codeOf, redirectionOf } from '../support/flows/redirection'
import { tokensOf } from '../support/flows/tokens'

const withRedirectUri = (uri: string): ClientApplication => bent(photoBook, { redirect_uris: [uri] })

describeOnStores('An authorization request', (stage) => {
  const asked = authorizationRequest(photoBook)

  test('by POST gets what it gets by GET', async () => {
    const { flow } = stage()
    const page = await flow.submit('/authorize', asked, 'alice')
    expect(page.status).toBe(200)
    expect(page.text).toContain('Photo Book')
    const code = codeOf(await flow.decide(page, 'approve', 'alice'))
    tokensOf(await flow.redeem(photoBook, code))
  })

  test.each([
    ['spaces', ' a  b '],
    ['plus signs', 'a+b++'],
    ['percent signs', '100%, %20, %zz'],
    ['delimiters', 'a=b&c#d?e;f/g'],
    ['line breaks and tabs', 'a\r\nb\tc'],
    ['quotes and markup', `"'<script>\\`],
    ['all of Unicode', 'Grüße, 世界, 👩‍👩‍👧, \u202e'],
    ['two kilobytes', 'x%+ é'.repeat(400)],
  ])('has its state echoed byte for byte: %s [answer-3]', async (_, state) => {
    const { flow } = stage()
    for (const page of [
      await flow.ask({ ...asked, state }, 'alice'),
      await flow.submit('/authorize', { ...asked, state }, 'alice'),
    ]) {
      const { parameters } = redirectionOf(await flow.decide(page, 'approve', 'alice'))
      expect(parameters['state']).toBe(state)
    }
  })

  test.each([undefined, ''])('without a state (%p) has none echoed', async (state) => {
    const { flow } = stage()
    const page = await flow.ask({ ...asked, state }, 'alice')
    const { parameters } = redirectionOf(await flow.decide(page, 'approve', 'alice'))
    expect(Object.keys(parameters)).toEqual(['code', 'iss'])
  })

  test.each(['http://localhost', 'http://localhost:3000', 'http://localhost/', 'http://localhost/oauth'])(
    'learns the issuer exactly as it is configured: %s [answer-1]',
    async (issuer) => {
      const path = new URL(issuer).pathname
      const { flow } = stage(
        { issuer },
        {
          mount: (app, oauth) => app.use(path, oauth.router()),
          paths: { authorize: `${path === '/' ? '' : path}/authorize` },
        },
      )
      const page = await flow.ask(asked, 'alice')
      const { parameters } = redirectionOf(await flow.decide(page, 'approve', 'alice'))
      expect(parameters['iss']).toBe(issuer)
    },
  )

  test.each([
    ['https://book.example/callback?app=1', '&'],
    ['https://book.example/callback?a=%7E&a=b+c&d', '&'],
    ['https://book.example/callback?', ''],
    ['https://BOOK.example:443/a/../callback', '?'],
    ['com.example.book:/callback', '?'],
    ['http://127.0.0.1/callback', '?'],
  ])('returns to %s with every byte of it kept', async (uri, separator) => {
    const client = withRedirectUri(uri)
    const { flow } = stage({ clients: [client.registration] })
    const page = await flow.ask(authorizationRequest(client), 'alice')
    const approval = await flow.decide(page, 'approve', 'alice')
    const location = String(approval.get('Location'))
    const beginning = `${uri}${separator}code=ac_`
    expect(location.slice(0, beginning.length)).toBe(beginning)
    tokensOf(await flow.redeem(client, String(new URL(location).searchParams.get('code'))))
  })

  test('may leave out the only registered redirection URI, and then the redemption may, too', async () => {
    const { flow } = stage()
    const code = await flow.approve(photoBook, { redirect_uri: undefined })
    expect((await flow.redeem(photoBook, code, { redirect_uri: undefined })).status).toBe(200)
    const next = await flow.approve(photoBook, { redirect_uri: '' })
    expect((await flow.redeem(photoBook, next)).status).toBe(200)
  })

  test('may hold a redirection URI that is not percent encoded', async () => {
    const { flow } = stage()
    const { redirect_uri, ...rest } = asked
    const page = await flow.ask(`${formOf(rest)}&redirect_uri=${redirect_uri}`, 'alice')
    expect(redirectionOf(await flow.decide(page, 'approve', 'alice')).uri).toBe(redirect_uri)
  })

  test.each([
    'nonce=n-0S6_WzA2Mj&prompt=consent',
    'resource=https://a.example&resource=https://b.example',
    'scope[]=unheard-of&state[a][b]=c&client_id[]=other&redirect_uri[]=https://evil.example',
    '__proto__[scope]=unheard-of&__proto__=x&constructor=y&toString=z',
    'broken=%zz&%zz=broken&=&&',
    'decision=deny',
  ])('may hold parameters that nobody knows: %s', async (unknown) => {
    const { flow } = stage()
    const page = await flow.ask(`${formOf(asked)}&${unknown}`, 'alice')
    const { parameters } = redirectionOf(await flow.decide(page, 'approve', 'alice'))
    expect(parameters).toMatchObject({ code: expect.any(String), state: asked.state })
  })

  test('without a scope is one for the default scope, as far as the client may have it', async () => {
    const { flow } = stage({ defaultScope: 'photos:read photos:print' })
    expect((await flow.tokens(photoBook, { scope: undefined })).scope).toBe('photos:read photos:print')
    expect((await flow.tokens(photoFrame, { scope: '' })).scope).toBe('photos:read')
  })

  test('has a scope without order and repetition', async () => {
    const { flow } = stage()
    const { scope } = await flow.tokens(photoBook, { scope: 'photos:print photos:read photos:print' })
    expect(scope.split(' ').toSorted()).toEqual(['photos:print', 'photos:read'])
  })
})
