import { accessDenied } from '../../lib/index'
import { bent, nightlyReport, photoBook } from '../support/flows/clients'
import { describeOnStores, type Stage } from '../support/flows/stores-of-run'
import { authorizationRequest, formOf, type Fields } from '../support/flows/flow'
import { redirectionOf } from '../support/flows/redirection'

const asked = authorizationRequest(photoBook)
const without = (name: keyof typeof asked): string => formOf({ ...asked, [name]: undefined })

/** The one error that this request gets by GET and by POST, in the form of RFC 6749 4.1.2.1. */
async function errorOf({ flow, store }: Stage, request: Fields | string): Promise<string | undefined> {
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
  expect(store.calls.save).toBe(0)
  expect(errors.size).toBe(1)
  return [...errors][0]
}

describeOnStores('The client is told by redirect of', (stage) => {
  test.each([
    ['no response_type', without('response_type')],
    ['an empty response_type', formOf({ ...asked, response_type: '' })],
    ['a repeated response_type', `${formOf(asked)}&response_type=code`],
    ['a repeated scope', `${formOf(asked)}&scope=photos:read`],
    ['a repeated code_challenge', `${formOf(asked)}&code_challenge=${asked.code_challenge}`],
    ['a scope that is not UTF-8', `${without('scope')}&scope=%FF`],
    ['a broken percent triplet', `${without('scope')}&scope=photos%3`],
    ['no code_challenge from a public client', without('code_challenge')],
    ['no code_challenge_method, which would mean plain', without('code_challenge_method')],
    ['the method plain', formOf({ ...asked, code_challenge_method: 'plain' })],
    ['a code_challenge of the wrong length', formOf({ ...asked, code_challenge: 'short' })],
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

  test.each(['token', 'id_token', 'Code', 'code token', 'code code', ' code'])(
    'unsupported_response_type: %p',
    async (response_type) => {
      expect(await errorOf(stage(), { ...asked, response_type })).toBe('unsupported_response_type')
    },
  )

  test('unauthorized_client: a client that may use no response type', async () => {
    const client = bent(nightlyReport, { redirect_uris: ['https://book.example/callback'] })
    const request = authorizationRequest(client)
    const { state } = asked
    const set = stage({ clients: [client.registration] })
    expect(await errorOf(set, { ...request, state })).toBe('unauthorized_client')
  })

  test.each([
    ['unknown', 'unheard-of'],
    ['known, but not for this client', 'reports:write'],
    ['partly known', 'photos:read unheard-of'],
    ['in another case', 'Photos:read'],
    ['with two spaces', 'photos:read  photos:print'],
    ['with a space at its end', 'photos:read '],
    ['with a tab', 'photos:read\tphotos:print'],
    ['with a quote', 'photos:read "'],
    ['with a backslash', 'photos:read\\'],
    ['not ASCII', 'phötos:read'],
  ])('invalid_scope: a scope that is %s', async (_, scope) => {
    expect(await errorOf(stage(), { ...asked, scope })).toBe('invalid_scope')
  })

  test('invalid_scope: no scope where there is no default', async () => {
    expect(await errorOf(stage(), without('scope'))).toBe('invalid_scope')
  })

  test('access_denied: a refusal by the host', async () => {
    const cause = accessDenied('under_age', 'The account may not be shared.')
    const resourceOwner = () => Promise.reject(cause)
    expect(await errorOf(stage({ resourceOwner }), asked)).toBe('access_denied')
  })

  test.each(['login', 'consentPage'] as const)('server_error: a fault in the option %s', async (option) => {
    const { flow } = stage({
      [option]: () => {
        throw new Error('The template is missing.')
      },
    })
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

  test.each(['', { subject: '' }, { name: 'Alice' }, 7, true])(
    'server_error: an owner that is none, %j',
    async (owner) => {
      const resourceOwner = () => JSON.parse(JSON.stringify(owner))
      expect(await errorOf(stage({ resourceOwner }), asked)).toBe('server_error')
    },
  )

  test.each(['fails', 'hangs'] as const)('temporarily_unavailable: a store that %s', async (trouble) => {
    const { flow, store } = stage({ storeDeadline: 0.1 })
    store.begin(trouble, 'save')
    const { uri, parameters } = redirectionOf(await flow.ask(asked, 'alice'))
    expect(uri).toBe('https://book.example/callback')
    expect(parameters).toMatchObject({ error: 'temporarily_unavailable', state: asked.state })
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
