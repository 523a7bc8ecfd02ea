import type { ErrorRequestHandler } from 'express'
import * as fc from 'fast-check'
import { type ClientRegistration, type Extension, implicit, type ResponseType } from '../../lib/index'
import type { ClientStore } from '../../lib/paths/registration'
import type { Mount } from '../support/flows/application'
import { bent, photoBook, photoPrint } from '../support/flows/clients'
import { authorizationRequest, formOf } from '../support/flows/flow'
import { setStage } from '../support/flows/stage'
import { outcomeOf } from '../support/flows/outcome'
import { wholeText } from '../support/any-text'

const asked = authorizationRequest(photoPrint)
const uris = [
  'https://print.example/callback',
  'https://print.example',
  'https://print.example/cb?x=%2F',
  'https://print.example/cb?',
  'https://print.example/cb?x&',
  'HTTPS://Print.example:443/./cb',
  'https://print.example/%7e/../?a=%2F&b=+',
  'com.example.print:/cb',
]
const client = bent(photoPrint, { redirect_uris: uris })
const clients = [client.registration]
const modes = ['query', 'fragment'] as const
const locationOf = (response: { readonly headers: Readonly<Record<string, string>> }) =>
  response.headers['location'] ?? ''

describe('The answer of the authorization endpoint', () => {
  test('repeats any state, names the issuer, and keeps every byte of the URI and the header whole [answer-2, redirect-20]', async () => {
    const { flow } = setStage({ clients })
    const awkward = fc.constantFrom(...':%+ &=#?/'.split(''), '%41', '%zz', '\0', '\r\n', 'é', '🔑', '\u202e')
    const text = fc.array(fc.oneof(awkward, wholeText({ maxLength: 3 })), { maxLength: 8 })
    const web = fc.constantFrom(...uris.filter((uri) => /^https:/i.test(uri)))
    await fc.assert(
      fc.asyncProperty(text, web, fc.constantFrom(...modes), async (pieces, redirect_uri, response_mode) => {
        const state = `s${pieces.join('')}`
        const bend = { redirect_uri, response_mode, state, scope: 'unheard-of' }
        const location = locationOf(await flow.ask({ ...authorizationRequest(client), ...bend }, 'alice'))
        expect(location).toMatch(/^[\x21-\x7E]+$/)
        expect(location.startsWith(redirect_uri)).toBe(true)
        const { search, hash } = new URL(location)
        const told = [...new URLSearchParams(response_mode === 'query' ? search : hash.slice(1))].slice(-4)
        expect(told).toEqual([
          ['error', 'invalid_scope'],
          ['error_description', expect.any(String)],
          ['state', state],
          ['iss', 'http://localhost'],
        ])
      }),
      { numRuns: 100, seed: 6 },
    )
  })

  test('has no state of a request that has two, and still tells the error [answer-4]', async () => {
    const { flow } = setStage()
    const location = locationOf(await flow.ask(`${formOf(asked)}&state=b`, 'alice'))
    const { searchParams } = new URL(location)
    expect([searchParams.get('error'), searchParams.has('state')]).toEqual(['invalid_request', false])
  })

  test.each([
    [undefined, 600],
    [5, 5],
  ])(
    'comes in time only: with the lifetime %p, a decision gives nothing after %d seconds [consent-27]',
    async (lifetime, seconds) => {
      const lifetimes = lifetime === undefined ? {} : { authorizationRequest: lifetime }
      const { flow, clock } = setStage({ lifetimes })
      const [first, second] = [await flow.ask(asked, 'alice'), await flow.ask(asked, 'alice')]
      clock.advance(seconds - 1)
      expect(outcomeOf(await flow.decide(first, 'approve', 'alice'))).toBe('redirect code')
      clock.advance(1)
      for (const decision of ['approve', 'deny'])
        expect(outcomeOf(await flow.decide(second, decision, 'alice'))).toBe('page 400 invalid_request')
    },
  )

  test('is a login where no owner is logged in, and nothing is stored until one is [consent-8, store-2]', async () => {
    const { flow, store } = setStage()
    expect(outcomeOf(await flow.ask(asked))).toBe('login')
    expect(store.calls.write).toBe(0)
    expect(outcomeOf(await flow.ask(asked, 'alice'))).toBe('question')
    expect(store.calls.write).toBe(1)
  })

  /** A failure of the server gets to the error handling of the host. */
  const mount: Mount = (app, oauth) => {
    const ofHost: ErrorRequestHandler = (_error, _request, response, _next) => void response.sendStatus(500)
    app.use(oauth.router(), ofHost)
  }
  const broken: ClientRegistration = { ...photoPrint.registration, client_name: '', scope: 'secret detail' }
  test.each<[string, ClientStore['find'], number, string]>([
    ['breaks', () => Promise.reject(new TypeError('secret detail')), 503, 'store_unavailable'],
    ['hangs', () => new Promise<undefined>(() => undefined), 503, 'store_unavailable'],
    ['finds a client that cannot be', async () => broken, 500, 'unexpected'],
    [
      'finds another client than it was asked for [client-25]',
      async () => ({ ...photoPrint.registration, client_id: 'PHOTO-PRINT' }),
      400,
      'client_unknown',
    ],
  ])(
    'is a page without a detail, and nothing for the client, where the store of clients %s [input-13]',
    async (_how, find, status, reason) => {
      const { flow, failures } = setStage({ clients: { find }, storeDeadline: 0.1 }, { mount })
      const page = await flow.ask(asked, 'alice')
      expect([page.status, page.headers['location']]).toEqual([status, undefined])
      expect(page.text).not.toContain('secret detail')
      expect(failures).toMatchObject([{ reason }])
    },
  )
})

