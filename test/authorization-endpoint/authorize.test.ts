import { authorize, type Host } from '../../lib/authorization-endpoint/authorize'
import { codeResponseType, ResponseTypes } from '../../lib/authorization-endpoint/response-types'
import { digest } from '../../lib/protocol/credential'
import type { Extension } from '../../lib/protocol/extension'
import { accessDenied, temporarilyUnavailable } from '../../lib/protocol/host-errors'
import { clientWith } from '../support/authorization/client'
import { noon, ownIssuer } from '../support/authorization/issue-context'
import { clientsOf, type ServerBend, serverWith, watchedStore } from '../support/rooms/endpoints'
import { parametersOf } from '../support/rooms/parameters'
import { hostWhere, hostWithoutOwner } from '../support/rooms/watched-host'

describe('authorize', () => {
  const good = {
    response_type: 'code',
    client_id: 'photo-printer',
    redirect_uri: 'https://printer.example/callback',
    scope: 'photos.read',
    state: 'af0ifjsldkj',
  }
  type Values = Parameters<typeof parametersOf>[0]
  const ask = (bend: Values = {}, endpoint: ServerBend = {}, host: Host = hostWhere()) =>
    authorize(serverWith(endpoint), parametersOf({ ...good, ...bend }), host)

  /** The parameters of the redirect that the request ends in. */
  async function redirected(...request: Parameters<typeof ask>): Promise<Record<string, string>> {
    const outcome = await ask(...request)
    if (outcome.kind !== 'redirect') throw new Error(`The request ended as ${outcome.kind}.`)
    return Object.fromEntries(new URL(outcome.location).searchParams)
  }

  describe('authorize: the first phase', () => {
    it.each<[string, Values]>([
      ['no client', { client_id: undefined }],
      ['an unknown client', { client_id: 'nobody' }],
      ['a repeated client', { client_id: ['photo-printer', 'photo-printer'] }],
      ['a redirection URI that is not registered', { redirect_uri: 'https://evil.example/' }],
      ['a repeated redirection URI', { redirect_uri: [good.redirect_uri, good.redirect_uri] }],
    ])('shows the resource owner %s and redirects nowhere (AUZ-10)', async (_what, bend) => {
      const outcome = await ask({ ...bend, response_type: 'wrong', scope: 'wrong' })
      expect(outcome).toMatchObject({ kind: 'refused', error: { code: 'invalid_request' } })
      expect(outcome).not.toHaveProperty('location')
    })

    it('shows the resource owner that the store of clients failed', async () => {
      const error = temporarilyUnavailable('store_unavailable', 'x')
      const outcome = await ask({}, { findClient: () => Promise.reject(error) })
      expect(outcome).toEqual({ kind: 'refused', error })
    })

    it('hides what breaks there behind server_error, with its cause [input-13]', async () => {
      const cause = new TypeError('broken')
      const outcome = await ask({}, { findClient: () => Promise.reject(cause) })
      expect(outcome).toMatchObject({ kind: 'refused', error: { code: 'server_error', cause } })
    })
  })

  describe('authorize: the second phase', () => {
    it.each<[string, Values, string]>([
      ['response_type is missing', { response_type: undefined }, 'invalid_request'],
      ['response_type is repeated', { response_type: ['code', 'code'] }, 'invalid_request'],
      ['the response type is unknown', { response_type: 'token' }, 'unsupported_response_type'],
      ['the scope is unknown', { scope: 'everything' }, 'invalid_scope'],
    ])('redirects to the client with an error when %s (AUZ-11)', async (_what, bend, error) => {
      expect(await redirected(bend)).toEqual({
        error,
        error_description: expect.any(String),
        state: good.state,
        iss: 'https://photos.example',
      })
    })

    it('answers at the only registered URI when the request names none', async () => {
      const outcome = await ask({ redirect_uri: undefined, scope: 'everything' })
      expect(outcome).toHaveProperty(
        'location',
        expect.stringMatching(/^https:\/\/printer\.example\/callback\?error=/),
      )
    })

    it('sends no state for a request without state', async () => {
      expect(await redirected({ state: undefined, scope: 'everything' })).not.toHaveProperty('state')
    })

    it('echoes no repeated state, and still sends the error [answer-4]', async () => {
      const answer = await redirected({ state: ['a', 'b'] })
      expect(answer).toMatchObject({ error: 'invalid_request' })
      expect(answer).not.toHaveProperty('state')
    })

    it('sends errors in the fragment if the response type does (AUZ-11)', async () => {
      const responseTypes = new ResponseTypes([{ ...codeResponseType, name: 'token', mode: 'fragment' }])
      const outcome = await ask({ response_type: 'token' }, { responseTypes })
      expect(outcome).toMatchObject({
        kind: 'redirect',
        error: { code: 'unauthorized_client' },
        clientId: 'photo-printer',
      })
      expect(outcome).toHaveProperty(
        'location',
        expect.stringMatching(/callback#error=unauthorized_client&.*state=/),
      )
    })

    it('asks who is logged in only for a request that is sound', async () => {
      const host = hostWhere()
      for (const bend of [{ client_id: 'nobody' }, { scope: 'everything' }, { response_type: 'x' }])
        await ask(bend, {}, host)
      expect(host.calls).toEqual([])
    })

    it('asks for a login without an owner, and stores nothing until one is logged in [consent-8]', async () => {
      const store = watchedStore()
      const host = hostWithoutOwner()
      expect(await ask({}, { store }, host)).toEqual({ kind: 'answered' })
      expect(host.calls).toEqual(['resourceOwner', 'logIn'])
      expect(store.saved).toEqual([])
    })

    it.each<[string, ServerBend, string]>([
      [
        'the store is in trouble',
        { store: { ...watchedStore(), save: () => Promise.reject(temporarilyUnavailable('x', 'y')) } },
        'temporarily_unavailable',
      ],
      [
        'the store breaks',
        { store: { ...watchedStore(), save: () => Promise.reject(new Error('secret detail')) } },
        'server_error',
      ],
      [
        'the random source repeats itself',
        { store: { ...watchedStore(), save: async () => false } },
        'server_error',
      ],
    ])('sends the client an error without detail when %s (AUZ-12)', async (_what, endpoint, error) => {
      const answer = await redirected({}, endpoint)
      expect(answer).toMatchObject({ error, state: good.state })
      expect(JSON.stringify(answer)).not.toContain('secret detail')
    })

    const broken = new Error('session store down')
    const breaks = () => Promise.reject(broken)
    it.each<[string, Host]>([
      ['cannot say who is logged in', hostWhere(undefined, { resourceOwner: breaks })],
      ['cannot log anybody in', hostWithoutOwner({ logIn: breaks })],
      ['cannot ask', hostWhere(undefined, { ask: breaks })],
    ])('sends the client an error when the host %s', async (_what, host) => {
      const outcome = await ask({}, {}, host)
      expect(outcome).toMatchObject({ kind: 'redirect', error: { code: 'server_error', cause: broken } })
      expect(outcome).not.toHaveProperty('location', expect.stringContaining('session'))
    })

    it('sends the client an OAuth error that the host throws', async () => {
      const refusal = accessDenied('too_young', 'Not at this age.')
      const host = hostWhere(undefined, { resourceOwner: () => Promise.reject(refusal) })
      expect(await redirected({}, {}, host)).toMatchObject({
        error: 'access_denied',
        error_description: 'Not at this age.',
        state: good.state,
      })
    })
  })
})

describe('authorize: the question', () => {
  const good = {
    response_type: 'code',
    client_id: 'photo-printer',
    redirect_uri: 'https://printer.example/callback',
    scope: 'photos.read',
    state: 'af0ifjsldkj',
  }

  /** The question that the request ends in. */
  async function ask(bend: Parameters<typeof parametersOf>[0], endpoint: ServerBend) {
    const host = hostWhere()
    const parameters = parametersOf({ ...good, ...bend })
    expect(await authorize(serverWith(endpoint), parameters, host)).toEqual({ kind: 'answered' })
    expect(host.calls).toEqual(['resourceOwner', 'ask'])
    const [question] = host.questions
    if (question === undefined) throw new Error('Nothing was asked.')
    return question
  }

  it('stores a pending record and asks the resource owner', async () => {
    const store = watchedStore()
    const question = await ask({}, { store })
    expect(question).toMatchObject({
      client: { client_id: 'photo-printer' },
      resourceOwner: { subject: 'alice', name: 'Alice' },
      scope: ['photos.read'],
      redirectUri: good.redirect_uri,
    })
    expect(store.saved).toEqual([
      {
        state: 'pending',
        id: expect.any(String),
        issuerDigest: ownIssuer,
        clientId: 'photo-printer',
        subject: 'alice',
        scope: ['photos.read'],
        tokenType: 'bearer',
        extensionData: {},
        request: {
          responseType: 'code',
          redirectUri: good.redirect_uri,
          redirectUriSent: true,
          requestState: good.state,
        },
        consentToken: digest(question.consentToken),
        expiresAt: noon + 600,
      },
    ])
  })

  it('is a new one each time the same request comes', async () => {
    const store = watchedStore()
    await ask({}, { store })
    await ask({}, { store })
    expect(new Set(store.saved.map((saved) => saved.id)).size).toBe(2)
  })

  it('notes that the request named no redirection URI', async () => {
    const store = watchedStore()
    await ask({ redirect_uri: undefined }, { store })
    expect(store.saved[0]).toMatchObject({
      request: { redirectUri: good.redirect_uri, redirectUriSent: false },
    })
  })

  it('stores the data of extensions, and the registered name of the response type in any order', async () => {
    const store = watchedStore()
    const extension: Extension = { name: 'resource', atAuthorizationRequest: () => ['https://a.example'] }
    const hybrid = { ...codeResponseType, name: 'code token' }
    const client = clientWith({ redirect_uris: [good.redirect_uri] })
    const findClient = clientsOf({ ...client, response_types: ['code token'] })
    await ask(
      { response_type: 'token code' },
      { store, findClient, extensions: [extension], responseTypes: new ResponseTypes([hybrid]) },
    )
    expect(store.saved[0]).toMatchObject({
      extensionData: { resource: ['https://a.example'] },
      request: { responseType: 'code token' },
    })
  })
})
