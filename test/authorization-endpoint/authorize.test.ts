import { type AuthorizationEndpoint, authorize, type Host } from '../../lib/authorization-endpoint/authorize'
import { codeResponseType, ResponseTypes } from '../../lib/authorization-endpoint/response-types'
import { digest } from '../../lib/protocol/credential'
import type { Extension } from '../../lib/protocol/extension'
import { accessDenied, temporarilyUnavailable } from '../../lib/protocol/host-errors'
import { clientWith } from '../support/authorization/client'
import { noon, ownIssuer } from '../support/authorization/issue-context'
import { authorizationEndpoint, clientsOf, watchedStore } from '../support/rooms/endpoints'
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
  const ask = (bend: Values = {}, endpoint: Partial<AuthorizationEndpoint> = {}, host: Host = hostWhere()) =>
    authorize(authorizationEndpoint(endpoint), parametersOf({ ...good, ...bend }), host)

  /** The parameters of the redirect that the request ends in. */
  async function told(...request: Parameters<typeof ask>): Promise<Record<string, string>> {
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
    ])('tells the resource owner of %s and redirects nowhere (AUZ-10)', async (_what, bend) => {
      const outcome = await ask({ ...bend, response_type: 'wrong', scope: 'wrong' })
      expect(outcome).toMatchObject({ kind: 'refused', error: { code: 'invalid_request' } })
      expect(outcome).not.toHaveProperty('location')
    })

    it('tells the resource owner when the store of clients is in trouble', async () => {
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
    ])('tells the client by redirect when %s (AUZ-11)', async (_what, bend, error) => {
      expect(await told(bend)).toEqual({
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

    it('tells a request without state nothing of state', async () => {
      expect(await told({ state: undefined, scope: 'everything' })).not.toHaveProperty('state')
    })

    it('echoes no state that is repeated, and still tells the error [answer-4]', async () => {
      const answer = await told({ state: ['a', 'b'] })
      expect(answer).toMatchObject({ error: 'invalid_request' })
      expect(answer).not.toHaveProperty('state')
    })

    it('tells errors in the fragment where the response type answers there (AUZ-11)', async () => {
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

    it('sends nobody to the login, and keeps nothing until somebody is there [consent-8]', async () => {
      const store = watchedStore()
      const host = hostWithoutOwner()
      expect(await ask({}, { store }, host)).toEqual({ kind: 'answered' })
      expect(host.calls).toEqual(['resourceOwner', 'logIn'])
      expect(store.saved).toEqual([])
    })

    it.each<[string, Partial<AuthorizationEndpoint>, string]>([
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
    ])('tells the client when %s, without detail (AUZ-12)', async (_what, endpoint, error) => {
      const answer = await told({}, endpoint)
      expect(answer).toMatchObject({ error, state: good.state })
      expect(JSON.stringify(answer)).not.toContain('secret detail')
    })

    const broken = new Error('session store down')
    const breaks = () => Promise.reject(broken)
    it.each<[string, Host]>([
      ['cannot say who is logged in', hostWhere(undefined, { resourceOwner: breaks })],
      ['cannot log anybody in', hostWithoutOwner({ logIn: breaks })],
      ['cannot ask', hostWhere(undefined, { ask: breaks })],
    ])('tells the client when the host %s', async (_what, host) => {
      const outcome = await ask({}, {}, host)
      expect(outcome).toMatchObject({ kind: 'redirect', error: { code: 'server_error', cause: broken } })
      expect(outcome).not.toHaveProperty('location', expect.stringContaining('session'))
    })

    it('tells the client what the host refuses in words of the framework', async () => {
      const refusal = accessDenied('too_young', 'Not at this age.')
      const host = hostWhere(undefined, { resourceOwner: () => Promise.reject(refusal) })
      expect(await told({}, {}, host)).toMatchObject({
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
  async function ask(bend: Parameters<typeof parametersOf>[0], endpoint: Partial<AuthorizationEndpoint>) {
    const host = hostWhere()
    const parameters = parametersOf({ ...good, ...bend })
    expect(await authorize(authorizationEndpoint(endpoint), parameters, host)).toEqual({ kind: 'answered' })
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
        handle: digest(question.handle),
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

  it('keeps what extensions learned, and the name of the response type whatever the order asked for', async () => {
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
