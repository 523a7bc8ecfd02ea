import { hashSync } from 'bcrypt'
import {
  generateClientSecret,
  implicit,
  memoryStore,
  type AuthorizationServerOptions,
  type ClientRegistration,
} from '../../../../lib/index'
import { dpop } from '../../../../lib/paths/dpop'
import {
  registeredClients,
  metadataDocuments,
  type MetadataDocumentsOptions,
} from '../../../../lib/paths/registration'
import { password } from '../../../../lib/paths/grants'
import { pushedAuthorizationRequests } from '../../../../lib/paths/pushed-requests'
import { lint, rules, subjectOf } from '../../../../lib/command-line/lint'

type Bend = Partial<AuthorizationServerOptions>

const never = async (): Promise<never> => Promise.reject(new Error('lint asked a store'))
const store = { read: never, write: never, remove: never, add: never, list: never }

const wall: ClientRegistration = {
  client_id: 'wall',
  client_type: 'public',
  redirect_uris: ['https://wall.example/callback'],
  scope: 'a',
}
const hash = () => generateClientSecret().client_secret_hash
const shop: ClientRegistration = {
  client_id: 'shop',
  client_type: 'confidential',
  client_secret_hashes: [hash()],
  redirect_uris: ['https://shop.example/callback'],
  scope: 'a',
}

/** Nothing is unwise in these. */
const good: AuthorizationServerOptions = {
  issuer: 'https://login.example',
  scopes: { a: 'A', b: 'B', c: 'C' },
  clients: [wall, shop],
  resourceOwner: () => 'ada',
  store,
  pkce: 'all',
}

const wallWith = (bend: Partial<ClientRegistration>): Bend => ({ clients: [{ ...wall, ...bend }, shop] })
const shopWith = (bend: Partial<ClientRegistration>): Bend => ({ clients: [wall, { ...shop, ...bend }] })
const passwordWith = (limits: Parameters<typeof password>[0]['limits']): Bend => ({
  plugins: [password(limits === undefined ? { verify: never } : { verify: never, limits })],
})
function registryOf(...registrations: readonly ClientRegistration[]) {
  const texts = new Map(registrations.map((registration) => [registration.client_id, { registration }]))
  return registeredClients({
    ...store,
    list: async () => [...texts.keys()],
    read: async (key) => ({ value: JSON.stringify(texts.get(key.slice(7))), version: 'a'.repeat(22) }),
  })
}

const openRegistration = { scope: 'a' }
const registration = { ...openRegistration, initialAccessToken: hash() }
const photos = 'https://photos.example'
const oneResource = { [photos]: { scopes: ['a'] } }
const twoResources = { ...oneResource, 'https://notes.example': { scopes: ['b'] } }

async function broken(bend: Bend, ...allowed: readonly string[]): Promise<readonly string[]> {
  const subject = await subjectOf({ ...good, ...bend })
  return lint(subject, allowed).map(({ rule, path }) => `${rule} ${path}`)
}

