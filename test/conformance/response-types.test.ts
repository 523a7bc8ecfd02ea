import { implicit, type ImplicitOptions } from '../../lib/index'
import { codeToken } from '../../docs/examples/code-token'
import { bent, photoBook, photoPrint } from '../support/flows/clients'
import { authorizationRequest } from '../support/flows/flow'
import { setStage } from '../support/flows/stage'
import { outcomeOf } from '../support/flows/outcome'
import { fragmentOf } from '../support/flows/redirection'

const terms = { grant_types: ['implicit'], response_types: ['token'] }
const slideshow = bent(photoBook, terms)
const asked = { ...authorizationRequest(slideshow), response_type: 'token' }
const uri = 'https://book.example/callback'

const stageOf = (client = slideshow, options: ImplicitOptions = {}) =>
  setStage({ clients: [client.registration], responseTypes: [implicit(options)] })

test.each(['code token', 'token code'])(
  '[AUZ-5] a response type of two words is answered in either order: %s',
  async (response_type) => {
    const both = bent(photoBook, {
      grant_types: ['authorization_code', 'implicit'],
      response_types: ['code token'],
    })
    const { flow } = setStage({ clients: [both.registration], responseTypes: [codeToken] })
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
    responseTypes: [implicit()],
    defaultScope: 'photos:read',
  })
  const page = await flow.ask({ ...asked, scope: undefined, state: undefined }, 'alice')
  const { parameters } = fragmentOf(await flow.decide(page, 'approve', 'alice'))
  expect(parameters['scope']).toBe('photos:read')
  expect(parameters).not.toHaveProperty('state')
})

test('[AUZ-8] the implicit grant brings no refresh token, even to a client that may have one', async () => {
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

test('[AUZ-8] the implicit grant authenticates no client, and goes to a registered redirection URI only', async () => {
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
