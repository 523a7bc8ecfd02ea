import { tokenOf } from '../support/authorization/issue-context'
import * as fc from 'fast-check'
import {
  authorizationResponse,
  redirection,
  redirectWithError,
  type ResponseFrame,
} from '../../lib/authorization-endpoint/authorization-response'
import { authorize } from '../../lib/authorization-endpoint/authorize'
import { decide } from '../../lib/authorization-endpoint/decide'
import {
  checkedResponseType,
  implicit,
  type ResponseType,
  ResponseTypes,
} from '../../lib/authorization-endpoint/response-types'
import { issue } from '../../lib/authorization/issue'
import { accessDenied } from '../../lib/protocol/oauth-error'
import { redirectUriFault } from '../../lib/protocol/redirect-uri'
import { clientWith } from '../support/authorization/client'
import { anyText } from '../support/rooms/arbitrary-text'
import { clientsOf, serverWith, watchedStore } from '../support/rooms/endpoints'
import { parametersOf } from '../support/rooms/parameters'
import { hostWhere } from '../support/rooms/watched-host'

describe('authorization response', () => {
  const frame: ResponseFrame = {
    clientId: 'printer',
    redirectUri: 'https://printer.example/callback',
    responseType: { mode: 'query' },
    requestState: 'xyz',
    issuer: 'https://photos.example',
    errorUri: undefined,
  }
  const denied = accessDenied('owner_denied', 'No.')
  const code = 'ac_abc-_123'
  const respond = (bend: Partial<ResponseFrame>) => authorizationResponse({ ...frame, ...bend }, { code })

  const modes = ['query', 'fragment'] as const
  const anyRedirectUri = fc
    .tuple(
      fc.oneof(
        fc.webUrl({ withQueryParameters: true }),
        fc.constantFrom(
          'com.example.app:/cb',
          'a:b',
          'https://x?',
          'https://x/?a&',
          'https://x/%7e/../?a=%2F&b=+',
        ),
      ),
    )
    .map(([uri]) => uri)
    .filter((uri) => redirectUriFault(uri) === undefined)

  /** The parameters of the component that carries the answer, as a client reads them. */
  function received(location: string, mode: (typeof modes)[number]): URLSearchParams {
    const { search, hash } = new URL(location)
    return new URLSearchParams(mode === 'query' ? search : hash.slice(1))
  }

  describe('authorizationResponse', () => {
    it.each([
      ['a URI without a query', 'https://a.example/cb', 'https://a.example/cb?code=1'],
      ['a host alone', 'https://a.example', 'https://a.example?code=1'],
      ['a query', 'https://a.example/cb?x=%2F', 'https://a.example/cb?x=%2F&code=1'],
      ['an empty query', 'https://a.example/cb?', 'https://a.example/cb?code=1'],
      ['a query that ends in &', 'https://a.example/cb?x&', 'https://a.example/cb?x&code=1'],
      ['a custom scheme', 'com.example:/cb', 'com.example:/cb?code=1'],
      ['letters that URL would normalise', 'HTTPS://A.example:443/./cb', 'HTTPS://A.example:443/./cb?code=1'],
    ])('appends to %s and leaves it as it was registered (AUZ-6)', (_what, redirectUri, beginning) => {
      const location = authorizationResponse({ ...frame, redirectUri }, { code: '1' })
      expect(location).toBe(`${beginning}&state=xyz&iss=https%3A%2F%2Fphotos.example`)
    })

    it('puts the answer into the fragment where the response type wants it, and leaves the query alone (AUZ-7)', () => {
      expect(respond({ responseType: { mode: 'fragment' }, redirectUri: 'https://a.example/cb?x=1' })).toBe(
        'https://a.example/cb?x=1#code=ac_abc-_123&state=xyz&iss=https%3A%2F%2Fphotos.example',
      )
    })

    it('has no state when the request had none', () => {
      expect(respond({ requestState: undefined })).not.toContain('state')
    })

    it.each(modes)('echoes any state exactly, in the %s', (mode) => {
      fc.assert(
        fc.property(anyText, anyRedirectUri, (requestState, redirectUri) => {
          const location = respond({ responseType: { mode }, requestState, redirectUri })
          expect(received(location, mode).getAll('state').at(-1)).toBe(requestState)
        }),
      )
    })

    it.each(modes)('keeps every byte of the redirection URI before its answer, in the %s', (mode) => {
      fc.assert(
        fc.property(anyText, anyRedirectUri, (requestState, redirectUri) => {
          expect(respond({ responseType: { mode }, requestState, redirectUri }).startsWith(redirectUri)).toBe(
            true,
          )
        }),
      )
    })

    it.each(modes)('sends the parameters of the answer once each, in the %s', (mode) => {
      fc.assert(
        fc.property(anyText, (requestState) => {
          const names = [...received(respond({ responseType: { mode }, requestState }), mode).keys()]
          expect(names).toEqual(['code', 'state', 'iss'])
        }),
      )
    })

    it('names the issuer in every answer (RFC 9207) [answer-2]', () => {
      fc.assert(
        fc.property(
          fc.constantFrom(...modes),
          fc.option(anyText, { nil: undefined }),
          (mode, requestState) => {
            const answers = [
              respond({ responseType: { mode }, requestState }),
              redirectWithError({ ...frame, responseType: { mode }, requestState }, denied).location,
            ]
            for (const location of answers)
              expect(received(location, mode).get('iss')).toBe('https://photos.example')
          },
        ),
      )
    })

    it('writes nothing that could end the header [redirect-20]', () => {
      fc.assert(
        fc.property(anyText, (requestState) => {
          expect(respond({ requestState })).toMatch(/^[\x21-\x7E]+$/)
        }),
      )
    })
  })

  describe('redirectWithError', () => {
    const error = accessDenied('owner_denied', 'The resource owner denied the request.')

    it.each(modes)('sends code and description, not the reason, in the %s (AUZ-11)', (mode) => {
      const { location } = redirectWithError({ ...frame, responseType: { mode } }, error)
      expect(Object.fromEntries(received(location, mode))).toEqual({
        error: 'access_denied',
        error_description: 'The resource owner denied the request.',
        state: 'xyz',
        iss: 'https://photos.example',
      })
      expect(location).not.toContain('owner_denied')
    })
  })

  describe('redirection and redirectWithError', () => {
    it.each([
      [undefined, 'location'],
      [{ mode: 'fragment' }, 'location'],
      [{ mode: 'fragment', redirectBy: 'page' }, 'page'],
    ] as const)('of the response type %j: the user agent is sent on by %s', (responseType, redirectBy) => {
      const bent = { ...frame, responseType }
      expect(redirection(bent, { code })).toEqual({
        kind: 'redirect',
        location: authorizationResponse(bent, { code }),
        redirectBy,
        error: undefined,
        clientId: 'printer',
      })
      expect(redirectWithError(bent, denied)).toMatchObject({
        location: expect.stringMatching(
          responseType === undefined ? /\?error=access_denied&/ : /#error=access_denied&/,
        ),
        redirectBy,
        error: denied,
        clientId: 'printer',
      })
    })
  })
})