// A method, not a function type: so the checker lets through what a host wrote in JavaScript.
const javascript: { pass(value: unknown): never } = { pass: (value: never) => value }

describe('A host that answers with what cannot be is a failure of the server, and nothing is saved:', () => {
  const fact = { name: 'resource', label: 'Access to', values: [{ value: 'a', description: 'A' }] }

  test.each([
    [null],
    [true],
    [{ scopes: ['photos:read'] }],
    [{ scope: 'photos:read' }],
    [{ scope: ['reports:write'] }],
    [{ facts: fact }],
    [{ facts: [{ ...fact, label: '' }] }],
    [{ facts: [{ ...fact, values: ['a'] }] }],
    [{ facts: [{ ...fact, values: [{ value: 'a' }] }] }],
    [{ data: 'a'.repeat(16_384) }],
    [{ login: { maxAge: '60' } }],
    [{ login: { acrValues: 'gold' } }],
  ])('an extension at a request, with %j, at once or later', async (terms) => {
    for (const answer of [terms, Promise.resolve(terms)]) {
      const extension: Extension = { name: 'x', authorize: () => javascript.pass(answer) }
      const { flow, store } = setStage({ plugins: [extension] })
      expect(outcomeOf(await flow.ask(asked, 'alice'))).toBe('redirect server_error')
      expect(store.calls.write).toBe(0)
    }
  })

  type Result = ReturnType<ResponseType['approve']>
  const [token] = implicit().responseTypes
  const answering = (change: (result: Result) => object): ResponseType => ({
    ...token,
    approve(pending, context) {
      const result = token.approve(pending, context)
      return javascript.pass({ ...result, ...change(result) })
    },
  })

  test.each<[string, ResponseType]>([
    ['null', { ...token, approve: () => javascript.pass(null) }],
    ['no record', answering(() => ({ authorization: undefined }))],
    ['another request', answering(({ authorization }) => ({ authorization: { ...authorization, id: 'x' } }))],
    [
      'another client',
      answering(({ authorization }) => ({ authorization: { ...authorization, clientId: 'x' } })),
    ],
    [
      'another owner',
      answering(({ authorization }) => ({ authorization: { ...authorization, subject: 'bob' } })),
    ],
    ['no parameters', answering(() => ({ parameters: undefined }))],
    ['parameters that are no texts', answering(() => ({ parameters: { code: 7 } }))],
    ['a token that is a text', answering(() => ({ issued: 'at_x' }))],
    ['a token for the query of the URI [implicit-2]', { ...token, mode: 'query' }],
  ])('a response type, with %s', async (_what, responseType) => {
    const slideshow = bent(photoBook, { grant_types: ['implicit'], response_types: ['token'] })
    const { flow, store } = setStage({
      clients: [slideshow.registration],
      plugins: [{ name: 'host-response-types', responseTypes: [responseType] }],
    })
    const request = { ...authorizationRequest(slideshow), response_type: 'token' }
    const response = await flow.decide(await flow.ask(request, 'alice'), 'approve', 'alice')
    expect(locationOf(response)).toMatch(/[?#]error=server_error&/)
    expect(locationOf(response)).not.toContain('access_token')
    expect(store.calls.write).toBe(1)
  })
})

test('An extension sees sound requests only, and what each has to say reaches the next', async () => {
  const seen: unknown[] = []
  const narrowing: Extension = { name: 'first', authorize: async () => ({ scope: ['photos:read'] }) }
  const watching: Extension = {
    name: 'last',
    authorizationParameters: ['album'],
    authorize: ({ parameters, scope }) =>
      void seen.push({ scope, asked: parameters.get('scope'), album: parameters.get('album') }),
  }
  const { flow } = setStage({ plugins: [narrowing, watching] })
  for (const bend of [{ response_type: 'x' }, { scope: 'x' }, { album: ['a', 'b'] }])
    await flow.ask({ ...asked, ...bend }, 'alice')
  expect(seen).toEqual([])
  expect(outcomeOf(await flow.ask({ ...asked, album: 'holidays' }, 'alice'))).toBe('question')
  expect(seen).toEqual([
    {
      scope: ['photos:read'],
      asked: 'photos:read photos:print',
      album: 'holidays',
    },
  ])
})
