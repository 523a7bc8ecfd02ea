import {
  parseAuthorizationRequest,
  type RequestRules,
  type ResolvedRedirectUri,
} from '../../lib/authorization-endpoint/authorization-request'
import { codeResponseType, ResponseTypes } from '../../lib/authorization-endpoint/response-types'
import type { Extension } from '../../lib/protocol/extension'
import { invalidRequest } from '../../lib/protocol/host-errors'
import { clientWith } from '../support/authorization/client'
import { thrownBy } from '../support/authorization/thrown'
import { parametersOf } from '../support/rooms/parameters'

const client = clientWith()
const destination: ResolvedRedirectUri = {
  client,
  redirectUri: 'https://printer.example/callback',
  redirectUriSent: true,
}
const device = { ...codeResponseType, name: 'device' }
const rules: RequestRules = {
  responseTypes: new ResponseTypes([codeResponseType, device]),
  extensions: [],
  defaultScope: [],
}
const good = { response_type: 'code', scope: 'photos.read' }

type Values = Parameters<typeof parametersOf>[0]
const parse = (bend: Values = {}, ruled: Partial<RequestRules> = {}) =>
  parseAuthorizationRequest(destination, parametersOf({ ...good, ...bend }), { ...rules, ...ruled })

describe('parseAuthorizationRequest', () => {
  it('gives what the request asks for', () => {
    expect(parse({ scope: 'photos.write photos.read' })).toEqual({
      responseType: codeResponseType,
      scope: ['photos.write', 'photos.read'],
      extensionData: {},
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
    ['a repeated scope', { scope: ['photos.read', 'photos.read'] }, 'invalid_request', 'parameter_malformed'],
    ['a repeated state', { state: ['a', 'a'] }, 'invalid_request', 'parameter_malformed'],
  ])('refuses %s', (_what, bend, code, reason) => {
    expect(thrownBy(() => parse(bend))).toMatchObject({ code, reason })
  })

  it('takes the default for a request without scope, as far as it is the client’s', () => {
    const defaultScope = ['profile', 'photos.read']
    expect(parse({ scope: undefined }, { defaultScope }).scope).toEqual(['photos.read'])
    expect(parse({ scope: '' }, { defaultScope }).scope).toEqual(['photos.read'])
  })

  it('ignores what nobody knows, even repeated (EPT-3)', () => {
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
    const extensions = [extension({ name: '__proto__', atAuthorizationRequest: () => ({ polluted: true }) })]
    const { extensionData } = parse({}, { extensions })
    expect(Object.keys(extensionData)).toEqual(['__proto__'])
    expect(Object.getPrototypeOf(extensionData)).toBe(Object.prototype)
  })

  it('shows an extension the client and the parameters', () => {
    const atAuthorizationRequest = jest.fn(() => undefined)
    parse({ resource: 'x' }, { extensions: [extension({ atAuthorizationRequest })] })
    expect(atAuthorizationRequest).toHaveBeenCalledWith({
      client,
      parameters: expect.objectContaining({}),
      responseType: codeResponseType,
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
