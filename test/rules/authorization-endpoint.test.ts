import { accessDenied } from '../../lib/index'
import { bent, nightlyReport, photoBook } from '../support/flows/clients'
import { errorPageOf } from '../support/flows/error-page'
import { authorizationRequest, formOf, type Fields } from '../support/flows/flow'
import { insecureLinkOf } from '../support/flows/insecure-redirect'
import { setStage } from '../support/flows/stage'
import { outcomeOf } from '../support/flows/outcome'
import { codeOf, redirectionOf } from '../support/flows/redirection'

const asked = authorizationRequest(photoBook)
const uri = 'https://book.example/callback'
const without = (name: keyof typeof asked): Fields => ({ ...asked, [name]: undefined })

const stageWith = (redirect_uri: string) =>
  setStage({ clients: [bent(photoBook, { redirect_uris: [redirect_uri] }).registration] })

test('[AUZ-1] an authorization request by GET is served', async () => {
  expect(outcomeOf(await setStage().flow.ask(asked, 'alice'))).toBe('question')
})

test('[AUZ-2] an authorization request by POST is served, its parameters in the form', async () => {
  const { flow } = setStage()
  const page = await flow.submit('/authorize', asked, 'alice')
  codeOf(await flow.decide(page, 'approve', 'alice'))
  const inQuery = await flow.submit(`/authorize?${formOf(asked)}`, '', 'alice')
  expect(outcomeOf(inQuery)).toBe('page 400 invalid_request')
})

test('[AUZ-3, OIC-29] first the request is validated, then the owner logs in, then decides, then goes to the client', async () => {
  const { flow } = setStage()
  expect(outcomeOf(await flow.ask({ ...asked, scope: 'unheard-of' }))).toBe('redirect invalid_scope')
  expect(redirectionOf(await flow.ask(asked)).uri).toBe('/login')
  const page = await flow.ask(asked, 'alice')
  expect(page.headers).not.toHaveProperty('location')
  expect(redirectionOf(await flow.decide(page, 'approve', 'alice')).uri).toBe(uri)
})

test('[AUZ-4] the client gets an error for a missing or unknown response type', async () => {
  const { flow } = setStage()
  expect(outcomeOf(await flow.ask(without('response_type'), 'alice'))).toBe('redirect invalid_request')
  for (const response_type of ['id_token', 'Code', 'code code'])
    expect(outcomeOf(await flow.ask({ ...asked, response_type }, 'alice'))).toBe(
      'redirect unsupported_response_type',
    )
})

test.each(['a b+c%20&d=e#f?g/h', ' "\'<script>\\', 'Grüße, 世界, \u202e', 'line\r\nbreak\ttab'])(
  '[AUZ-6, OIC-30] the code comes in the query, with the state exactly as it was: %j [answer-3]',
  async (state) => {
    const redirect_uri = `${uri}?app=1&x=%7E`
    const client = bent(photoBook, { redirect_uris: [redirect_uri] })
    const { flow } = setStage({ clients: [client.registration] })
    const page = await flow.ask({ ...asked, redirect_uri, state }, 'alice')
    const location = String((await flow.decide(page, 'approve', 'alice')).get('Location'))
    expect(location.startsWith(`${redirect_uri}&code=`)).toBe(true)
    expect(location).not.toContain('#')
    expect(new URL(location).searchParams.get('state')).toBe(state)
  },
)

test('[AUZ-6, OIC-30] without a state none comes back', async () => {
  const { flow } = setStage()
  const page = await flow.ask(without('state'), 'alice')
  expect(redirectionOf(await flow.decide(page, 'approve', 'alice')).parameters).not.toHaveProperty('state')
})

test.each([
  '',
  'client_id=',
  'client_id=nobody',
  'client_id=photo-book&client_id=photo-book',
  'client_id=%FF',
])(
  '[AUZ-10, MCP-14] a missing, unknown or repeated client is refused on a page, without a Location: %p [redirect-6]',
  async (client) => {
    const response = await setStage().flow.ask(`${formOf(without('client_id'))}&${client}`, 'alice')
    expect(errorPageOf(response)).toBe('400 invalid_request')
  },
)

