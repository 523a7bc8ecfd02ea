import { whoami } from '../../docs/examples/whoami'
import { MemoryStore } from 'express-rate-limit'
import { generateClientSecret } from '../../lib/client-authentication/client-secret'
import { implicit } from '../../lib/authorization-endpoint/response-types'
import type { AuthorizationServerOptions } from '../../lib/config/options'
import { resolveOptions } from '../../lib/config/resolve-options'
import { ConfigurationError } from '../../lib/primitives/options-reader'
import { memoryCounters } from '../../lib/stores/memory-counters'
import { memoryDynamicClients } from '../../lib/stores/memory-dynamic-clients'
import { memoryStore } from '../../lib/stores/memory-store'
import { bearer } from '../../lib/extensions/token-types/bearer'
import { mac } from '../../lib/extensions/token-types/mac'
import { issuesIn, mistakesWith } from '../support/rooms/mistakes'
import { optionsWith } from '../support/rooms/registrations'
import { signedFormat } from '../support/flows/signed-format'

const signed = signedFormat('signed')

const voucher = { name: 'urn:example:voucher', parameters: ['voucher'], handle: async () => ({}) }

const noText = [null, 7, true, {}, [], () => '', ''] as const
const noFunction = [null, 7, true, {}, [], '/login', ''] as const
const noSeconds = [null, '60', true, {}, NaN, Infinity, -1, 1.5, 2 ** 53] as const

const pathOption = {
  wrong: [
    ...noText,
    'token',
    '/',
    '/a b',
    '/a?b',
    '/a#b',
    '/a\n',
    '/tökén',
    '/a/../b',
    '/./a',
    '//a',
    '/%',
    '/a|b',
    '/%2e/a',
  ],
  cure: "must be a path such as '/token', as a URL contains it: without query, fragment, '..' and characters that a URL encodes.",
}
const secondsFrom = (least: number, most = 315_360_000) => ({
  wrong: [...noSeconds, least - 1, most + 1],
  cure: `must be whole seconds, ${least} to ${most}.`,
})
const callable = { wrong: noFunction, cure: 'must be a function.' }

