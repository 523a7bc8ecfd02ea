import { implicit, type ImplicitOptions } from '../../lib/index'
import { formPost, pushedAuthorizationRequests, requestObjects } from '../../lib/paths/pushed-requests'
import { codeToken } from '../../docs/examples/code-token'
import { bent, photoBook, photoPrint } from '../support/flows/clients'
import { authorizationRequest } from '../support/flows/flow'
import { loginOf } from '../support/flows/login-stage'
import { objectClaims, requestObject, signingPrint } from '../support/flows/request-object'
import { setStage } from '../support/flows/stage'
import { outcomeOf } from '../support/flows/outcome'
import { fragmentOf, redirectionOf } from '../support/flows/redirection'

const terms = { grant_types: ['implicit'], response_types: ['token'] }
const slideshow = bent(photoBook, terms)
const asked = { ...authorizationRequest(slideshow), response_type: 'token' }
const uri = 'https://book.example/callback'

const stageOf = (client = slideshow, options: ImplicitOptions = {}) =>
  setStage({ clients: [client.registration], plugins: [implicit(options)] })

test.each(['code token', 'token code'])(
  '[AUZ-5] a response type of two words is answered in either order: %s',
  async (response_type) => {
    const both = bent(photoBook, {
      grant_types: ['authorization_code', 'implicit'],
      response_types: ['code token'],
    })
    const { flow } = setStage({
      clients: [both.registration],
      plugins: [{ name: 'host-response-types', responseTypes: [codeToken] }],
    })
    const bare = await flow.ask({ ...asked, response_type, code_challenge: undefined }, 'alice')
    expect(fragmentOf(bare).parameters).toMatchObject({ error: 'invalid_request' })
    const page = await flow.ask({ ...asked, response_type }, 'alice')
    const { parameters } = fragmentOf(await flow.decide(page, 'approve', 'alice'))
    expect(outcomeOf(await flow.redeem(both, parameters['code'] ?? ''))).toBe('tokens')
    expect((await flow.photos(parameters['access_token'] ?? '')).status).toBe(200)
  },
)

test.each(['a b+c%20&d=e#f?g/h', 'Grüße, 世界', '"\'<script>\\\r\n'])(
  '[AUZ-7] the token comes in the fragment, with type, lifetime, scope and the exact state: %j',
  async (state) => {
    const { flow } = stageOf()
    const response = await flow.decide(await flow.ask({ ...asked, state }, 'alice'), 'approve', 'alice')
    const { uri: sent, parameters } = fragmentOf(response)
    expect(sent).toBe(uri)
    expect(parameters).toMatchObject({ token_type: 'bearer', expires_in: '3600', scope: asked.scope, state })
    expect((await flow.photos(parameters['access_token'] ?? '')).body.subject).toBe('alice')
  },
)

test('[AUZ-7] the response names a scope that the request did not, and no state without one', async () => {
  const { flow } = setStage({
    clients: [slideshow.registration],
    plugins: [implicit()],
    defaultScope: 'photos:read',
  })
  const page = await flow.ask({ ...asked, scope: undefined, state: undefined }, 'alice')
  const { parameters } = fragmentOf(await flow.decide(page, 'approve', 'alice'))
  expect(parameters['scope']).toBe('photos:read')
  expect(parameters).not.toHaveProperty('state')
})

test('[AUZ-8] the implicit grant brings no refresh token, even to a client that may have one [implicit-3]', async () => {
  const client = bent(photoBook, {
    grant_types: ['authorization_code', 'implicit', 'refresh_token'],
    response_types: ['code', 'token'],
  })
  const { flow } = stageOf(client)
  const { parameters } = fragmentOf(await flow.decide(await flow.ask(asked, 'alice'), 'approve', 'alice'))
  expect(Object.keys(parameters).toSorted()).toEqual([
    'access_token',
    'expires_in',
    'iss',
    'scope',
    'state',
    'token_type',
  ])
})

test('[AUZ-8] the implicit grant authenticates no client, and goes to a registered redirection URI only [redirect-7]', async () => {
  const client = bent(photoPrint, terms)
  const { flow } = stageOf(client)
  const request = { ...authorizationRequest(client), response_type: 'token' }
  const { parameters } = fragmentOf(await flow.decide(await flow.ask(request, 'alice'), 'approve', 'alice'))
  expect((await flow.photos(parameters['access_token'] ?? '')).status).toBe(200)
  for (const redirect_uri of ['https://evil.example/', `${request.redirect_uri}/`])
    expect(outcomeOf(await flow.ask({ ...request, redirect_uri }, 'alice'))).toBe('page 400 invalid_request')
})

test.each([
  ['approve', 'access_token'],
  ['deny', 'error'],
])('[AUZ-9] a page with a link takes the place of a redirect, by option: %s', async (decision, name) => {
  const { flow } = stageOf(slideshow, { redirectBy: 'page' })
  const page = await flow.decide(await flow.ask(asked, 'alice'), decision, 'alice')
  expect([page.status, page.get('Location'), page.get('Cache-Control')]).toEqual([200, undefined, 'no-store'])
  const [[, href = ''] = [], ...more] = page.text.matchAll(/<a [^>]*href="([^"]*)"/g)
  expect(more).toEqual([])
  const [to, fragment] = href.replaceAll('&amp;', '&').split('#')
  expect(to).toBe(uri)
  expect(Object.fromEntries(new URLSearchParams(fragment))).toMatchObject({
    [name]: expect.any(String),
    state: asked.state,
  })
})