test.each([
  'https://evil.example/',
  `${uri}/`,
  'HTTPS://book.example/callback',
  'callback',
  'javascript:alert(1)',
])(
  '[AUZ-10, MCP-14] a redirection URI that is not the client’s is refused on a page, without a Location: %s [redirect-5]',
  async (redirect_uri) => {
    const response = await setStage().flow.ask({ ...asked, redirect_uri }, 'alice')
    expect(errorPageOf(response)).toBe('400 invalid_request')
    expect(response.text).not.toContain(redirect_uri)
  },
)

test('[AUZ-12] invalid_request: a parameter is missing, repeated or malformed', async () => {
  const { flow } = setStage()
  for (const request of [
    formOf(without('code_challenge')),
    `${formOf(asked)}&scope=photos:read`,
    formOf({ ...asked, code_challenge_method: 'plain' }),
  ])
    expect(outcomeOf(await flow.ask(request, 'alice'))).toBe('redirect invalid_request')
})

test('[AUZ-12] unauthorized_client: the client may not use this response type', async () => {
  const client = bent(nightlyReport, { redirect_uris: [uri] })
  const { flow } = setStage({ clients: [client.registration] })
  const response = await flow.ask(authorizationRequest(client), 'alice')
  expect(outcomeOf(response)).toBe('redirect unauthorized_client')
})

test('[AUZ-12] access_denied: the owner said no, or the host in their name', async () => {
  const { flow } = setStage()
  const denial = await flow.decide(await flow.ask(asked, 'alice'), 'deny', 'alice')
  expect(outcomeOf(denial)).toBe('redirect access_denied')
  const refusing = setStage({
    resourceOwner: () => Promise.reject(accessDenied('under_age', 'The account may not be shared.')),
  })
  expect(outcomeOf(await refusing.flow.ask(asked, 'alice'))).toBe('redirect access_denied')
})

test('[AUZ-12] unsupported_response_type: the server does not have it', async () => {
  const response = await setStage().flow.ask({ ...asked, response_type: 'id_token' }, 'alice')
  expect(outcomeOf(response)).toBe('redirect unsupported_response_type')
})

test.each(['unheard-of', 'reports:write', 'photos:read  photos:print'])(
  '[AUZ-12] invalid_scope: the scope is unknown, not the client’s or malformed: %s',
  async (scope) => {
    expect(outcomeOf(await setStage().flow.ask({ ...asked, scope }, 'alice'))).toBe('redirect invalid_scope')
  },
)

test('[AUZ-12] server_error: something broke on this side', async () => {
  const { flow } = setStage({ resourceOwner: () => Promise.reject(new Error('The session is gone.')) })
  expect(outcomeOf(await flow.ask(asked, 'alice'))).toBe('redirect server_error')
})

test.each(['fails', 'hangs'] as const)('[AUZ-12] temporarily_unavailable: the store %s', async (trouble) => {
  const { flow, store } = setStage({ storeDeadline: 0.05 })
  store.begin(trouble, 'write')
  expect(outcomeOf(await flow.ask(asked, 'alice'))).toBe('redirect temporarily_unavailable')
})

test('[AUZ-13] only the logged-in owner of the request decides [consent-4, consent-9, consent-28]', async () => {
  const { flow } = setStage()
  const page = await flow.ask(asked, 'alice')
  for (const owner of [undefined, 'bob'])
    for (const decision of ['approve', 'deny'])
      expect(errorPageOf(await flow.decide(page, decision, owner))).toBe('400 invalid_request')
  const code = codeOf(await flow.decide(page, 'approve', 'alice'))
  const { body } = await flow.redeem(photoBook, code)
  expect((await flow.photos(body.access_token)).body.subject).toBe('alice')
})

test('[AUZ-14] a redirection URI in plain HTTP is refused unless it stays on the machine [redirect-13]', () => {
  expect(() => stageWith('http://book.example/callback')).toThrow('must use https')
  expect(() => stageWith('http://127.0.0.1:3000/callback')).not.toThrow()
})

test.each(['approve', 'deny'])(
  '[AUZ-14] by the exception of a client the owner is warned before anything goes out in plain HTTP: %s',
  async (decision) => {
    const callback = 'http://book.example/callback'
    const old = bent(photoBook, { redirect_uris: [callback], insecure_redirect_uris: true })
    const { flow } = setStage({ clients: [old.registration] })
    const page = await flow.ask({ ...asked, redirect_uri: callback }, 'alice')
    const { searchParams } = insecureLinkOf(await flow.decide(page, decision, 'alice'))
    expect([...searchParams.keys()]).toContain(decision === 'approve' ? 'code' : 'error')
  },
)
