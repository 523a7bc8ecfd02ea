import { photosExchange } from '../../docs/examples/token-exchange'
import { voucherGrant } from '../../docs/examples/voucher-grant'
import type { AuthorizationServerOptions, Extension, GrantType, TokenType } from '../../lib/index'
import { jwtBearer, password } from '../../lib/paths/grants'
import { audience, claimsAt, hub, issuers, jwt } from '../support/assertions/jwt'
import { bent, photoBook, photoPrint } from '../support/flows/clients'
import { authorizationRequest } from '../support/flows/flow'
import { setStage } from '../support/flows/stage'
import { describeOnStores, type SetStage } from '../support/flows/stores-of-run'
import {
  actingAs,
  anyOwner,
  exchangeOf,
  exchangingUnchecked,
  service,
  tokenExchangeName,
  tokenTypeOf,
} from '../support/flows/token-exchange'
import { refusalOf, tokensOf } from '../support/flows/tokens'

describe('voucher grant', () => {
  const grantType = voucherGrant(async (voucher) => (voucher === 'PAPER-1' ? 'alice' : undefined))
  const grant_type = grantType.name
  const bearer = bent(photoPrint, { grant_types: ['authorization_code', 'refresh_token', grant_type] })
  const clients = [bearer.registration, photoBook.registration]
  const request = { grant_type, voucher: 'PAPER-1', scope: 'photos:read' }

  const open = (stage: SetStage) =>
    stage({ plugins: [{ name: 'host-grant-types', grantTypes: [grantType] }], clients })

  describeOnStores('An extension grant from outside', (stage) => {
    test('gives tokens in the name of its holder, which can be refreshed', async () => {
      const { flow } = open(stage)
      const tokens = tokensOf(await flow.request(bearer, request))
      expect((await flow.photos(tokens.accessToken)).body).toMatchObject({
        subject: 'alice',
        clientId: bearer.registration.client_id,
        scope: ['photos:read'],
      })
      tokensOf(await flow.refresh(bearer, tokens.refreshToken))
    })

    test('gives exactly the scope of the grant, and by a refresh what the registration has of it', async () => {
      const handle: GrantType['handle'] = async () => ({
        grant: {
          subject: 'alice',
          scope: ['photos:read', 'photos:print'],
          refreshToken: true,
          extensionData: {},
        },
      })
      const { registration } = bent(bearer, { scope: 'photos:read' })
      const generous = { name: grant_type, parameters: [], handle }
      const { flow } = stage({
        plugins: [{ name: 'host-grant-types', grantTypes: [generous] }],
        clients: [registration],
      })
      const tokens = tokensOf(await flow.request(bearer, { grant_type }))
      expect(tokens.scope).toBe('photos:read photos:print')
      expect(tokensOf(await flow.refresh(bearer, tokens.refreshToken)).scope).toBe('photos:read')
    })

    test('refuses as the grant type does, and does not spend the voucher on a refusal', async () => {
      const { flow } = open(stage)
      const ask = async (bend: object) => refusalOf(await flow.request(bearer, { ...request, ...bend }))
      expect(await ask({ voucher: 'PAPER-2' })).toBe('400 invalid_grant')
      expect(await ask({ voucher: '' })).toBe('400 invalid_request')
      expect(await ask({ scope: 'reports:write' })).toBe('400 invalid_scope')
      tokensOf(await flow.request(bearer, request))
    })

    test('a voucher in the URI, where logs keep it, refuses the request and stays good', async () => {
      const { flow, oauth } = open(stage)
      const reasons: string[] = []
      oauth.events.on('refused', ({ reason }) => reasons.push(reason))
      expect(refusalOf(await flow.request(bearer, request, '/token?voucher=PAPER-1'))).toBe(
        '400 invalid_request',
      )
      expect(reasons).toEqual(['credential_in_query'])
      tokensOf(await flow.request(bearer, request))
    })
  })
})

