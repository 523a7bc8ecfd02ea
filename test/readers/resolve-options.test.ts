import { resolveOptions } from '../../lib/config/resolve-options'
import type { ClientRegistration } from '../../lib/protocol/client'
import { ConfigurationError } from '../../lib/primitives/options-reader'
import { OAuthError } from '../../lib/protocol/oauth-error'
import type { ClientStore } from '../../lib/clients/client-store'
import { memoryCounters } from '../../lib/stores/memory-counters'
import { memoryStore } from '../../lib/stores/memory-store'
import { issuesIn, mistakesWith, pathsWith } from '../support/rooms/mistakes'
import { optionsWith, phone, printer } from '../support/rooms/registrations'
import { warningsOf } from '../support/rooms/warnings'

const bare = { find: async () => undefined, save: async () => true, remove: async () => {} }

describe('the option counters', () => {
  it('is what the host gives', () => {
    const counters = memoryCounters()
    expect(resolveOptions(optionsWith({ counters, store: memoryStore() })).counters).toBe(counters)
  })

  it('is by default what the store has', () => {
    const store = memoryStore()
    expect(resolveOptions(optionsWith({ store })).counters).toBe(store.counters)
  })

  it('is in memory beside a store that has none, on the clock of the server', async () => {
    let now = 0
    const { counters } = resolveOptions(optionsWith({ store: bare, clock: () => now }))
    expect(await counters.useOnce('once', 10)).toBe(true)
    now = 9_999
    expect(await counters.useOnce('once', 10)).toBe(false)
    now = 10_000
    expect(await counters.useOnce('once', 10)).toBe(true)
  })
})

const inProduction = (bend: string) =>
  warningsOf(`
    process.env.NODE_ENV = 'production'
    const store = { find: async () => undefined, save: async () => true, remove: async () => {} }
    const { memoryCounters } = suite
    createAuthorizationServer({ ...options, store, ${bend} })
  `).map(({ code }) => code)

const guardInProduction = (bend: string) =>
  warningsOf(`
    process.env.NODE_ENV = 'production'
    const store = { find: async () => undefined, save: async () => true, remove: async () => {} }
    const { createBearerGuard, mac } = suite
    createBearerGuard({ issuer: 'http://localhost', store, ${bend} })
  `).map(({ code }) => code)

describe('EAS_COUNTERS_IN_MEMORY', () => {
  it('is given in production for a store without counters [store-10]', () => {
    expect(inProduction('')).toEqual(['EAS_COUNTERS_IN_MEMORY'])
  })

  it('is not given to a host that says which counters it means', () => {
    expect(inProduction('counters: memoryCounters()')).toEqual([])
    expect(inProduction('store: memoryStore({ allowInProduction: true })')).toEqual([])
  })

  it('is given to a guard of its own only where its token types count', () => {
    expect(guardInProduction('')).toEqual([])
    const tokenTypes = "tokenTypes: [mac({ hosts: ['api.example.com'] })]"
    expect(guardInProduction(tokenTypes)).toEqual(['EAS_COUNTERS_IN_MEMORY'])
  })
})

const example = 'such as https://example.com or http://localhost:3000.'

const mended = "must have its path as a URL parser writes it, without '.' and '..' segments."

