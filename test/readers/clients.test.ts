import { runInNewContext } from 'node:vm'
import {
  type AuthorizationServerOptions,
  type ClientSource,
  createAuthorizationServer,
  memoryStore,
} from '../../lib/index'
import { registeredClients } from '../../lib/paths/registration'
import { bent, photoBook } from '../support/flows/clients'
import { authorizationRequest } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'
import { setStage } from '../support/flows/stage'
import { issuesIn, mistakesWith, pathsWith } from '../support/mistakes'
import { optionsWith, phone, printer } from '../support/registrations'
import { but } from '../support/stores/but'

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
            'must be a list of registrations, a store with a function find(client_id), or a source such as metadataDocuments().',
        },
      ])
    },
  )

  it.each<[string, object, string]>([
    ['no client type', { client_type: undefined }, 'client_type'],
    ['a confidential client without a secret', { client_secret_hashes: [] }, 'client_secret_hashes'],
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
})

type OpenClients = ReturnType<ClientSource['open']>
type ClientSourceServer = Parameters<ClientSource['open']>[0]
const nobody: OpenClients = { find: () => undefined }

/** What a source sees of the server that opens it. */
function opening(open: (server: ClientSourceServer) => OpenClients = () => nobody, bend: object = {}) {
  const seen: ClientSourceServer[] = []
  const clients: ClientSource = {
    open(server) {
      seen.push(server)
      return open(server)
    },
  }
  createAuthorizationServer(optionsWith({ clients, ...bend }))
  const [server] = seen
  if (server === undefined || seen.length > 1) throw new Error('The source was not opened once.')
  return server
}

describe('a source of clients', () => {
  it('is opened once, with the values of the server', () => {
    const clock = () => 7
    expect(opening(undefined, { clock })).toMatchObject({
      issuer: 'http://localhost',
      hasAuthorizationEndpoint: true,
      clock,
      capabilities: { tokenTypes: ['bearer'] },
    })
    expect(opening(undefined, { resourceOwner: undefined }).hasAuthorizationEndpoint).toBe(false)
  })

  it('finds the clients of the server, adds to its metadata, and may open registered ones, which the server registers, too', async () => {
    const registry = registeredClients(memoryStore())
    const frame = bent(photoBook, { client_id: 'frame', redirect_uris: ['https://frame.example/callback'] })
    await registry.add(frame.registration)
    const clients: ClientSource = {
      open(server) {
        const known = server.openRegistered(registry, 'known')
        expect(() => server.parse({ ...photoBook.registration, scope: 'unheard' })).toThrow('scope')
        return {
          ...known,
          find: (clientId, sender) =>
            clientId === 'photo-book' ? server.parse(photoBook.registration) : known.find(clientId, sender),
          metadata: { found_here: true },
        }
      },
    }
    const { flow } = setStage({ clients })
    for (const client of [photoBook, frame])
      expect(outcomeOf(await flow.ask(authorizationRequest(client), 'alice'))).toBe('question')
    const { body } = await flow.open('/.well-known/oauth-authorization-server')
    expect(body).toHaveProperty('found_here', true)
  })

  it('may answer with a promise of another realm, at both endpoints', async () => {
    const { Promise: Foreign }: { Promise: PromiseConstructor } = runInNewContext('({ Promise })')
    const clients: ClientSource = {
      open: (server) => ({
        find: (clientId) =>
          Foreign.resolve(clientId === 'photo-book' ? server.parse(photoBook.registration) : undefined),
      }),
    }
    const { flow } = setStage({ clients })
    expect((await flow.redeem(photoBook, await flow.approve(photoBook))).status).toBe(200)
    expect((await flow.redeem({ ...photoBook, secret: 'guess' }, 'x')).status).toBe(401)
  })

  it('may be found at once by a host in JavaScript', async () => {
    const find = (clientId: string) => (clientId === 'photo-book' ? photoBook.registration : undefined)
    const options: Partial<AuthorizationServerOptions> = Object.assign(Object.create(null), {
      clients: { find },
    })
    const { flow } = setStage(options)
    expect((await flow.redeem(photoBook, await flow.approve(photoBook))).status).toBe(200)
  })

  it('reports mistakes with those of the options', () => {
    const clients: ClientSource = {
      open(server) {
        server.wrong('', 'is nothing.')
        server.wrong('allow[0]', 'is no host.')
        server.openRegistered([{ ...printer, scope: '' }], 'known')
        return server.openRegistered('none', 'unknown')
      },
    }
    expect(pathsWith({ clients, login: '' })).toEqual([
      'login',
      'clients',
      'clients.allow[0]',
      'clients.known[0].scope',
      'clients.unknown',
    ])
  })

  describe('shares a cache', () => {
    const documentsIn = (bend: object) => opening(undefined, bend).storedDocuments

    it('of the store', async () => {
      const store = memoryStore()
      await documentsIn({ store }).keep('a', 'text', 60)
      await documentsIn({ store }).keep('a', 'newer', 60)
      expect([await documentsIn({ store }).find('a'), await documentsIn({}).find('a')]).toEqual([
        'newer',
        undefined,
      ])
    })

    it('whose failure is a failure of the store', async () => {
      const never = () => new Promise<never>(() => {})
      const store = but(memoryStore(), { read: never, write: never })
      const slow = documentsIn({ store, storeDeadline: 0.01 })
      await expect(slow.find('a')).rejects.toMatchObject({ reason: 'store_unavailable' })
      await expect(slow.keep('a', 'text', 60)).rejects.toMatchObject({ reason: 'store_unavailable' })
    })
  })
})