describe('host results', () => {
  // A method, not a function type: so the checker lets through what a database returned in between.
  const javascript: { pass(value: unknown): never } = { pass: (value: never) => value }
  const unchecked = (value: unknown): never => javascript.pass(value)

  const grant_type = 'https://photos.example/grants/any'
  const client = bent(photoPrint, { grant_types: [grant_type] })
  const grant = { subject: 'alice', scope: ['photos:read'], refreshToken: false, extensionData: {} }

  test('may add members to the metadata, and replace none of the suite', async () => {
    const metadata = { voucher_values_supported: ['PAPER'], issuer: 'https://other.example' }
    const handle = () => Promise.reject(new Error('Not called here.'))
    const { flow } = setStage({
      plugins: [
        { name: 'host-grant-types', grantTypes: [{ name: grant_type, parameters: [], metadata, handle }] },
      ],
    })
    expect((await flow.open('/.well-known/oauth-authorization-server')).body).toMatchObject({
      voucher_values_supported: ['PAPER'],
      issuer: 'http://localhost',
    })
  })

  const stageWith = (answer: unknown) => {
    const prove: GrantType['handle'] = async () => unchecked(answer)
    const grantTypes = [{ name: grant_type, parameters: [], handle: prove }]
    return setStage({ plugins: [{ name: 'host-grant-types', grantTypes }], clients: [client.registration] })
  }

  const faults: readonly (readonly [title: string, answer: unknown, path: string])[] = [
    ['nothing', undefined, 'it'],
    ['neither a grant nor a transition', {}, 'grant'],
    ['a field that it invents', { grant, scope: 'all' }, 'scope'],
    ['a subject that a database says is null', { grant: { ...grant, subject: null } }, 'grant.subject'],
    ['a subject that is a Buffer', { grant: { ...grant, subject: Buffer.from('alice') } }, 'grant.subject'],
    ['a subject without end', { grant: { ...grant, subject: 'a'.repeat(1025) } }, 'grant.subject'],
    ['a scope that is a text', { grant: { ...grant, scope: 'photos:read' } }, 'grant.scope'],
    [
      'a scope token with a space',
      { grant: { ...grant, scope: ['photos:read photos:print'] } },
      'grant.scope',
    ],
    ['no scope at all', { grant: { ...grant, scope: [] } }, 'grant.scope'],
    ['1 for true', { grant: { ...grant, refreshToken: 1 } }, 'grant.refreshToken'],
    ['a Date to keep', { grant: { ...grant, extensionData: { at: new Date() } } }, 'grant.extensionData'],
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
    'A grant type that returns %s gives no token, and the failure names the mistake',
    async (_, answer, path) => {
      const { flow, failures } = stageWith(answer)
      expect(refusalOf(await flow.request(client, { grant_type }))).toBe('500 server_error')
      expect(failures).toMatchObject([{ reason: 'unexpected', cause: { name: 'TypeError' } }])
      expect(String(failures[0]?.cause)).toContain(`"${grant_type}"`)
      expect(String(failures[0]?.cause)).toContain(` ${path} `)
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
      const plugins = [
        { name: 'voucher', grantTypes: [voucherGrant(lookUp)] },
        jwtBearer({ issuers, audience, resourceOwner: lookUp }),
        password({ verify: lookUp }),
      ]
      const asker = bent(photoPrint, { grant_types: [name] })
      const { flow } = setStage({ plugins, clients: [asker.registration] })
      return refusalOf(
        await flow.request(asker, { grant_type: name, scope: 'photos:read', ...fields[name]() }),
      )
    }

    test.each([voucher, bearer, 'password'] as const)('gives no token by %s', async (name) => {
      for (const nobody of [undefined, null]) expect(await answerTo(name, nobody)).toBe('400 invalid_grant')
      for (const fault of [7, '', { id: 'alice' }])
        expect(await answerTo(name, fault)).toBe('500 server_error')
    })
  })

  const locationOf = async (options: Partial<AuthorizationServerOptions>) => {
    const { flow } = setStage({ skipConsent: () => true, ...options })
    return String((await flow.ask(authorizationRequest(photoPrint), 'alice')).headers['location'])
  }

  describe('What the host adds to the record of an authorization request', () => {
    test.each([1n, 'a'.repeat(16_384)])('is no BigInt and not too much of an extension', async (kept) => {
      const extension: Extension = { name: 'x', authorize: () => ({ data: unchecked(kept) }) }
      expect(await locationOf({ plugins: [extension] })).toContain('error=server_error')
    })

    test.each([null, { properties: { key: null } }, { properties: {}, tokenData: 1n }])(
      'is not what a token type cannot issue',
      async (answer) => {
        const name = 'https://photos.example/token-types/any'
        const tokenType: TokenType = {
          name,
          scheme: 'Any',
          issue: () => unchecked(answer),
          read: () => undefined,
        }
        const owner = bent(photoPrint, { token_type: name, grant_types: ['client_credentials'] })
        const { flow } = setStage({
          plugins: [{ name: 'host-token-types', tokenTypes: [tokenType] }],
          clients: [owner.registration],
        })
        const request = { grant_type: 'client_credentials', scope: 'photos:read' }
        expect(refusalOf(await flow.request(owner, request))).toBe('500 server_error')
      },
    )
  })

  test('A subject that is no text within the bounds is a failure of the host', async () => {
    for (const subject of [7, '', 'a'.repeat(1025), { subject: null }, { name: 'Alice' }]) {
      const { flow, failures } = setStage({ resourceOwner: () => unchecked(subject) })
      const { headers } = await flow.ask(authorizationRequest(photoBook), 'alice')
      expect(String(headers['location'])).toContain('error=server_error')
      expect(String(failures[0]?.cause)).toContain('resourceOwner')
    }
  })
})