describe('the option issuer', () => {
  it.each([
    ['https://photos.example', '', true],
    ['https://photos.example/', '', true],
    ['https://photos.example/auth', '/auth', true],
    ['https://photos.example/auth/', '/auth', true],
    ['https://photos.example/a/b//', '/a/b', true],
    ['https://photos.example:8443', '', true],
    ['https://localhost', '', true],
    ['http://localhost:3000', '', false],
    ['http://127.0.0.1', '', false],
    ['http://[::1]:3000/auth', '/auth', false],
  ])('%s is mounted at %j; TLS is required: %s', (issuer, mount, tlsRequired) => {
    expect(resolveOptions(optionsWith({ issuer }))).toMatchObject({ issuer, mount, tlsRequired })
  })

  it.each([[null], [7], [true], [{}], [[]], [''], [new URL('https://photos.example')]])(
    '%j is no text',
    (issuer) => {
      expect(mistakesWith({ issuer })).toContainEqual({
        path: 'issuer',
        message: `must be the URL of this server, ${example}`,
      })
    },
  )

  it.each(['photos.example', '/auth', '//photos.example', 'https://', 'https://photos example'])(
    '%j is no absolute URL',
    (issuer) => {
      expect(mistakesWith({ issuer })).toEqual([
        { path: 'issuer', message: `must be an absolute URL, ${example}` },
      ])
    },
  )

  it.each([
    ['http://photos.example', 'must use https unless its host is loopback.'],
    ['http://localhost.evil.example', 'must use https unless its host is loopback.'],
    ['http://127.0.0.1.evil.example', 'must use https unless its host is loopback.'],
    ['ftp://localhost', 'must use https unless its host is loopback.'],
    ['photos:auth', 'must be an absolute URL, such as https://example.com or http://localhost:3000.'],
    ['https://photos.example/a/../b', mended],
    ['https://photos.example/./b', mended],
    ['https://photos.example/%2e%2e/b', mended],
    ['https://photos.example?', 'must not have a query or a fragment.'],
    ['https://photos.example/?a=1', 'must not have a query or a fragment.'],
    ['https://photos.example#', 'must not have a query or a fragment.'],
    ['https://user@photos.example', 'must not hold a user name or password.'],
    ['https://:secret@photos.example', 'must not hold a user name or password.'],
  ])('%s %s', (issuer, message) => {
    expect(mistakesWith({ issuer })).toEqual([{ path: 'issuer', message }])
  })

  it('reports every mistake in it', () => {
    expect(mistakesWith({ issuer: 'http://user@photos.example?#' })).toHaveLength(3)
  })

  // RFC 9207 2.4: clients compare it letter by letter, and it stands in every answer as it is here.
  it.each([
    ' https://photos.example',
    'https://photos.example ',
    'https://photos.example\n',
    'https:photos.example',
    'https:/photos.example',
    'https:\\\\photos.example',
    'https:///photos.example',
    'https://photos.example/\u00e9',
  ])('%j is a URL only to a browser that mends it', (issuer) => {
    expect(mistakesWith({ issuer }).map(({ path }) => path)).toEqual(['issuer'])
  })
})

// Without client_credentials, which a registration whose type is wrong is told of, too.
const web = { ...printer, grant_types: ['authorization_code'] }
const service = { ...printer, client_id: 'service', grant_types: ['client_credentials'], redirect_uris: [] }

