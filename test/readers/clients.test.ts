import type { AuthorizationServerOptions } from '../../lib/index'
import { photoBook } from '../support/flows/clients'
import { authorizationRequest } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'
import { setStage } from '../support/flows/stage'
import { issuesIn, mistakesWith, pathsWith } from '../support/mistakes'
import { optionsWith, phone, printer } from '../support/registrations'

// Without client_credentials, which a registration whose type is wrong is told of, too.
const web = { ...printer, grant_types: ['authorization_code'] }
const service = { ...printer, client_id: 'service', grant_types: ['client_credentials'], redirect_uris: [] }

describe('a list of clients', () => {
  it.each([[null], [7], ['x'], [true], [{}], [{ find: true }], [new Map()], [() => []]])(
    'is no list and no store: %j',
    (clients) => {
      expect(mistakesWith({ clients })).toEqual([
        {
          path: 'clients',
          message:
            'must be a list of registrations, a store with a function find(client_id), or metadataDocuments().',
        },
      ])
    },
  )

  it.each<[string, object, string]>([
    ['no client type', { client_type: undefined }, 'client_type'],
    ['a confidential client without a secret', { client_secret_hashes: [] }, 'client_secret_hashes'],
    [
      'a digest that nothing verifies',
      { client_secret_hashes: ['ab'.repeat(32)] },
      'client_secret_hashes[0]',
    ],
    ['a relative URI', { redirect_uris: ['https://a.example/', '/callback'] }, 'redirect_uris[1]'],
    ['an unknown grant type', { grant_types: ['password'], response_types: [] }, 'grant_types'],
    ['a scope of another server', { scope: 'photos.read admin' }, 'scope'],
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
    ['a member', { subject_type: 'public' }, 'subject_type', 'openIdConnect() to the option plugins'],
    ['another one', { dpop_bound_access_tokens: true }, 'dpop_bound_access_tokens', 'dpop()'],
    [
      'a grant type',
      { grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'] },
      'grant_types',
      'deviceAuthorization() to the option plugins',
    ],
    ['a response type', { response_types: ['code', 'token'] }, 'response_types', 'implicit()'],
    ['a token type', { token_type: 'mac' }, 'token_type', 'mac() to the option plugins'],
    [
      'a method',
      { token_endpoint_auth_method: 'private_key_jwt' },
      'token_endpoint_auth_method',
      'privateKeyJwt()',
    ],
    ['its entry', { credentials: { private_key_jwt: {} } }, 'credentials.private_key_jwt', 'privateKeyJwt()'],
  ])('names what adds %s of a plug-in that is off', (_what, bend, path, plugin) => {
    expect(mistakesWith({ clients: [{ ...web, ...bend }] })).toEqual([
      { path: `clients[0].${path}`, message: expect.stringContaining(`add ${plugin}`) },
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

  it.each([
    [
      { scope: 'photos.read,photos.write' },
      'scope names a scope that the server does not have, "photos.read,photos.write"; it has photos.read, photos.write.',
    ],
    [
      { jwks_uri: 'https://printer.example/keys' },
      'jwks_uri belongs to a plug-in that is off: add requestObjects() to the option plugins; the keys of private_key_jwt stand in credentials.private_key_jwt.',
    ],
  ])('says what is wrong with %j', (bend, mistake) => {
    const [found, ...more] = mistakesWith({ clients: [{ ...printer, ...bend }] })
    expect([`${found?.path} ${found?.message}`, more]).toEqual([`clients[0].${mistake}`, []])
  })

  it.each([[null], ['photo-printer'], [7], [[]]])('reports the path of %j', (registration) => {
    expect(mistakesWith({ clients: [phone, registration] })).toContainEqual({
      path: 'clients[1]',
      message: 'must be an object.',
    })
  })

  it('reports the mistakes of all clients at once, beside those of other options', () => {
    const clients = [
      { ...web, scope: 'x', client_type: 'web' },
      { ...phone, redirect_uris: ['x'] },
    ]
    expect(pathsWith({ clients, pkce: 'x' })).toEqual([
      'pkce',
      'clients[0].client_type',
      'clients[0].scope',
      'clients[1].redirect_uris[0]',
    ])
  })

  it('reports a client_id that is taken; identifiers that differ in case are two', () => {
    const message = 'is "photo-printer", which another client has already.'
    expect(
      mistakesWith({ clients: [printer, phone, { ...phone, client_id: printer.client_id }, printer] }),
    ).toEqual([
      { path: 'clients[2].client_id', message },
      { path: 'clients[3].client_id', message },
    ])
    expect(mistakesWith({ clients: [printer, { ...printer, client_id: 'Photo-Printer' }] })).toEqual([])
  })

  it('demands resourceOwner if a client uses the authorization endpoint', () => {
    const { resourceOwner: _unused, ...others } = optionsWith()
    const message =
      'is missing: clients use the authorization endpoint, so resourceOwner must return who is logged in.'
    expect(issuesIn(others)).toEqual([{ path: 'resourceOwner', message }])
    expect(issuesIn({ ...others, clients: [service] })).toEqual([])
    expect(issuesIn({ ...others, clients: [] })).toEqual([])
  })
})

describe('clients are found', () => {
  const outcomeFor = async (client_id: string, clients: Parameters<typeof setStage>[0] = {}) => {
    const { flow } = setStage(clients)
    return outcomeOf(await flow.ask({ ...authorizationRequest(photoBook), client_id }, 'alice'))
  }

  it.each(['', 'nobody', 'Photo-Book', 'photo-book ', 'constructor', '__proto__'])(
    'by their exact identifier, which %j is not',
    async (client_id) => {
      expect(await outcomeFor(client_id)).toBe('page 400 invalid_request')
    },
  )

  it('in an object of a class, and nobody is found where a database says null', async () => {
    class Database {
      private readonly rows = [photoBook.registration]
      async find(clientId: string) {
        const found = this.rows.find(({ client_id }) => client_id === clientId)
        return found ?? JSON.parse('null')
      }
    }
    const clients = new Database()
    expect(await outcomeFor('photo-book', { clients })).toBe('question')
    expect(await outcomeFor('nobody', { clients })).toBe('page 400 invalid_request')
  })

  it('at once, by a host in JavaScript', async () => {
    const find = (clientId: string) => (clientId === 'photo-book' ? photoBook.registration : undefined)
    const options: Partial<AuthorizationServerOptions> = Object.assign(Object.create(null), {
      clients: { find },
    })
    const { flow } = setStage(options)
    expect((await flow.redeem(photoBook, await flow.approve(photoBook))).status).toBe(200)
  })
})
