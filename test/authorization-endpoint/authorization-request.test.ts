import {
  parseAuthorizationRequest,
  type ResolvedRedirectUri,
  resolveRedirectUri,
} from '../../lib/authorization-endpoint/authorization-request'
import { codeResponseType, ResponseTypes } from '../../lib/authorization-endpoint/response-types'
import type { Extension } from '../../lib/protocol/extension'
import { invalidRequest } from '../../lib/protocol/host-errors'
import { temporarilyUnavailable } from '../../lib/protocol/oauth-error'
import { clientWith } from '../support/authorization/client'
import { thrownBy } from '../support/authorization/thrown'
import { clientsOf, type ServerBend, serverWith } from '../support/rooms/endpoints'
import { parametersOf } from '../support/rooms/parameters'
import { refusalOf } from '../support/rooms/refused'

describe('authorization request', () => {
  const client = clientWith()
  const destination: ResolvedRedirectUri = {
    client,
    redirectUri: 'https://printer.example/callback',
    redirectUriSent: true,
  }
  const device = { ...codeResponseType, name: 'device' }
  const responseTypes = new ResponseTypes([codeResponseType, device])
  const good = { response_type: 'code', scope: 'photos.read' }

  type Values = Parameters<typeof parametersOf>[0]
  const parseEventually = (bend: Values = {}, ruled: ServerBend = {}) =>
    parseAuthorizationRequest(
      destination,
      parametersOf({ ...good, ...bend }),
      serverWith({ responseTypes, ...ruled }),
    )
  /** The result at once: only an extension that waits makes the server wait. */
  const parse = (...given: Parameters<typeof parseEventually>) => {
    const parsed = parseEventually(...given)
    if (parsed instanceof Promise) throw new Error('The server waits.')
    return parsed
  }

  describe('parseAuthorizationRequest', () => {
    it('gives what the request asks for', () => {
      expect(parse({ scope: 'photos.write photos.read' })).toEqual({
        responseType: codeResponseType,
        scope: ['photos.write', 'photos.read'],
        extensionData: {},
        facts: [],
      })
    })

    it.each<[string, Values, string, string]>([
      ['no response_type', { response_type: undefined }, 'invalid_request', 'parameter_missing'],
      ['an empty response_type', { response_type: '' }, 'invalid_request', 'parameter_missing'],
      [
        'an unknown response_type',
        { response_type: 'token' },
        'unsupported_response_type',
        'response_type_unknown',
      ],
      [
        'a response_type in other case',
        { response_type: 'Code' },
        'unsupported_response_type',
        'response_type_unknown',
      ],
      [
        'a response_type that is not this client’s',
        { response_type: 'device' },
        'unauthorized_client',
        'response_type_not_registered',
      ],
      ['no scope where there is no default', { scope: undefined }, 'invalid_scope', 'scope_missing'],
      ['a malformed scope', { scope: 'photos.read  photos.write' }, 'invalid_scope', 'scope_malformed'],
      ['an unknown scope', { scope: 'photos.print' }, 'invalid_scope', 'scope_not_allowed'],
      [
        'a scope that is not this client’s',
        { scope: 'photos.read profile' },
        'invalid_scope',
        'scope_not_allowed',
      ],
      [
        'a repeated response_type',
        { response_type: ['code', 'code'] },
        'invalid_request',
        'parameter_malformed',
      ],
      [
        'a repeated scope',
        { scope: ['photos.read', 'photos.read'] },
        'invalid_request',
        'parameter_malformed',
      ],
      ['a repeated state', { state: ['a', 'a'] }, 'invalid_request', 'parameter_malformed'],
    ])('refuses %s', (_what, bend, code, reason) => {
      expect(thrownBy(() => parse(bend))).toMatchObject({ code, reason })
    })

    it('takes the default for a request without scope, as far as it is the client’s', () => {
      const defaultScope = ['profile', 'photos.read']
      expect(parse({ scope: undefined }, { defaultScope }).scope).toEqual(['photos.read'])
      expect(parse({ scope: '' }, { defaultScope }).scope).toEqual(['photos.read'])
    })

    it('ignores unknown parameters, even repeated (EPT-3)', () => {
      expect(() => parse({ display: ['page', 'popup'], 'response_type[]': 'token' })).not.toThrow()
    })
  })

  const extension = (bend: Partial<Extension> = {}): Extension => ({
    name: 'resource',
    authorizationParameters: ['resource'],
    atAuthorizationRequest: ({ parameters }) => parameters.get('resource'),
    ...bend,
  })

  describe('parseAuthorizationRequest: extensions', () => {
    it('keeps what each extension learned, under its name', () => {
      const extensions = [extension(), extension({ name: 'copy' }), { name: 'idle' }]
      expect(parse({ resource: 'https://a.example' }, { extensions }).extensionData).toEqual({
        resource: 'https://a.example',
        copy: 'https://a.example',
      })
    })

    it('keeps nothing of an extension that learned nothing', () => {
      expect(parse({}, { extensions: [extension()] }).extensionData).toEqual({})
    })

    it.each([null, false, 0, ''])('keeps %j, which is not nothing', (value) => {
      const extensions = [extension({ atAuthorizationRequest: () => value })]
      expect(parse({}, { extensions }).extensionData).toEqual({ resource: value })
    })

    it('keeps what an extension of the name __proto__ learned, and changes no prototype', () => {
      const extensions = [
        extension({ name: '__proto__', atAuthorizationRequest: () => ({ polluted: true }) }),
      ]
      const { extensionData } = parse({}, { extensions })
      expect(Object.keys(extensionData)).toEqual(['__proto__'])
      expect(Object.getPrototypeOf(extensionData)).toBe(Object.prototype)
    })

    it('shows an extension the client, the parameters, the scope and the way of the response', () => {
      const atAuthorizationRequest = jest.fn(() => undefined)
      parse({ resource: 'x' }, { extensions: [extension({ atAuthorizationRequest })] })
      expect(atAuthorizationRequest).toHaveBeenCalledWith({
        client,
        parameters: expect.objectContaining({}),
        responseType: codeResponseType,
        redirectUri: 'https://printer.example/callback',
        scope: ['photos.read'],
      })
    })

    it('refuses a repeated parameter of an extension, before the extension sees the request', () => {
      const atAuthorizationRequest = jest.fn(() => undefined)
      const extensions = [extension({ atAuthorizationRequest })]
      expect(thrownBy(() => parse({ resource: ['a', 'b'] }, { extensions }))).toHaveProperty(
        'reason',
        'parameter_malformed',
      )
      expect(atAuthorizationRequest).not.toHaveBeenCalled()
    })

    it('asks extensions last: they see sound requests only', () => {
      const atAuthorizationRequest = jest.fn(() => undefined)
      const extensions = [extension({ atAuthorizationRequest })]
      for (const bend of [{ response_type: 'x' }, { response_type: 'device' }, { scope: 'x' }])
        expect(thrownBy(() => parse(bend, { extensions }))).toBeDefined()
      expect(atAuthorizationRequest).not.toHaveBeenCalled()
    })

    it('refuses as an extension refuses', () => {
      const refusal = invalidRequest('resource_unknown', 'The resource is unknown.')
      const refuse = () => {
        throw refusal
      }
      expect(thrownBy(() => parse({}, { extensions: [extension({ atAuthorizationRequest: refuse })] }))).toBe(
        refusal,
      )
    })
  })

  // An extension in JavaScript may return anything.
  const consenting = (terms: object | boolean | null | undefined, name = 'resource'): Extension => {
    const consented = { name, atConsent: jest.fn() }
    consented.atConsent.mockReturnValue(terms)
    return consented
  }

  describe('parseAuthorizationRequest: what the owner approves', () => {
    const fact = { name: 'resource', label: 'Access to', values: [{ value: 'a', description: 'A' }] }
    const whole = { scope: 'photos.read photos.write' }

    it('is narrowed from extension to extension, and each adds its facts', () => {
      const last = jest.fn(() => ({ facts: [fact] }))
      const first = consenting({ scope: ['photos.read', 'photos.read'], facts: [fact] })
      const extensions = [first, consenting(undefined, 'idle'), { ...extension(), atConsent: last }]
      const { scope, facts } = parse({ ...whole, resource: 'x' }, { extensions })
      expect(scope).toEqual(['photos.read'])
      expect(facts).toEqual([fact, fact])
      expect(last).toHaveBeenCalledWith(
        expect.objectContaining({
          scope: ['photos.read'],
          requestedScope: ['photos.read', 'photos.write'],
          authorizationData: 'x',
        }),
      )
    })

    it('has no requested scope if the request names none', () => {
      const atConsent = jest.fn(() => undefined)
      parse({ scope: undefined }, { extensions: [{ name: 'x', atConsent }], defaultScope: ['photos.read'] })
      expect(atConsent).toHaveBeenCalledWith(
        expect.objectContaining({ scope: ['photos.read'], requestedScope: undefined }),
      )
    })

    it('is never an empty scope', () => {
      const extensions = [consenting({ scope: [] })]
      expect(thrownBy(() => parse({}, { extensions }))).toMatchObject({ code: 'invalid_scope' })
    })

    it.each([
      [null],
      [true],
      [{ scopes: ['photos.read'] }],
      [{ scope: 'photos.read' }],
      [{ scope: ['photos.write'] }],
      [{ facts: fact }],
      [{ facts: [{ ...fact, label: '' }] }],
      [{ facts: [{ ...fact, values: ['a'] }] }],
      [{ facts: [{ ...fact, values: [{ value: 'a' }] }] }],
    ])('is a fault of the server if an extension returns %j', (terms) => {
      expect(() => parse({}, { extensions: [consenting(terms)] })).toThrow(TypeError)
      const late = parseEventually({}, { extensions: [consenting(Promise.resolve(terms))] })
      return expect(late).rejects.toThrow(TypeError)
    })

    it('may come late: the extensions still have their say in order', async () => {
      const last = jest.fn(() => ({ facts: [fact] }))
      const extensions = [
        consenting(Promise.resolve({ scope: ['photos.read'] })),
        consenting(Promise.resolve(undefined), 'idle'),
        { name: 'last', atConsent: last },
      ]
      const { scope, facts } = await parseEventually(whole, { extensions })
      expect([scope, facts]).toEqual([['photos.read'], [fact]])
      expect(last).toHaveBeenCalledWith(expect.objectContaining({ scope: ['photos.read'] }))
    })
  })
})