describe('the option clients, as a list', () => {
  it('makes clients that are found by their exact identifier', async () => {
    const { findClient } = resolveOptions(optionsWith())
    expect(await findClient(printer.client_id)).toMatchObject({
      client_id: printer.client_id,
      scope: ['photos.read', 'photos.write'],
    })
    for (const id of ['', 'nobody', 'Photo-Printer', `${printer.client_id} `, 'constructor', '__proto__'])
      expect(await findClient(id)).toBeUndefined()
  })

  it('may be empty', () => {
    expect(mistakesWith({ clients: [] })).toEqual([])
  })

  it.each([[null], [7], ['x'], [true], [{}], [{ find: true }], [new Map()], [() => []]])(
    'is no list and no store: %j',
    (clients) => {
      expect(mistakesWith({ clients })).toEqual([
        {
          path: 'clients',
          message:
            'must be a list of registrations, a store with a function find(client_id), or a source such as metadataDocuments().',
        },
      ])
    },
  )

  it.each<[string, object, string]>([
    ['no client_id', { client_id: undefined }, 'client_id'],
    ['no client type (REG-4)', { client_type: undefined }, 'client_type'],
    ['another client type', { client_type: 'web' }, 'client_type'],
    ['a confidential client without a secret (REG-10)', { client_secret_hashes: [] }, 'client_secret_hashes'],
    ['a secret for a digest', { client_secret_hashes: ['secret'] }, 'client_secret_hashes'],
    ['an unknown method', { token_endpoint_auth_method: 'private_key_jwt' }, 'token_endpoint_auth_method'],
    ['no redirection URI (REG-8)', { redirect_uris: [] }, 'redirect_uris'],
    [
      'a relative redirection URI (REG-5)',
      { redirect_uris: ['https://a.example/', '/callback'] },
      'redirect_uris[1]',
    ],
    ['an unknown grant type', { grant_types: ['password'], response_types: [] }, 'grant_types'],
    ['an unknown response type', { response_types: ['token'] }, 'response_types'],
    ['a scope of another server', { scope: 'photos.read admin' }, 'scope'],
    ['a logo that is no web page', { logo_uri: 'data:image/png,x' }, 'logo_uri'],
    ['a logo that no page shows', { logo_uri: 'http://printer.example/logo.png' }, 'logo_uri'],
    ['a misspelt field', { redirectUris: [] }, 'redirectUris'],
  ])('reports the path of %s', (_what, bend, path) => {
    expect(pathsWith({ clients: [phone, { ...web, ...bend }] })).toEqual([`clients[1].${path}`])
  })

  it.each<[string, RegExp]>([
    ['https://printer.example/*', /wildcard.*register each URI/],
    ['https://*.printer.example/callback', /wildcard.*register each URI/],
    ['com.example.printer:/*', /wildcard.*register each URI/],
    ['http://localhost:*/callback', /wildcard.*loopback_redirect_uris/],
    ['urn:ietf:wg:oauth:2.0:oob', /no browser.*http:\/\/127\.0\.0\.1\/callback/],
    ['URN:example:done', /no browser/],
  ])('reports a URI that can never work: %s', (uri, cure) => {
    for (const member of ['redirect_uris', 'post_logout_redirect_uris'])
      expect(mistakesWith({ clients: [{ ...phone, [member]: ['https://a.example/', uri] }] })).toEqual([
        { path: `clients[0].${member}[1]`, message: expect.stringMatching(cure) },
      ])
  })

  it.each<[string, object, string, string]>([
    ['a member', { subject_type: 'public' }, 'subject_type', 'openIdConnect() to the option plugIns'],
    ['another one', { dpop_bound_access_tokens: true }, 'dpop_bound_access_tokens', 'dpop()'],
    [
      'a grant type',
      { grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'] },
      'grant_types',
      'deviceAuthorization() to the option plugIns',
    ],
    ['a response type', { response_types: ['code', 'token'] }, 'response_types', 'implicit()'],
    ['a token type', { token_type: 'mac' }, 'token_type', 'mac() to the option tokenTypes'],
    [
      'a method',
      { token_endpoint_auth_method: 'private_key_jwt' },
      'token_endpoint_auth_method',
      'privateKeyJwt()',
    ],
    ['its entry', { credentials: { private_key_jwt: {} } }, 'credentials.private_key_jwt', 'privateKeyJwt()'],
  ])('names what adds %s of a plug-in that is off', (_what, bend, path, plugIn) => {
    expect(mistakesWith({ clients: [{ ...web, ...bend }] })).toEqual([
      { path: `clients[0].${path}`, message: expect.stringContaining(`add ${plugIn}`) },
    ])
  })

  it('names what adds a format, a token type and a grant type of other options', () => {
    const resources = { 'https://api.example/': { scopes: ['photos.read'], accessTokenFormat: 'at+jwt' } }
    const grantTypes = ['urn:ietf:params:oauth:grant-type:token-exchange']
    const options = { resources, tokenType: 'DPoP', dynamicRegistration: { grantTypes } }
    const messages = mistakesWith(options).map(({ message }) => message)
    for (const cure of ['jwtAccessTokens()', 'dpop()', 'tokenExchange()'])
      expect(messages).toContainEqual(expect.stringContaining(`add ${cure} to the option`))
  })

  it.each([[null], ['photo-printer'], [7], [[]]])(
    'reports the path of a registration that is %j',
    (registration) => {
      expect(mistakesWith({ clients: [phone, registration] })).toContainEqual({
        path: 'clients[1]',
        message: 'must be an object.',
      })
    },
  )

  it('reports the mistakes of all clients at once, beside those of other options', () => {
    const clients = [
      { ...web, scope: 'x', client_type: 'web' },
      { ...phone, redirect_uris: ['x'] },
    ]
    const paths = pathsWith({ clients, pkce: 'x' })
    expect(paths).toEqual([
      'clients[0].client_type',
      'clients[0].scope',
      'clients[1].redirect_uris[0]',
      'pkce',
    ])
  })

  it('reports a client_id that is taken, and keeps the first (REG-1)', () => {
    expect(
      mistakesWith({ clients: [printer, phone, { ...phone, client_id: printer.client_id }, printer] }),
    ).toEqual([
      { path: 'clients[2].client_id', message: 'is "photo-printer", which another client has already.' },
      { path: 'clients[3].client_id', message: 'is "photo-printer", which another client has already.' },
    ])
  })

  it('takes identifiers that differ in case for two', () => {
    expect(mistakesWith({ clients: [printer, { ...printer, client_id: 'Photo-Printer' }] })).toEqual([])
  })

  it('demands resourceOwner if a client uses the authorization endpoint', () => {
    const { resourceOwner: _unused, ...others } = optionsWith()
    const message =
      'is missing: clients use the authorization endpoint, so resourceOwner must return who is logged in.'
    expect(issuesIn(others)).toEqual([{ path: 'resourceOwner', message }])
    expect(issuesIn({ ...others, clients: [service] })).toEqual([])
  })
})

const found = (find: ClientStore['find'], bend: object = {}) =>
  resolveOptions(optionsWith({ clients: { find }, ...bend })).findClient(printer.client_id)

/** What a database gives, of which no checker knows the type. */
const fromDatabase = (value: unknown): ClientRegistration => JSON.parse(JSON.stringify(value))

describe('the option clients, as a store', () => {
  it('is asked for each client, and its registration is read like any other', async () => {
    const find = jest.fn(async () => printer)
    await expect(found(find)).resolves.toMatchObject({
      client_id: printer.client_id,
      response_types: ['code'],
    })
    expect(find).toHaveBeenCalledWith(printer.client_id)
  })

  it('knows no such client when it says undefined, or null', async () => {
    await expect(found(async () => undefined)).resolves.toBeUndefined()
    await expect(found(async () => fromDatabase(null))).resolves.toBeUndefined()
  })

  it('may be an object of a class', async () => {
    class Database implements ClientStore {
      private readonly rows = [printer]
      async find(clientId: string) {
        return this.rows.find(({ client_id }) => client_id === clientId)
      }
    }
    const { findClient } = resolveOptions(optionsWith({ clients: new Database() }))
    await expect(findClient(printer.client_id)).resolves.toHaveProperty('client_id', printer.client_id)
  })

  it('is not believed when it finds another client than it was asked for [client-25]', async () => {
    await expect(found(async () => ({ ...printer, client_id: 'PHOTO-PRINTER' }))).resolves.toBeUndefined()
  })

  it('that finds a registration with mistakes gets all of them', async () => {
    const attempt = found(async () => fromDatabase({ ...web, client_type: 'web', redirect_uris: ['x'] }))
    await expect(attempt).rejects.toThrow(ConfigurationError)
    await expect(attempt).rejects.toMatchObject({
      issues: [
        expect.objectContaining({ path: 'registration.client_type' }),
        expect.objectContaining({ path: 'registration.redirect_uris[0]' }),
      ],
    })
  })

  it.each<[string, ClientStore['find']]>([
    ['breaks', () => Promise.reject(new Error('down'))],
    ['never answers', () => new Promise(() => undefined)],
  ])('that %s is a temporary failure', async (_what, find) => {
    const attempt = found(find, { storeDeadline: 0.05 })
    await expect(attempt).rejects.toThrow(OAuthError)
    await expect(attempt).rejects.toMatchObject({
      code: 'temporarily_unavailable',
      reason: 'store_unavailable',
    })
  })
})