/** Each option but `issuer` and `clients`, values that are wrong for it, and the cure. */
const options: Readonly<Record<string, { readonly wrong: readonly unknown[]; readonly cure: string }>> = {
  scopes: {
    wrong: [null, 7, 'photos.read', [], ['photos.read'], {}],
    cure: "must be an object of scope and description, such as { 'photos:read': 'See your photos' }.",
  },
  defaultScope: { wrong: noText, cure: 'must be a text.' },
  resources: {
    wrong: [null, 7, 'https://api.example', [], {}, ['https://api.example']],
    cure: "must be an object of URIs and their scopes, such as { 'https://api.example.com/mcp': { scopes: ['notes:read'] } }.",
  },
  defaultResource: { wrong: noText, cure: 'must be one of resources.' },
  implies: {
    wrong: [
      null,
      7,
      'photos.read',
      [],
      { 'photos.write': 'photos.read' },
      { 'photos.write': [] },
      { 'photos.write': [7] },
      { 'photos.write': ['photos.read photos.print'] },
      { 'photos write': ['photos.read'] },
    ],
    cure: "must map scopes to lists of scopes, such as { 'notes:write': ['notes:read'] }.",
  },
  guards: { wrong: [null, 7, 'photos', true, []], cure: 'must be an object.' },
  resourceOwner: callable,
  login: {
    wrong: [null, 7, true, {}, [], '', 'login', 'https://example.com/login'],
    cure: "must be a path such as '/login', or a function.",
  },
  store: {
    wrong: [
      null,
      7,
      'memory',
      {},
      [],
      memoryStore,
      { find() {}, save() {} },
      { find() {}, save() {}, remove: true },
    ],
    cure: 'must have the functions find, save and remove, as redisStore({ url }) and memoryStore() have.',
  },
  'paths.authorization': pathOption,
  'paths.token': pathOption,
  'paths.revocation': pathOption,
  'paths.introspection': pathOption,
  endpoints: { wrong: [null, 7, 'whoami', true, {}], cure: 'must be a list of endpoints.' },
  plugIns: { wrong: [null, 7, 'voucher', true, {}], cure: 'must be a list of plug-ins.' },
  dynamicRegistration: {
    wrong: [null, 7, 'on', true, [], memoryDynamicClients],
    cure: 'must be false or an object, such as {}.',
  },
  'lifetimes.authorizationRequest': secondsFrom(1),
  'lifetimes.authorizationCode': secondsFrom(1, 600),
  'lifetimes.accessToken': secondsFrom(1),
  'lifetimes.refreshToken': secondsFrom(1),
  'lifetimes.refreshTokenGrace': secondsFrom(0, 300),
  'lifetimes.grant': secondsFrom(1),
  refreshTokenExpiresIn: { wrong: [null, 7, 'no', {}], cure: 'must be true or false.' },
  refreshTokenRotation: { wrong: [null, 7, 'no', {}], cure: 'must be true or false.' },
  offlineAccess: { wrong: [null, 7, 'no', {}], cure: 'must be true or false.' },
  pkce: {
    wrong: [null, 7, true, '', 'S256', 'Public', ['public']],
    cure: "must be 'public', 'all' or 'none'.",
  },
  redirectUris: {
    wrong: [
      null,
      7,
      true,
      '',
      'https',
      ['any'],
      {},
      { schemes: 'cursor' },
      { schemes: [] },
      { schemes: ['cursor:'] },
      { schemes: ['Cursor'] },
      { schemes: ['http'] },
      { schemes: ['javascript'] },
      { schemes: ['cursor'], hosts: [] },
    ],
    cure: "must be 'any', 'https or loopback', or { schemes: ['com.example.app'] } with the schemes of apps in lower case, without colons.",
  },
  responseTypes: {
    wrong: [
      null,
      7,
      'token',
      {},
      [null],
      ['token'],
      [{}],
      [{ ...implicit(), name: '' }],
      [{ ...implicit(), grantTypes: undefined }],
      [{ ...implicit(), grantTypes: [7] }],
      [{ ...implicit(), mode: 'form_post' }],
      [{ ...implicit(), redirectBy: 'script' }],
      [{ ...implicit(), approve: undefined }],
      [implicit],
    ],
    cure: 'must be a list of response types, such as implicit(): name, grantTypes, mode, optionally redirectBy, and approve.',
  },
  counters: {
    wrong: [null, 7, 'redis', {}, { add: () => 1 }, { add: 1, useOnce: 2 }],
    cure: 'must have the functions add and useOnce, as redisStore({ url }).counters and memoryCounters() have.',
  },
  grantTypes: {
    wrong: [
      null,
      7,
      {},
      [null],
      ['password'],
      [{}],
      [{ ...voucher, name: '' }],
      [{ ...voucher, parameters: undefined }],
      [{ ...voucher, parameters: [7] }],
      [{ ...voucher, handle: undefined }],
    ],
    cure: 'must be a list of grant types, such as password({ verify }): name, parameters and handle.',
  },
  tokenTypes: {
    wrong: [null, 7, 'mac', {}, [null], ['mac'], [{}], [{ ...bearer, name: '' }], [{ ...bearer, read: 7 }]],
    cure: 'must be a list of token types, such as mac({ hosts }): name, scheme, read, optionally issue.',
  },
  accessTokenFormats: {
    wrong: [null, 7, 'jwt', {}, [null], [{}], [{ ...signed, name: '' }], [{ ...signed, encode: 7 }]],
    cure: 'must be a list of access token formats, each with name, encode and decode.',
  },
  tokenType: { wrong: [...noText, 'Mac', 'Bearer'], cure: 'must be one of bearer.' },
  clientAuthenticationMethods: {
    wrong: [null, 7, 'none', {}],
    cure: 'must be a list of methods.',
  },
  'limits.clientAuthentication': { wrong: [null, 7, true, 'off', '', []], cure: 'must be an object.' },
  extensions: {
    wrong: [null, 7, 'pkce', {}, [null], ['x'], [{}], [{ name: '' }], [{ name: 7 }]],
    cure: 'must be a list of extensions, each with a name, optionally lists of parameters, metadata and functions.',
  },
  storeDeadline: {
    wrong: [null, '1', true, {}, NaN, Infinity, -1, 0],
    cure: 'must be seconds, more than 0 and at most 60.',
  },
  closeDeadline: {
    wrong: [null, '1', true, {}, NaN, Infinity, -1, 0, 61],
    cure: 'must be seconds, more than 0 and at most 60.',
  },
  bodyDeadline: {
    wrong: [null, '1', true, {}, NaN, Infinity, -1, 0, 61],
    cure: 'must be seconds, more than 0 and at most 60.',
  },
  'limits.openRequests': { wrong: [null, 7, 'none', true, []], cure: 'must be an object.' },
  'limits.networks': {
    wrong: [null, 7, 'none', true, []],
    cure: 'must be false, or an object with authorization, clients, registration or stores.',
  },
  'limits.issuing': { wrong: [null, 7, 'none', true, []], cure: 'must be an object.' },
  'limits.selfRegisteredClients': {
    wrong: [null, '50', true, {}, [], NaN, 0, -1, 1.5, 1001],
    cure: 'must be false or a whole number, 1 to 1000.',
  },
  'limits.singleUses': { wrong: [null, 7, 'none', true, []], cure: 'must be an object.' },
  cors: {
    wrong: [null, 7, '*', 'https://app.example', [], ['https://app.example']],
    cure: "must be true, false, or an object such as { origins: ['https://app.example'] }.",
  },
  maintenance: callable,
  errorUri: {
    wrong: [
      ...noText,
      'errors',
      '/errors',
      'https://a.example/#x',
      'https://a.example/é',
      'https://a.example/"',
    ],
    cure: 'must be an absolute URL without a fragment, such as https://example.com/docs/errors.',
  },
  authorizations: {
    wrong: [null, 7, 'yes', []],
    cure: 'must be true, false, or an object: { path, manageAt, fromTheStart }.',
  },
  rememberConsent: { wrong: [null, 7, 'yes'], cure: 'must be true, false or { seconds }.' },
  skipConsent: callable,
  choices: callable,
  stillAllowed: callable,
  logOut: callable,
  'pages.consent': callable,
  'pages.error': callable,
  'pages.connected': callable,
  explainRefusals: { wrong: [null, 7, 'no', {}], cure: 'must be true or false.' },
  clock: callable,
}