describe('token exchange example', () => {
  const print = { audience: 'https://print.example' }
  const phone = bent(photoBook, { grant_types: ['authorization_code', 'refresh_token', tokenExchangeName] })
  const clients = [service.registration, phone.registration]
  const options = { plugins: [photosExchange], clients }

  describeOnStores('The policy of the documentation', (stage) => {
    test('lets a service act for the owner at one other service', async () => {
      const { flow } = stage(options)
      const { accessToken } = await flow.tokens(phone)
      const exchange = exchangeOf(accessToken, { ...(await actingAs(flow)), ...print })
      const tokens = tokensOf(await flow.request(service, exchange))
      expect(tokens.scope).toBe('photos:print')
      expect((await flow.introspect(service, tokens.accessToken)).body).toMatchObject({
        sub: 'alice',
        aud: ['https://print.example'],
        act: { sub: 'nightly-report' },
      })
    })

    test('refuses everything else', async () => {
      const { flow } = stage(options)
      const { accessToken } = await flow.tokens(phone)
      const narrow = await flow.tokens(phone, { scope: 'photos:read' })
      const actor = await actingAs(flow)
      const ask = async (token: string, bend: object, client = service) =>
        refusalOf(await flow.request(client, exchangeOf(token, { ...actor, ...print, ...bend })))
      expect(await ask(accessToken, { audience: 'https://evil.example' })).toBe('400 invalid_target')
      expect(await ask(accessToken, { audience: undefined })).toBe('400 invalid_target')
      expect(await ask(accessToken, { resource: 'https://print.example' })).toBe('400 invalid_target')
      expect(await ask(accessToken, { actor_token: undefined, actor_token_type: undefined })).toBe(
        '400 invalid_request',
      )
      expect(await ask(accessToken, { actor_token: accessToken })).toBe('400 invalid_request')
      expect(await ask(narrow.accessToken, {})).toBe('400 invalid_request')
      expect(await ask(actor['actor_token'] ?? '', {})).toBe('400 invalid_request')
      expect(await ask(accessToken, {}, phone)).toBe('400 invalid_request')
    })
  })
})

describeOnStores('Token exchange answers as a fault of this side', (stage) => {
  test('every policy and every verification with a wrong result, without a detail [exchange-11]', async () => {
    const answers = [
      false,
      'alice',
      {},
      { subject: 7 },
      { subject: 'alice', scope: 'photos:read' },
      { subject: 'alice', scope: ['photos:read photos:print'] },
      { subject: 'alice', audience: [''] },
      { subject: 'alice', expiresAt: 9e9 },
    ]
    for (const answer of answers) {
      const set = stage(exchangingUnchecked({ policy: () => answer }))
      const { accessToken } = await set.flow.tokens(photoBook)
      expect(refusalOf(await set.flow.request(service, exchangeOf(accessToken)))).toBe('500 server_error')
    }
    const claims = [
      { sub: 'alice' },
      { sub: 'alice', exp: '9999999999' },
      { sub: '', exp: 9e9 },
      { sub: 'alice', exp: 9e9, scope: 'a  b' },
      { sub: 'alice', exp: 9e9, act: {} },
    ]
    for (const claim of claims) {
      const tokenTypes = { [tokenTypeOf('jwt')]: () => claim }
      const set = stage(exchangingUnchecked({ policy: anyOwner, tokenTypes }))
      const exchange = exchangeOf('x', { subject_token_type: tokenTypeOf('jwt') })
      expect(refusalOf(await set.flow.request(service, exchange))).toBe('500 server_error')
    }
  })
})