/** What the client is told after alice has approved a request of this response type. */
async function approved(type: ResponseType) {
  const store = watchedStore()
  const client = { ...clientWith(), response_types: [type.name] }
  const responseTypes = new ResponseTypes([checkedResponseType(type)])
  const endpoint = serverWith({ store, responseTypes, findClient: clientsOf(client) })
  const host = hostWhere()
  const request = { response_type: type.name, client_id: client.client_id, scope: 'photos.read' }
  await authorize(endpoint, parametersOf(request), host)
  const consentToken = host.questions[0]?.consentToken ?? ''
  const owner = { subject: 'alice', login: undefined, ownerReadAt: endpoint.now() }
  const decision = { ...owner, consentToken, approved: true }
  const outcome = await decide(endpoint, decision)
  if (outcome.kind !== 'redirect') throw new Error(`The client is told nothing: ${outcome.kind}.`)
  const { hash, search } = new URL(outcome.location)
  return { store, outcome, fragment: new URLSearchParams(hash.slice(1)), query: new URLSearchParams(search) }
}

const greedy: ResponseType = {
  ...implicit(),
  approve(pending, context) {
    const { authorization } = implicit().approve(pending, context)
    if (authorization.state !== 'active') throw new Error('The implicit grant issues at once.')
    return { ...issue(authorization, tokenOf(pending.scope), true, context), parameters: {} }
  },
}