const oneOfEach: AuthorizationServerOptions & Required<Omit<AuthorizationServerOptions, 'login'>> = {
  ...optionsWith(),
  authorizations: { path: '/apps', manageAt: '/account' },
  rememberConsent: { seconds: 1 },
  resourceOwner: () => 'alice',
  defaultScope: 'photos.read',
  resources: {
    'https://api.example.com/mcp': {
      scopes: ['photos.read'],
      accessTokenLifetime: 1,
      name: 'Photos',
      documentation: 'https://example.com/docs#photos',
    },
  },
  defaultResource: 'HTTPS://API.example.com/mcp',
  implies: { 'photos.write': ['photos.read'] },
  guards: { realm: 'photos', attributes: { acr_values: 'mfa' }, authInfo: true, cors: true },
  login: '/login',
  logOut: () => {},
  store: memoryStore(),
  counters: memoryCounters(),
  grantTypes: [],
  tokenTypes: [mac({ hosts: ['api.example.com'] })],
  accessTokenFormats: [signed],
  tokenType: 'mac',
  paths: { authorization: '/ask', token: '/tokens', revocation: '/forget', introspection: '/ask-about' },
  endpoints: [whoami],
  dynamicRegistration: {
    store: memoryDynamicClients(),
    initialAccessToken: generateClientSecret().client_secret_hash,
    maximumClients: 1,
    scope: 'photos.read',
    grantTypes: ['authorization_code'],
    unusedLifetime: 60,
    lifetime: 172_800,
    clientSecretLifetime: 60,
    registrationPath: '/clients',
    clientConfigurationPath: '/clients/own',
  },
  lifetimes: {
    authorizationRequest: 1,
    authorizationCode: 600,
    accessToken: 1,
    refreshToken: 1,
    refreshTokenGrace: 0,
    grant: 1,
  },
  refreshTokenExpiresIn: true,
  refreshTokenRotation: false,
  offlineAccess: true,
  responseTypes: [implicit({ redirectBy: 'page' }), { ...implicit(), name: 'code token' }],
  clientAuthenticationMethods: [{ name: 'sealed', read: () => undefined, verify: async () => false }],
  limits: {
    clientAuthentication: { clientAndAddress: { attempts: 1, seconds: 86_400 }, client: false },
    openRequests: { attempts: 1, seconds: 86_400 },
    networks: { authorization: false, clients: { attempts: 1_000_000 }, stores: () => new MemoryStore() },
    issuing: { client: { attempts: 1_000_000 }, owner: false },
    singleUses: { attempts: 1, seconds: 86_400 },
    selfRegisteredClients: false,
  },
  pkce: 'all',
  redirectUris: 'any',
  extensions: [{ name: 'resource' }],
  plugIns: [{ name: 'voucher', open: () => ({}) }],
  storeDeadline: 0.1,
  closeDeadline: 5,
  bodyDeadline: 60,
  cors: { origins: ['https://app.example'] },
  maintenance: () => false,
  errorUri: 'https://photos.example/errors',
  skipConsent: () => false,
  choices: () => undefined,
  stillAllowed: () => true,
  pages: { consent: () => undefined, error: () => undefined, connected: () => undefined },
  explainRefusals: false,
  clock: () => 0,
}

/** An option by its path, such as `lifetimes.accessToken`. */
function optionAt(path: string, value: unknown): Readonly<Record<string, unknown>> {
  const [group = '', key] = path.split('.')
  return key === undefined ? { [group]: value } : { [group]: { [key]: value } }
}