// The place, options that break the rule there and nowhere else, and what has to be allowed for it to be alone.
const breaks: Readonly<Record<string, readonly [path: string, bend: Bend, ...allowed: readonly string[]]>> = {
  'issuer-http': ['issuer', { issuer: 'http://localhost:3000' }],
  'pkce-off': ['pkce', { pkce: 'none' }],
  'pkce-public-only': ['pkce', { pkce: 'public' }],
  'default-scope-everything': ['defaultScope', { defaultScope: 'c a b' }],
  'memory-store': ['store', { store: memoryStore() }],
  'memory-counters': ['counters', { counters: memoryStore() }],
  'memory-clients': ['clients', { clients: registeredClients(memoryStore()) }],
  'dpop-nonce-secret': ['plugins[0].guardNonces.secret', { plugins: [dpop({ guardNonces: {} })] }],
  'registration-open': ['dynamicRegistration', { dynamicRegistration: openRegistration }],
  'registration-every-scope': [
    'dynamicRegistration.scope',
    { dynamicRegistration: { ...registration, scope: 'c b a' } },
  ],
  'skip-consent-resources': ['skipConsent', { skipConsent: () => true, resources: twoResources }],
  'remember-consent-no-end': ['rememberConsent', { rememberConsent: true }],
  'remember-consent-long': [
    'rememberConsent.seconds',
    { rememberConsent: { seconds: 365 * 86_400 + 1 }, authorizations: true },
  ],
  'access-token-over-an-hour': ['lifetimes.accessToken', { lifetimes: { accessToken: 3601 } }],
  'access-token-over-a-day': ['lifetimes.accessToken', { lifetimes: { accessToken: 86_401 } }],
  'code-lifetime': ['lifetimes.authorizationCode', { lifetimes: { authorizationCode: 61 } }],
  'refresh-token-lifetime': ['lifetimes.refreshToken', { lifetimes: { refreshToken: 90 * 86_400 + 1 } }],
  'refresh-grace': ['lifetimes.refreshTokenGrace', { lifetimes: { refreshTokenGrace: 61 } }],
  'authorization-request-lifetime': [
    'lifetimes.authorizationRequest',
    { lifetimes: { authorizationRequest: 1801 } },
  ],
  'store-deadline': ['storeDeadline', { storeDeadline: 5.1 }],
  'client-guesses-unlimited': ['limits.clientAuthentication', { limits: { clientAuthentication: false } }],
  'rate-limit-off': ['limits.networks.clients', { limits: { networks: { clients: false } } }],
  'open-requests-unlimited': ['limits.openRequests', { limits: { openRequests: false } }],
  'issuing-unlimited': ['limits.issuing.owner', { limits: { issuing: { owner: false } } }],
  'single-uses-unlimited': ['limits.singleUses', { limits: { singleUses: false } }],
  'body-deadline': ['bodyDeadline', { bodyDeadline: 30.1 }],
  'implicit-grant': ['plugins[0].responseTypes[0]', { plugins: [implicit()] }],
  'client-implicit-grant': [
    'clients[0].response_types[1]',
    {
      plugins: [implicit()],
      ...wallWith({ grant_types: ['authorization_code', 'implicit'], response_types: ['code', 'token'] }),
    },
    'implicit-grant',
  ],
  'password-grant': ['plugins[0]', passwordWith(undefined)],
  'client-password-grant': [
    'clients[1].grant_types[1]',
    { ...passwordWith(undefined), ...shopWith({ grant_types: ['authorization_code', 'password'] }) },
    'password-grant',
  ],
  'password-limit-off': [
    'plugins[0].limits.address',
    passwordWith({ address: false, client: { attempts: 9 } }),
    'password-grant',
  ],
  'password-unlimited': [
    'plugins[0].limits',
    passwordWith({ username: false, address: false, client: false }),
    'password-grant',
  ],
  'redirect-uri-http': [
    'clients[0].redirect_uris[1]',
    wallWith({
      insecure_redirect_uris: true,
      redirect_uris: ['https://wall.example/', 'http://wall.example/'],
    }),
  ],
  'redirect-uri-dynamic-query': [
    'clients[0].dynamic_redirect_query',
    wallWith({ dynamic_redirect_query: true }),
  ],
  'redirect-uri-localhost': [
    'clients[0].redirect_uris[1]',
    wallWith({ redirect_uris: ['http://127.0.0.1/callback', 'http://localhost:1/callback'] }),
  ],
  'redirect-uri-scheme-without-dot': [
    'clients[0].redirect_uris[1]',
    wallWith({ redirect_uris: ['com.example.wall:/callback', 'wall:/callback.example'] }),
  ],
  'confidential-loopback-uri': [
    'clients[1].redirect_uris[0]',
    shopWith({ redirect_uris: ['http://127.0.0.1:4000/callback'] }),
  ],
  'confidential-private-scheme': [
    'clients[1].redirect_uris[0]',
    shopWith({ redirect_uris: ['com.example.shop:/callback'] }),
  ],
  'refresh-token-kept-on-device': [
    'clients[1].redirect_uris[1]',
    {
      refreshTokenRotation: false,
      lifetimes: { grant: 86_400 },
      ...shopWith({
        redirect_uris: ['https://shop.example/callback', 'com.example.shop:/callback'],
        grant_types: ['authorization_code', 'refresh_token'],
      }),
    },
    'confidential-private-scheme',
  ],
  'redirect-uri-shared': [
    'clients["b"].redirect_uris[0]',
    { clients: registryOf({ ...wall, client_id: 'a', disabled: true }, { ...wall, client_id: 'b' }, wall) },
  ],
  'client-refused': [
    'clients["robot"].scope',
    { clients: registryOf(wall, { ...shop, client_id: 'robot', scope: 'a d' }) },
  ],
  'pushed-requests-off': [
    'clients["robot"].require_pushed_authorization_requests',
    {
      clients: registryOf(wall, { ...shop, client_id: 'robot', require_pushed_authorization_requests: true }),
    },
  ],
  'client-secret-cheap-hash': [
    'clients[1].client_secret_hashes[0]',
    shopWith({ client_secret_hashes: [hashSync('chosen', 9)] }),
  ],
  'client-secret-old': [
    'clients[1].client_secret_hashes',
    shopWith({ client_secret_hashes: [hash(), hash()] }),
  ],
  'client-public-secret': [
    'clients[0].client_secret_hashes',
    wallWith({ client_secret_hashes: [hashSync('chosen', 10)] }),
  ],
  'client-every-scope': ['clients[1].scope', shopWith({ scope: 'c b a' })],
  'refresh-token-kept-for-ever': ['refreshTokenRotation', { refreshTokenRotation: false }],
}

test('a configuration in which nothing is unwise has no finding', async () => {
  expect(await broken({})).toEqual([])
  expect(await broken({ clients: registryOf(wall, shop) })).toEqual([])
})

