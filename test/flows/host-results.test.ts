import { voucherGrant } from '../../docs/examples/voucher-grant'
import {
  jwtBearer,
  password,
  type AuthorizationServerOptions,
  type Extension,
  type GrantType,
  type ResponseType,
  type TokenType,
} from '../../lib/index'
import { audience, claimsAt, hub, issuers, jwt } from '../support/assertions/jwt'
import { bent, photoBook, photoPrint } from '../support/flows/clients'
import { authorizationRequest } from '../support/flows/flow'
import { setStage } from '../support/flows/stage'
import { refusalOf, tokensOf } from '../support/flows/tokens'

// A method, not a function type: so the checker lets through what a database returned in between.
const javascript: { pass(value: unknown): never } = { pass: (value: never) => value }
const unchecked = (value: unknown): never => javascript.pass(value)

const grant_type = 'https://photos.example/grants/any'
const client = bent(photoPrint, { grant_types: [grant_type] })
const grant = { subject: 'alice', scope: ['photos:read'], refreshToken: false, extensionData: {} }

const stageWith = (answer: unknown) => {
  const prove: GrantType['handle'] = async () => unchecked(answer)
  const grantTypes = [{ name: grant_type, parameters: [], handle: prove }]
  return setStage({ grantTypes, clients: [client.registration] })
}

const faults: readonly (readonly [title: string, answer: unknown, path: string])[] = [
  ['nothing', undefined, 'handle()'],
  ['null', null, 'handle()'],
  ['neither a grant nor a transition', {}, 'grant'],
  ['a field that it invents', { grant, scope: 'all' }, 'scope'],
  ['members that are no texts', { grant, members: { count: 1 } }, 'members'],
  ['a subject that a database says is null', { grant: { ...grant, subject: null } }, 'grant.subject'],
  ['a subject that a look-up did not find', { grant: { ...grant, subject: undefined } }, 'grant.subject'],
  ['a subject that is a number', { grant: { ...grant, subject: 7 } }, 'grant.subject'],
  ['a subject that is a Buffer', { grant: { ...grant, subject: Buffer.from('alice') } }, 'grant.subject'],
  ['a subject that is empty', { grant: { ...grant, subject: '' } }, 'grant.subject'],
  ['a subject without end', { grant: { ...grant, subject: 'a'.repeat(1025) } }, 'grant.subject'],
  ['a scope that is a text', { grant: { ...grant, scope: 'photos:read' } }, 'grant.scope'],
  ['a scope token with a space', { grant: { ...grant, scope: ['photos:read photos:print'] } }, 'grant.scope'],
  ['a scope token with a quote', { grant: { ...grant, scope: ['photos:"read"'] } }, 'grant.scope'],
  ['a scope with null in it', { grant: { ...grant, scope: [null] } }, 'grant.scope'],
  ['no scope at all', { grant: { ...grant, scope: [] } }, 'grant.scope'],
  ['1 for true', { grant: { ...grant, refreshToken: 1 } }, 'grant.refreshToken'],
  ['bindings that are null', { grant: { ...grant, extensionData: null } }, 'grant.extensionData'],
  ['a Date to keep', { grant: { ...grant, extensionData: { at: new Date() } } }, 'grant.extensionData'],
  ['NaN to keep', { grant: { ...grant, extensionData: { at: Number.NaN } } }, 'grant.extensionData'],
  [
    'too much to keep',
    { grant: { ...grant, extensionData: { all: 'a'.repeat(16_384) } } },
    'grant.extensionData',
  ],
  ['an end that is null', { grant: { ...grant, expiresAt: null } }, 'grant.expiresAt'],
  [
    'a one-time use without a key',
    { grant: { ...grant, oneTimeUse: { until: 9e9 } } },
    'grant.oneTimeUse.key',
  ],
  [
    'a transition of nothing',
    { authorizationId: null, transition: () => ({ action: 'none', outcome: {} }) },
    'authorizationId',
  ],
]

test.each(faults)(
  'A grant type that returns %s gives no token, and the host is told',
  async (_, answer, path) => {
    const { flow, failures, store } = stageWith(answer)
    expect(refusalOf(await flow.request(client, { grant_type }))).toBe('500 server_error')
    expect(store.calls).toEqual({ find: 0, save: 0, remove: 0 })
    expect(failures).toMatchObject([{ reason: 'unexpected', cause: { name: 'ConfigurationError' } }])
    expect(String(failures[0]?.cause)).toContain(`"${grant_type}"`)
    expect(String(failures[0]?.cause)).toContain(`- ${path} `)
  },
)