const groups = ['paths', 'lifetimes', 'limits', 'pages']
const pathsOf = (given: object): readonly string[] =>
  Object.entries(given).flatMap(([key, value]) =>
    groups.includes(key) ? Object.keys(value).map((inner) => `${key}.${inner}`) : [key],
  )

describe.each(Object.entries(options))('the option %s', (key, { wrong, cure }) => {
  it('is reported with its path and the cure, whatever is wrong', () => {
    for (const value of wrong)
      expect({ value, issues: mistakesWith({ clients: [], ...optionAt(key, value) }) }).toEqual({
        value,
        issues: [{ path: key, message: cure }],
      })
  })
})

describe('options', () => {
  it('are all in the tables of these tests', () => {
    const elsewhere = ['issuer', 'clients']
    expect([...Object.keys(options), ...elsewhere].toSorted()).toEqual(pathsOf(oneOfEach).toSorted())
  })

  it('that are right have no mistake, one of each at their limits', () => {
    expect(issuesIn(oneOfEach)).toEqual([])
    expect(
      issuesIn({
        ...oneOfEach,
        login: () => undefined,
        lifetimes: { refreshTokenGrace: 300, authorizationCode: 1 },
        limits: { clientAuthentication: false, networks: false, issuing: false, openRequests: false },
        clients: [],
        redirectUris: { schemes: ['cursor', 'com.example.app'] },
      }),
    ).toEqual([])
  })

  it.each(['issuer', 'clients', 'scopes'])('need %s', (key) => {
    const { [key]: _without, ...others } = { ...optionsWith() } as Record<string, unknown>
    expect(issuesIn(others)).toContainEqual({
      path: key,
      message: expect.stringMatching(/^is missing: it must /),
    })
  })

  it.each([[undefined], [null], ['http://localhost'], [7], [[]], [() => ({})]])(
    'that are %j are no object',
    (given) => {
      expect(issuesIn(given)).toEqual([{ path: 'options', message: 'must be an object.' }])
    },
  )

  it('that are wrong appear in one error, one line each', () => {
    const wrong: Record<string, unknown> = {}
    for (const [path, { wrong: values }] of Object.entries(options))
      for (const [key, value] of Object.entries(optionAt(path, values[0])))
        wrong[key] = groups.includes(key) ? Object.assign({}, wrong[key], value) : value
    const issues = issuesIn({ ...wrong, issuer: 7, clients: 7, misspelt: 1 })
    expect(new Set(issues.map((mistake) => mistake.path))).toEqual(
      new Set([...pathsOf(oneOfEach), 'misspelt']),
    )
    const error = new ConfigurationError('subject', issues)
    expect(error.message.split('\n')).toHaveLength(issues.length + 1)
  })

  it('that are wrong are reported under the name of their function', () => {
    expect(() => resolveOptions(optionsWith({ issuer: '' }))).toThrow(
      'createAuthorizationServer() cannot work with these options:\n  - issuer must be the URL of this server, such as https://example.com or http://localhost:3000.',
    )
  })

  it.each([
    ['Issuer', '. Did you mean issuer? The'],
    ['client', '. Did you mean clients? The'],
    ['lifeTimes', '. Did you mean lifetimes? The'],
    ['store_deadline', '. Did you mean storeDeadline? The'],
    ['resourceOwners', '. Did you mean resourceOwner? The'],
    ['constructor', '; the'],
    ['toString', '; the'],
  ])('do not know %s, say which name was meant, and which names they know', (name, meant) => {
    const [mistake, ...more] = mistakesWith({ [name]: undefined })
    expect(more).toEqual([])
    expect(mistake).toEqual({
      path: name,
      message: expect.stringContaining(
        `is not known here${meant} known names are accessTokenFormats, authorizations, bodyDeadline, choices, clientAuthenticationMethods, clients,`,
      ),
    })
    for (const key of Object.keys(oneOfEach)) expect(mistake?.message).toContain(key)
  })

  it.each(groups)('in the group %s are all known, and the group is an object', (group) => {
    expect(mistakesWith({ clients: [], [group]: { misspelt: 1 } })).toEqual([
      { path: `${group}.misspelt`, message: expect.stringContaining('is not known here') },
    ])
    for (const value of [null, 7, true, [], 'all'])
      expect(mistakesWith({ clients: [], [group]: value })).toEqual([
        { path: group, message: 'must be an object.' },
      ])
  })

  it('take undefined for left out', () => {
    const { issuer, clients, scopes, resourceOwner } = optionsWith()
    const nothing = Object.fromEntries(Object.keys(oneOfEach).map((key) => [key, undefined]))
    const emptyGroups = Object.fromEntries(groups.map((group) => [group, {}]))
    for (const left of [nothing, emptyGroups])
      expect(issuesIn({ ...left, issuer, clients, scopes, resourceOwner })).toEqual([])
  })
})