test.each(Object.entries(breaks))(
  'the rule %s is broken alone, at its place',
  async (rule, [path, bend, ...allowed]) => {
    const found = await broken(bend, ...allowed)
    expect(found).toContain(`${rule} ${path}`)
    expect(new Set(found.map((finding) => finding.split(' ')[0]))).toEqual(new Set([rule]))
    expect(await broken(bend, ...allowed, rule)).toEqual([])
  },
)

test('each rule is broken by a test, and has a name of its own [store-15]', () => {
  expect(rules.map(({ rule }) => rule).toSorted()).toEqual(Object.keys(breaks).toSorted())
})

test.each<[string, Bend]>([
  ['a year of memory, and a way to end it', { rememberConsent: true, authorizations: true }],
  ['an hour', { lifetimes: { accessToken: 3600 } }],
  ['a code of a minute', { lifetimes: { authorizationCode: 60 } }],
  ['90 days', { lifetimes: { refreshToken: 90 * 86_400 } }],
  ['a grace of a minute', { lifetimes: { refreshTokenGrace: 60 } }],
  ['half an hour on the consent page', { lifetimes: { authorizationRequest: 1800 } }],
  ['five seconds for a store', { storeDeadline: 5 }],
  ['a default scope that is a part', { defaultScope: 'a b' }],
  ['PKCE for public clients where no other uses codes', { pkce: 'public', clients: [wall] }],
  [
    'one URI twice at the same client',
    wallWith({ redirect_uris: ['https://w.example/', 'https://w.example/'] }),
  ],
  [
    'a refresh token without rotation that ends with its grant',
    { refreshTokenRotation: false, lifetimes: { grant: 86_400 } },
  ],
  [
    'a client without rotation whose grants end',
    shopWith({ refresh_token_rotation: false, grant_lifetime: 86_400 }),
  ],
  ['a disabled client', wallWith({ disabled: true, redirect_uris: ['wall:/x'] })],
  ['registration for those who have a token', { dynamicRegistration: registration }],
  ['a consent skipped where one resource is', { skipConsent: () => true, resources: oneResource }],
  ['resources where each consent is asked for', { resources: twoResources, defaultResource: photos }],
  [
    'no limit on registrations that need a token',
    { dynamicRegistration: registration, limits: { networks: { registration: false } } },
  ],
  [
    'a client that must push where clients can',
    {
      clients: registryOf(wall, { ...shop, require_pushed_authorization_requests: true }),
      plugins: [pushedAuthorizationRequests()],
    },
  ],
  ['bcrypt at the cost of this suite', shopWith({ client_secret_hashes: [hashSync('chosen', 10)] })],
  [
    'a digest of another server that the host verifies',
    { clients: registryOf({ ...shop, client_secret_hashes: ['ab'.repeat(32)] }), verifyDigest: () => false },
  ],
])('at its limit a rule is not broken: %s', async (_, bend) => {
  expect(await broken(bend)).toEqual([])
})

test.each<[string, string, MetadataDocumentsOptions]>([
  ['a list', 'clients.registered[0]', { registered: [{ ...wall, redirect_uris: ['x:/'] }] }],
  [
    'a registry',
    'clients.registered["wall"]',
    { registered: registryOf({ ...wall, redirect_uris: ['x:/'] }) },
  ],
])('clients beside metadata documents are looked at in %s', async (_, path, documents) => {
  const rule = 'redirect-uri-scheme-without-dot'
  expect(await broken({ clients: metadataDocuments(documents) })).toEqual([
    `${rule} ${path}.redirect_uris[0]`,
  ])
  expect(await broken({ clients: metadataDocuments() })).toEqual([])
})

test('a client whose refresh tokens stay good without an end is found', async () => {
  expect(await broken(shopWith({ refresh_token_rotation: false }))).toEqual([
    'refresh-token-kept-for-ever clients[1].refresh_token_rotation',
  ])
})

test('open registration without a limit for each network is found', async () => {
  const bend: Bend = { dynamicRegistration: openRegistration, limits: { networks: { registration: false } } }
  expect(await broken(bend, 'registration-open')).toEqual(['rate-limit-off limits.networks.registration'])
})

test('errors come before warnings, each with the client it is of', async () => {
  const subject = await subjectOf({ ...good, ...wallWith({ redirect_uris: ['x:/'] }), pkce: 'none' })
  expect(lint(subject).map(({ rule, severity, client }) => [rule, severity, client])).toEqual([
    ['pkce-off', 'error', undefined],
    ['redirect-uri-scheme-without-dot', 'warning', 'wall'],
  ])
})

test('a store of clients that cannot list them, or does not answer, leaves the rest to be looked at', async () => {
  for (const [clients, why] of [
    [{ find: never }, 'only registeredClients(store) lists'],
    [registeredClients(store), 'does not answer'],
  ] as const) {
    const seen = await subjectOf({ ...good, clients, pkce: 'none' })
    expect(seen.unseenClients).toContain(why)
    expect(lint(seen).map(({ rule }) => rule)).toEqual(['pkce-off'])
  }
})
