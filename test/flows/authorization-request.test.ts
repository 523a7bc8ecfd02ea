import { createServer } from 'node:http'
import { said, spoken, whileListening } from '../support/created-server/spoken'
import { bent, photoBook, nightlyReport } from '../support/flows/clients'
import { authorizationRequest, formOf } from '../support/flows/flow'
import { codeOf, redirectionOf } from '../support/flows/redirection'
import { describeOnStores } from '../support/flows/stores-of-run'
import { tokensOf, refusalOf } from '../support/flows/tokens'
import { errorPageOf } from '../support/flows/error-page'

const asked = authorizationRequest(photoBook)

describeOnStores('The hand-off to the login of the host', (stage) => {
  test.each(['GET', 'POST'])(
    'names the way back to a request by %s, with every parameter of it',
    async (method) => {
      const { flow } = stage()
      const fields = { ...asked, resource: 'https://photos.example/?a=1&b=2', state: 'a b+c%20&=#€' }
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
    const { uri, parameters } = redirectionOf(await flow.ask(asked))
    expect(uri).toBe('/sign-in')
    expect(parameters).toEqual({ theme: 'dark', return_to: `/authorize?${formOf(asked)}&login_returns=1` })
  })

  test('can be a function of the host, which gets the return URL', async () => {
    const { flow } = stage({
      login: (_request, response, returnTo) => response.status(200).json({ returnTo }),
    })
    expect((await flow.ask(asked)).body).toEqual({
      returnTo: `/authorize?${formOf(asked)}&login_returns=1`,
    })
  })

  test('leads back to a consent page, as often as it is opened; each page stands for itself', async () => {
    const { flow } = stage()
    const returnTo = String(redirectionOf(await flow.ask(asked)).parameters['return_to'])
    const [one, other] = [await flow.open(returnTo, 'alice'), await flow.open(returnTo, 'alice')]
    const codes = [await flow.decide(one, 'approve', 'alice'), await flow.decide(other, 'approve', 'alice')]
    expect(new Set(codes.map(codeOf)).size).toBe(2)
  })
})

const inspector = bent(nightlyReport, { may_introspect: true })
const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
const many = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`p${index}`, '1']))

describeOnStores('What is too long', (stage) => {
  test('as state of more than 16 KiB, which no redirect can hold, is refused on a page [input-16]', async () => {
    const { flow, failures } = stage()
    const tooMuch = { ...asked, state: 's'.repeat(16_385) }
    expect(errorPageOf(await flow.submit('/authorize', tooMuch, 'alice'))).toBe('400 invalid_request')
    expect(failures).toMatchObject([{ reason: 'parameter_too_long' }])
  })

  test('as state of 4097 characters to 16 KiB goes back with the error', async () => {
    const { app } = stage()
    for (const length of [4097, 16_384]) {
      const state = 's'.repeat(length)
      const body = formOf({ ...asked, state })
      const type = 'Content-Type: application/x-www-form-urlencoded'
      const head = said('POST', '/authorize', [type, 'Connection: close', `Content-Length: ${body.length}`])
      // An answer so long is more than Node's own client reads.
      const answer = await whileListening(createServer(app), (port) => spoken(port, head + body))
      expect(answer).toMatch(
        new RegExp(`^HTTP/1\\.1 303 [^]*[?&]error=invalid_request[^]*[?&]state=${state}[&\r]`),
      )
    }
  })

  test('as token is no token: it is revoked already, and not active', async () => {
    const clients = [photoBook, inspector].map(({ registration }) => registration)
    const { flow } = stage({ clients })
    for (const token of ['x'.repeat(5000), `at_${'x'.repeat(60_000)}`]) {
      const revoked = await flow.revoke(inspector, token)
      expect({ status: revoked.status, body: revoked.body }).toEqual({ status: 200, body: {} })
      const introspected = await flow.introspect(inspector, token)
      expect({ status: introspected.status, body: introspected.body }).toEqual({
        status: 200,
        body: { active: false },
      })
    }
  })
})

describeOnStores('More than 100 parameters', (stage) => {
  test.each(['/token', '/introspect'])('are refused at %s, in the query, too', async (path) => {
    const { flow, failures } = stage()
    expect((await flow.request(nightlyReport, { ...grant, ...many }, path)).status).toBe(400)
    expect((await flow.request(nightlyReport, grant, `${path}?${formOf(many)}`)).status).toBe(400)
    expect(failures).toMatchObject([{ reason: 'too_many_parameters' }, { reason: 'too_many_parameters' }])
  })
})

const desktop = bent(photoBook, {
  redirect_uris: ['http://127.0.0.1/callback', 'http://[::1]:7000/callback', 'https://book.example/callback'],
  loopback_redirect_uris: true,
})

describeOnStores('A desktop app on a port of the loopback interface', (stage) => {
  const set = () => stage({ clients: [desktop.registration] })

  test.each(['http://127.0.0.1:51004/callback', 'http://[::1]:51004/callback', 'http://127.0.0.1/callback'])(
    'gets its tokens by %s',
    async (redirect_uri) => {
      const { flow } = set()
      const page = await flow.ask({ ...authorizationRequest(desktop), redirect_uri }, 'alice')
      const approval = await flow.decide(page, 'approve', 'alice')
      expect(redirectionOf(approval).uri).toBe(redirect_uri)
      tokensOf(await flow.redeem(desktop, codeOf(approval), { redirect_uri }))
    },
  )

  test('redeems with the port of the request, and with no other [redirect-16]', async () => {
    const { flow } = set()
    const redirect_uri = 'http://127.0.0.1:51004/callback'
    const code = await flow.approve(desktop, { redirect_uri })
    for (const other of ['http://127.0.0.1:51005/callback', 'http://127.0.0.1/callback', undefined])
      expect(refusalOf(await flow.redeem(desktop, code, { redirect_uri: other }))).toBe('400 invalid_grant')
    tokensOf(await flow.redeem(desktop, code, { redirect_uri }))
  })
})
