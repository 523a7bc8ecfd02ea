import { bent, type ClientApplication, photoBook } from '../support/flows/clients'
import { authorizationRequest, type Fields, formOf } from '../support/flows/flow'
import { codeOf, redirectionOf } from '../support/flows/redirection'
import { describeOnStores, type Stage } from '../support/flows/stores-of-run'
import { tokensOf } from '../support/flows/tokens'

const withRedirectUri = (uri: string): ClientApplication => bent(photoBook, { redirect_uris: [uri] })

describeOnStores('An authorization request', (stage) => {
  const asked = authorizationRequest(photoBook)

  test.each([
    ['spaces, plus and percent signs', ' a  b++100%, %20, %zz '],
    ['delimiters and line breaks', 'a=b&c#d?e;f/g\r\nb\tc'],
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

  test.each(['http://localhost/', 'http://localhost/oauth'])(
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
    ['https://book.example/callback?a=%7E&a=b+c&d', '&'],
    ['https://BOOK.example:443/a/../callback', '?'],
    ['com.example.book:/callback', '?'],
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

  test.each([
    'scope[]=unheard-of&state[a][b]=c&client_id[]=other&redirect_uri[]=https://evil.example',
    '__proto__[scope]=unheard-of&__proto__=x&constructor=y&toString=z',
    'broken=%zz&%zz=broken&=&&',
  ])('may hold unknown parameters: %s', async (unknown) => {
    const { flow } = stage()
    const page = await flow.ask(`${formOf(asked)}&${unknown}`, 'alice')
    const { parameters } = redirectionOf(await flow.decide(page, 'approve', 'alice'))
    expect(parameters).toMatchObject({ code: expect.any(String), state: asked.state })
  })
})

const asked = authorizationRequest(photoBook)
const without = (name: keyof typeof asked): string => formOf({ ...asked, [name]: undefined })

/** The one error that this request gets by GET and by POST, in the form of RFC 6749 4.1.2.1. */
async function errorOf({ flow }: Stage, request: Fields | string): Promise<string | undefined> {
  const errors = new Set<string | undefined>()
  for (const response of [
    await flow.ask(request, 'alice'),
    await flow.submit('/authorize', request, 'alice'),
  ]) {
    const { uri, parameters } = redirectionOf(response)
    expect(uri).toBe('https://book.example/callback')
    expect(parameters).toEqual({
      error: expect.any(String),
      error_description: expect.stringMatching(/^[\x20\x21\x23-\x5B\x5D-\x7E]+$/),
      state: asked.state,
      iss: 'http://localhost',
    })
    expect(response.headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' })
    errors.add(parameters['error'])
  }
  expect(errors.size).toBe(1)
  return [...errors][0]
}

describeOnStores('The client gets an error by redirect for', (stage) => {
  test.each([
    ['an empty response_type', formOf({ ...asked, response_type: '' })],
    ['a repeated response_type', `${formOf(asked)}&response_type=code`],
    ['a repeated code_challenge', `${formOf(asked)}&code_challenge=${asked.code_challenge}`],
    ['a scope that is not UTF-8', `${without('scope')}&scope=%FF`],
    ['a broken percent triplet', `${without('scope')}&scope=photos%3`],
  ])('invalid_request: %s', async (_, request) => {
    expect(await errorOf(stage(), request)).toBe('invalid_request')
  })

  test('invalid_request: a repeated state, none of which is echoed', async () => {
    const { flow } = stage()
    const { parameters } = redirectionOf(await flow.ask(`${formOf(asked)}&state=other`, 'alice'))
    expect(parameters).toEqual({
      error: 'invalid_request',
      error_description: expect.any(String),
      iss: 'http://localhost',
    })
  })

  test('unsupported_response_type: names, orders and cases that the server does not have', async () => {
    for (const response_type of ['id_token', 'Code', 'code code', ' code'])
      expect(await errorOf(stage(), { ...asked, response_type })).toBe('unsupported_response_type')
  })

  test.each([
    ['known, but not for this client', 'reports:write'],
    ['partly known', 'photos:read unheard-of'],
    ['with two spaces', 'photos:read  photos:print'],
    ['not ASCII', 'phötos:read'],
    ['left out where there is no default', undefined],
  ])('invalid_scope: a scope that is %s', async (_, scope) => {
    expect(await errorOf(stage(), { ...asked, scope })).toBe('invalid_scope')
  })

  test.each(['login', 'pages.consent'] as const)('server_error: a fault in the option %s', async (option) => {
    const fail = () => {
      throw new Error('The template is missing.')
    }
    const { flow } = stage(option === 'login' ? { login: fail } : { pages: { consent: fail } })
    const response = await flow.ask(asked, option === 'login' ? undefined : 'alice')
    expect(response.status).toBe(303)
    expect(redirectionOf(response).parameters).toMatchObject({ error: 'server_error', state: asked.state })
  })

  test('server_error: a fault in the login of the host, whose cause only the host learns', async () => {
    const cause = new Error('The session of alice is gone.')
    const set = stage({
      resourceOwner: () => {
        throw cause
      },
    })
    expect(await errorOf(set, asked)).toBe('server_error')
    expect(set.failures).toMatchObject([
      { endpoint: 'authorization', code: 'server_error', clientId: 'photo-book', cause },
      { code: 'server_error', cause },
    ])
  })

  test.each(['', { name: 'Alice' }, 7])('server_error: an owner that is none, %j', async (owner) => {
    const resourceOwner = () => JSON.parse(JSON.stringify(owner))
    expect(await errorOf(stage({ resourceOwner }), asked)).toBe('server_error')
  })

  test('an error with the query of its redirection URI kept', async () => {
    const client = bent(photoBook, { redirect_uris: ['https://book.example/callback?app=1&x=%7E'] })
    const { flow } = stage({ clients: [client.registration] })
    const response = await flow.ask({ ...authorizationRequest(client), scope: 'unheard-of' }, 'alice')
    expect(response.get('Location')).toMatch(
      /^https:\/\/book\.example\/callback\?app=1&x=%7E&error=invalid_scope&/,
    )
  })
})

describeOnStores('The hand-off to the login of the host', (stage) => {
  const original = authorizationRequest(photoBook)

  test('keeps nothing, so it can be repeated [store-2]', async () => {
    const { flow, store } = stage()
    const first = await flow.ask(original)
    expect((await flow.ask(original)).get('Location')).toBe(first.get('Location'))
    expect(first.headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' })
    expect(store.calls).toEqual({ find: 0, save: 0, remove: 0 })
  })

  test.each(['GET', 'POST'])(
    'names the way back to a request by %s, with every parameter of it',
    async (method) => {
      const { flow } = stage()
      const fields = { ...original, resource: 'https://photos.example/?a=1&b=2', state: 'a b+c%20&=#€' }
      const handOff = method === 'GET' ? await flow.ask(fields) : await flow.submit('/authorize', fields)
      const { uri, parameters } = redirectionOf(handOff)
      expect(uri).toBe('/login')
      expect(Object.keys(parameters)).toEqual(['return_to'])
      const [path, query] = String(parameters['return_to']).split('?')
      expect(path).toBe('/authorize')
      expect(Object.fromEntries(new URLSearchParams(query))).toEqual({ ...fields, login_returns: '1' })
    },
  )

  test('goes to the configured path, whose own query is kept', async () => {
    const { flow } = stage({ login: '/sign-in?theme=dark' })
    const { uri, parameters } = redirectionOf(await flow.ask(original))
    expect(uri).toBe('/sign-in')
    expect(parameters).toEqual({ theme: 'dark', return_to: `/authorize?${formOf(original)}&login_returns=1` })
  })

  test('can be a function of the host, which gets the return URL', async () => {
    const { flow } = stage({
      login: (_request, response, returnTo) => response.status(200).json({ returnTo }),
    })
    expect((await flow.ask(original)).body).toEqual({
      returnTo: `/authorize?${formOf(original)}&login_returns=1`,
    })
  })

  test('leads back to a consent page, as often as it is opened; each page stands for itself', async () => {
    const { flow } = stage()
    const returnTo = String(redirectionOf(await flow.ask(original)).parameters['return_to'])
    const [one, other] = [await flow.open(returnTo, 'alice'), await flow.open(returnTo, 'alice')]
    const codes = [await flow.decide(one, 'approve', 'alice'), await flow.decide(other, 'approve', 'alice')]
    expect(new Set(codes.map(codeOf)).size).toBe(2)
  })
})