test('[AUZ-11, OIC-31] a denial and any other failure go to the client by the query, with the state', async () => {
  const { flow } = setStage()
  const byCode = authorizationRequest(photoBook)
  const denial = await flow.decide(await flow.ask(byCode, 'alice'), 'deny', 'alice')
  const failure = await flow.ask({ ...byCode, scope: 'unheard-of' }, 'alice')
  for (const [response, error] of [
    [denial, 'access_denied'],
    [failure, 'invalid_scope'],
  ] as const) {
    expect(redirectionOf(response)).toMatchObject({
      uri: byCode.redirect_uri,
      parameters: { error, state: byCode.state },
    })
    expect(response.get('Location')).not.toContain('#')
  }
})

test('[AUZ-11] where a token would have come in the fragment, so do a denial and any other failure', async () => {
  const { flow } = stageOf()
  const denial = await flow.decide(await flow.ask(asked, 'alice'), 'deny', 'alice')
  const failure = await flow.ask({ ...asked, scope: 'unheard-of' }, 'alice')
  for (const [response, error] of [
    [denial, 'access_denied'],
    [failure, 'invalid_scope'],
  ] as const)
    expect(fragmentOf(response)).toMatchObject({ uri, parameters: { error, state: asked.state } })
})

describe('A code in the fragment, by response_mode=fragment', () => {
  const inFragment = { ...authorizationRequest(photoBook), response_mode: 'fragment' }
  const without = { code_challenge: undefined, code_challenge_method: undefined }

  test('[AUZ-15] a client with PKCE gets code, state and iss there, and redeems the code', async () => {
    const { flow } = setStage()
    const answer = await flow.decide(await flow.ask(inFragment, 'alice'), 'approve', 'alice')
    const { uri: sent, parameters } = fragmentOf(answer)
    const { code, ...others } = parameters
    expect([sent, others]).toEqual([uri, { state: inFragment.state, iss: 'http://localhost' }])
    expect(outcomeOf(await flow.redeem(photoBook, code ?? ''))).toBe('tokens')
  })

  test.each(['com.example.book:/callback', 'https://book.example/callback?from=home'])(
    '[AUZ-15] every redirection URI can take it: %s',
    async (redirect_uri) => {
      const client = bent(photoBook, { redirect_uris: [redirect_uri] })
      const { flow } = setStage({ clients: [client.registration] })
      const page = await flow.ask({ ...inFragment, redirect_uri }, 'alice')
      const answer = fragmentOf(await flow.decide(page, 'approve', 'alice'))
      expect(answer).toMatchObject({ uri: redirect_uri, parameters: { code: expect.any(String) } })
    },
  )

  test.each([
    ['access_denied', {}],
    ['invalid_scope', { scope: 'unheard-of' }],
    ['invalid_request', { code_challenge_method: 'plain' }],
    ['unsupported_response_type', { response_type: 'unheard-of' }],
    // RFC 9700 2.1.1: scripts and extensions of a browser read a fragment, and nothing else would make the code useless there.
    ['invalid_request', { ...without, client_id: 'photo-print', redirect_uri: undefined }],
  ])('[AUZ-11, AUZ-15] its errors come there too: %s for %j', async (error, bend) => {
    const { flow } = setStage()
    const asking = await flow.ask({ ...inFragment, ...bend }, 'alice')
    const answer = asking.status === 200 ? await flow.decide(asking, 'deny', 'alice') : asking
    expect(fragmentOf(answer).parameters).toMatchObject({ error, state: asked.state })
  })

  test('[AUZ-15] a request that was signed and pushed gets it there, behind a login and without a page', async () => {
    const plugins = [requestObjects(), pushedAuthorizationRequests(), formPost()]
    const options = { clients: [signingPrint.registration], plugins, rememberConsent: true }
    const { flow, clock } = setStage(options)
    const signed = () => ({ ...objectClaims(Math.floor(clock.read() / 1000)), response_mode: 'fragment' })
    const push = async () =>
      (await flow.request(signingPrint, { request: requestObject(signed()) }, '/par')).body.request_uri
    const brought = async () => ({ client_id: 'photo-print', request_uri: String(await push()) })
    const { back } = loginOf(await flow.ask(await brought()))
    const first = await flow.decide(await flow.open(back, 'alice'), 'approve', 'alice')
    const second = await flow.ask(await brought(), 'alice')
    const codes = [first, second].map((answer) => fragmentOf(answer).parameters['code'] ?? '')
    for (const code of codes) expect(outcomeOf(await flow.redeem(signingPrint, code))).toBe('tokens')
  })

  test('[AUZ-15] no response type with a token goes to the query', async () => {
    const { flow } = stageOf()
    const refused = fragmentOf(await flow.ask({ ...asked, response_mode: 'query' }, 'alice'))
    expect(refused).toMatchObject({ uri, parameters: { error: 'invalid_request', state: asked.state } })
  })
})