describe('the result of a response type', () => {
  type Result = ReturnType<ResponseType['approve']>
  const returning = (change: (result: Result) => object): ResponseType => ({
    ...implicit(),
    approve(pending, context) {
      const result = implicit().approve(pending, context)
      return { ...result, ...change(result) }
    },
  })

  it.each<[string, (result: Result) => object]>([
    ['no record', () => ({ authorization: undefined })],
    [
      'the record of another request',
      ({ authorization }) => ({ authorization: { ...authorization, id: 'x' } }),
    ],
    [
      'the record of another client',
      ({ authorization }) => ({ authorization: { ...authorization, clientId: 'x' } }),
    ],
    [
      'the record of another owner',
      ({ authorization }) => ({ authorization: { ...authorization, subject: 'bob' } }),
    ],
    ['no parameters', () => ({ parameters: undefined })],
    ['parameters that are no texts', () => ({ parameters: { code: 7 } })],
    ['a token that is a text', () => ({ issued: 'at_x' })],
  ])('gives server_error for %s, and nothing is saved', async (_what, change) => {
    const { store, fragment } = await approved(returning(change))
    expect(fragment.get('error')).toBe('server_error')
    expect(store.saved).toHaveLength(1)
  })
})

describe('an access token in the answer of the authorization endpoint', () => {
  it('is written as in a token response, in the write of the approval (AUZ-7)', async () => {
    const { store, fragment } = await approved(implicit())
    expect(Object.fromEntries(fragment)).toEqual({
      access_token: expect.stringMatching(/^at_/),
      token_type: 'bearer',
      expires_in: '3600',
      scope: 'photos.read',
      iss: 'https://photos.example',
    })
    expect(store.saved.map(({ state }) => state)).toEqual(['pending', 'active'])
  })

  it('never comes with a refresh token, whatever the response type issues (AUZ-8)', async () => {
    const { fragment } = await approved(greedy)
    expect(fragment.has('access_token')).toBe(true)
    expect(fragment.has('refresh_token')).toBe(false)
  })

  it('is never put into a query: the client gets server_error, and nothing is saved [implicit-2]', async () => {
    const { store, outcome, query } = await approved({ ...implicit(), mode: 'query' })
    expect(query.get('error')).toBe('server_error')
    expect(outcome.location).not.toContain('access_token')
    expect(store.saved).toHaveLength(1)
  })
})

describe('ResponseTypes', () => {
  const typeOf = (name: string): ResponseType => ({
    name,
    grantTypes: [],
    mode: 'query',
    approve: () => {
      throw new Error('Not asked for here.')
    },
  })
  const code = typeOf('code')
  const three = typeOf('code id_token token')
  const types = new ResponseTypes([code, three])

  it('knows a type by its name', () => {
    expect(types.get('code')).toBe(code)
  })

  it.each([
    'code id_token token',
    'code token id_token',
    'id_token code token',
    'id_token token code',
    'token code id_token',
    'token id_token code',
  ])('takes the values in any order: %s (AUZ-5)', (name) => {
    expect(types.get(name)).toBe(three)
  })

  it('takes any order in a registered name, too', () => {
    const turned = typeOf('token code')
    expect(new ResponseTypes([turned]).get('code token')).toBe(turned)
  })

  it.each([
    '',
    ' ',
    'Code',
    'CODE',
    ' code',
    'code ',
    'code code',
    'token',
    'code token',
    'code  id_token token',
    'code\tid_token\ttoken',
    'code,id_token,token',
    'code id_token token token',
    'constructor',
    '__proto__',
    'toString',
  ])('does not know %j', (name) => {
    expect(types.get(name)).toBeUndefined()
  })
})