describe('resolveRedirectUri', () => {
  const callback = 'https://printer.example/callback'
  const second = 'https://printer.example/second?tenant=7'
  const single = clientWith()
  const several = clientWith({ client_id: 'several', redirect_uris: [callback, second] })
  const serviceOnly = clientWith({
    client_id: 'service',
    redirect_uris: [],
    grant_types: ['client_credentials'],
    response_types: [],
  })
  const partial = clientWith({ client_id: 'partial', dynamic_redirect_query: true })
  const native = clientWith({
    client_id: 'native',
    client_type: 'public',
    client_secret_hashes: undefined,
    redirect_uris: ['http://127.0.0.1:7000/callback'],
    loopback_redirect_uris: true,
  })
  const findClient = clientsOf(single, several, serviceOnly, partial, native)

  type Values = Parameters<typeof parametersOf>[0]
  const settle = (values: Values) => resolveRedirectUri(parametersOf(values), findClient)

  it('takes a registered redirection URI and notes that it was sent', async () => {
    await expect(settle({ client_id: 'photo-printer', redirect_uri: callback })).resolves.toEqual({
      client: single,
      redirectUri: callback,
      redirectUriSent: true,
    })
  })

  it.each([undefined, ''])(
    'takes the only registered one when the request has %j (RED-3)',
    async (redirect_uri) => {
      await expect(settle({ client_id: 'photo-printer', redirect_uri })).resolves.toEqual({
        client: single,
        redirectUri: callback,
        redirectUriSent: false,
      })
    },
  )

  it('takes the only one of a native client, which is complete, when the request has none (RED-3)', async () => {
    await expect(settle({ client_id: 'native' })).resolves.toMatchObject({
      redirectUri: 'http://127.0.0.1:7000/callback',
      redirectUriSent: false,
    })
  })

  it.each([
    ['partial', `${callback}?a=b`],
    ['native', 'http://127.0.0.1:7001/callback'],
  ])('takes it for client %s as the request has it: %s', async (client_id, redirect_uri) => {
    await expect(settle({ client_id, redirect_uri })).resolves.toMatchObject({
      redirectUri: redirect_uri,
      redirectUriSent: true,
    })
  })

  it.each([callback, second])('takes %s, one of several', async (redirect_uri) => {
    await expect(settle({ client_id: 'several', redirect_uri })).resolves.toHaveProperty(
      'redirectUri',
      redirect_uri,
    )
  })

  it.each([
    ['several', 'of several that the request does not choose from (RED-2)'],
    ['service', 'that is not registered at all (REG-8)'],
    ['partial', 'that is registered in part (RED-2)'],
  ])('refuses client %s: a redirection URI %s', async (client_id) => {
    expect(await refusalOf(settle({ client_id }))).toEqual({
      code: 'invalid_request',
      reason: 'redirect_uri_missing',
    })
  })

  it.each([
    `${callback}/`,
    `${callback}?`,
    `${callback}?x=1`,
    `${callback}#`,
    `${callback}/../callback`,
    ` ${callback}`,
    'https://printer.example/Callback',
    'https://printer.example/callbac',
    'https://printer.example/%63allback',
    'https://printer.example:443/callback',
    'https://PRINTER.example/callback',
    'HTTPS://printer.example/callback',
    'https://printer.example.evil.example/callback',
    'https://user@printer.example/callback',
    'http://printer.example/callback',
    second,
    'javascript:alert(1)',
    '/callback',
    'x',
  ])('refuses %j, which is not the registered one letter by letter (RED-1)', async (redirect_uri) => {
    expect(await refusalOf(settle({ client_id: 'photo-printer', redirect_uri }))).toEqual({
      code: 'invalid_request',
      reason: 'redirect_uri_mismatch',
    })
  })

  it('refuses a redirection URI of another client', async () => {
    const other = clientWith({ client_id: 'other', redirect_uris: ['https://other.example/'] })
    const request = parametersOf({ client_id: 'photo-printer', redirect_uri: 'https://other.example/' })
    expect(await refusalOf(resolveRedirectUri(request, clientsOf(single, other)))).toHaveProperty(
      'reason',
      'redirect_uri_mismatch',
    )
  })

  it.each<[string, Values, string]>([
    ['no client_id', {}, 'parameter_missing'],
    ['an empty client_id', { client_id: '' }, 'parameter_missing'],
    ['an unknown client', { client_id: 'nobody', redirect_uri: callback }, 'client_unknown'],
    ['a client_id in other case', { client_id: 'Photo-Printer' }, 'client_unknown'],
    ['a repeated client_id', { client_id: ['photo-printer', 'photo-printer'] }, 'parameter_malformed'],
    [
      'a repeated redirect_uri',
      { client_id: 'photo-printer', redirect_uri: [callback, callback] },
      'parameter_malformed',
    ],
  ])('refuses %s', async (_what, values, reason) => {
    expect(await refusalOf(settle(values))).toEqual({ code: 'invalid_request', reason })
  })

  it('does not ask for a client when the redirect_uri is malformed already', async () => {
    const find = jest.fn(findClient)
    await refusalOf(
      resolveRedirectUri(parametersOf({ client_id: 'several', redirect_uri: ['a', 'b'] }), find),
    )
    expect(find).not.toHaveBeenCalled()
  })

  it('passes on an error of the store of clients', async () => {
    const trouble = temporarilyUnavailable('store_unavailable', 'x')
    const attempt = resolveRedirectUri(parametersOf({ client_id: 'several' }), () => Promise.reject(trouble))
    await expect(attempt).rejects.toBe(trouble)
  })
})