test('A grant without a subject is for the client itself, and a scope token counts once', async () => {
  const { subject: _, ...own } = { ...grant, scope: ['photos:read', 'photos:read'] }
  const { flow } = stageWith({ grant: own })
  const { accessToken, scope } = tokensOf(await flow.request(client, { grant_type }))
  expect(scope).toBe('photos:read')
  expect((await flow.photos(accessToken)).body).toMatchObject({ clientId: 'photo-print' })
})

describe('A look-up of the host', () => {
  const voucher = 'https://photos.example/grants/voucher'
  const bearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
  const fields = {
    [voucher]: () => ({ voucher: 'INVENTED' }),
    [bearer]: () => ({ assertion: jwt(hub, claimsAt(Math.floor(Date.now() / 1000))) }),
    password: () => ({ username: 'alice', password: 'invented' }),
  }
  const answerTo = async (name: keyof typeof fields, found: unknown) => {
    const lookUp = async () => unchecked(found)
    const grantTypes = [
      voucherGrant(lookUp),
      jwtBearer({ issuers, audience, resourceOwner: lookUp }),
      password({ verify: lookUp }),
    ]
    const asker = bent(photoPrint, { grant_types: [name] })
    const { flow } = setStage({ grantTypes, clients: [asker.registration] })
    return refusalOf(await flow.request(asker, { grant_type: name, scope: 'photos:read', ...fields[name]() }))
  }

  test.each([voucher, bearer, 'password'] as const)('gives no token by %s', async (name) => {
    for (const nobody of [undefined, null]) expect(await answerTo(name, nobody)).toBe('400 invalid_grant')
    for (const fault of [7, '', Buffer.from('alice'), ['alice'], { id: 'alice' }, true])
      expect(await answerTo(name, fault)).toBe('500 server_error')
  })
})

const locationOf = async (options: Partial<AuthorizationServerOptions>) => {
  const { flow, store } = setStage({ skipConsent: () => true, ...options })
  const { headers } = await flow.ask(authorizationRequest(photoPrint), 'alice')
  return { location: String(headers['location']), saves: store.calls.save }
}

describe('What the host adds to the record of an authorization request', () => {
  test.each([
    ['a BigInt', 1n],
    ['a Date', new Date()],
    ['too much', 'a'.repeat(16_384)],
  ])('is no %s of an extension', async (_, kept) => {
    const extension: Extension = { name: 'x', atAuthorizationRequest: () => unchecked(kept) }
    const { location, saves } = await locationOf({ extensions: [extension] })
    expect(location).toContain('error=server_error')
    expect(saves).toBe(0)
  })

  test.each([
    null,
    {},
    { authorization: null, parameters: {} },
    { authorization: { id: 'x' }, parameters: {} },
  ])('is not %j of a response type', async (answer) => {
    const responseType: ResponseType = {
      name: 'own',
      grantTypes: ['authorization_code'],
      mode: 'query',
      approve: () => unchecked(answer),
    }
    const owner = bent(photoPrint, { response_types: ['own'] })
    const options = {
      skipConsent: () => true,
      responseTypes: [responseType],
      clients: [owner.registration],
    }
    const { flow, store } = setStage(options)
    const { headers } = await flow.ask({ ...authorizationRequest(owner), response_type: 'own' }, 'alice')
    expect(String(headers['location'])).toContain('error=server_error')
    expect(store.calls.save).toBe(0)
  })

  test.each([
    null,
    {},
    { properties: null },
    { properties: { key: null } },
    { properties: {}, tokenData: 1n },
  ])('is not what a token type cannot issue', async (answer) => {
    const name = 'https://photos.example/token-types/any'
    const tokenType: TokenType = {
      name,
      scheme: 'Any',
      issue: () => unchecked(answer),
      read: () => undefined,
    }
    const owner = bent(photoPrint, { token_type: name, grant_types: ['client_credentials'] })
    const { flow, store } = setStage({ tokenTypes: [tokenType], clients: [owner.registration] })
    const request = { grant_type: 'client_credentials', scope: 'photos:read' }
    expect(refusalOf(await flow.request(owner, request))).toBe('500 server_error')
    expect(store.calls.save).toBe(0)
  })
})

test('A resource owner whose subject is no text in bounds is nobody, and the host is told', async () => {
  for (const subject of [7, Buffer.from('alice'), 'a'.repeat(1025), { subject: null }]) {
    const { flow, failures, store } = setStage({ resourceOwner: () => unchecked(subject) })
    const { headers } = await flow.ask(authorizationRequest(photoBook), 'alice')
    expect(String(headers['location'])).toContain('error=server_error')
    expect(String(failures[0]?.cause)).toContain('resourceOwner')
    expect(store.calls.save).toBe(0)
  }
})
