import { implicit, type AuthorizationServerOptions, memoryStore } from '../../lib/index'
import {
  registeredClients,
  metadataDocuments,
  type MetadataDocumentsOptions,
} from '../../lib/paths/registration'
import { privateKeyJwt } from '../../lib/paths/jwt'
import { photoBook } from '../support/flows/clients'
import { openedDocuments } from '../support/flows/opened-documents'
import { refusedOptions } from '../support/flows/refused-fields'
import { signer } from '../support/assertions/jwt'
import { mistakesWith } from '../support/mistakes'
import { mistakesOf } from '../support/mistakes-of'

const clientId = 'https://notes.example/oauth/client.json'
const document = {
  client_id: clientId,
  client_name: 'Note Taker',
  redirect_uris: ['http://127.0.0.1:3000/callback', 'https://notes.example/callback'],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
}
const { jwk } = signer('notes', '1')
const jwks = { keys: [jwk] }
const usual: Partial<AuthorizationServerOptions> = {
  plugins: [privateKeyJwt(), implicit()],
}

/** A source whose documents are this JSON, wherever they are. */
function source(
  json: unknown,
  options: MetadataDocumentsOptions = {},
  server: Partial<AuthorizationServerOptions> = usual,
) {
  const asked: string[] = []
  const documents = {
    fetch: async (url: string) => {
      asked.push(url)
      return { json, maximumAge: 60 }
    },
  }
  const { findClient: find, registered } = openedDocuments({ documents, ...options }, server)
  return { asked, registered, find: async (id = clientId) => find(id) }
}

/** The client of a document with some members bent. */
const parsed = (
  bend: object = {},
  ...ways: [MetadataDocumentsOptions?, Partial<AuthorizationServerOptions>?]
) => source({ ...document, ...bend }, ...ways).find()

/** The reason for which it is refused. */
const reasonOf = (found: Promise<unknown>) =>
  found.then(
    () => undefined,
    (error: unknown) => String(Object(error).reason ?? error),
  )
const malformed = 'client_document_malformed'

test.each<[string, object, readonly string[]]>([
  ['another option', { registered: [], beside: [] }, ['clients.beside']],
  ['registered that is no list', { registered: 7 }, ['clients.registered']],
  [
    'a faulty registration',
    { registered: [{ ...photoBook.registration, client_type: 'web' }] },
    ['clients.registered[0].client_type'],
  ],
  [
    'two equal registrations',
    { registered: [photoBook.registration, photoBook.registration] },
    ['clients.registered[1].client_id'],
  ],
  ['allow that is a text', { allow: 'notes.example' }, ['clients.allow']],
  [
    'allow with what is no host and no URL',
    {
      allow: ['http://a.example/', 'a b', 7, '*', 'https://a.example', 'A.example', 'https://a.example/b'],
    },
    [0, 1, 2, 3, 4, 5].map((index) => `clients.allow[${index}]`),
  ],
  ['a scope that the server lacks', { scope: 'notes:burn' }, ['clients.scope']],
  ['an empty scope', { scope: '' }, ['clients.scope']],
  ['a grant type that the server lacks', { grantTypes: ['password'] }, ['clients.grantTypes']],
  ['a text for localhostRedirects', { localhostRedirects: 'yes' }, ['clients.localhostRedirects']],
  ['a lookup that is no function', { lookup: '127.0.0.1' }, ['clients.lookup']],
  ['documents that cannot be fetched', { documents: { get: () => undefined } }, ['clients.documents']],
  [
    'two ways to fetch',
    { documents: { fetch: async () => undefined }, lookup: async () => [], ca: 'PEM' },
    ['clients.lookup', 'clients.ca'],
  ],
  ['certificates that are numbers', { ca: [7] }, ['clients.ca']],
])('metadataDocuments() is refused at construction with %s', (_, options, paths) => {
  expect(refusedOptions({ clients: metadataDocuments(options) })).toEqual(paths)
})

test('registrations in place of the options of metadataDocuments(), or of a store, are a mistake with its cure', () => {
  const javascript: { make(given: unknown): object } = { make: metadataDocuments }
  expect(mistakesWith({ clients: javascript.make([photoBook.registration]) })).toEqual([
    {
      path: 'clients',
      message: 'of metadataDocuments() stand in registered: metadataDocuments({ registered: [...] }).',
    },
  ])
  expect(mistakesOf({ make: registeredClients }, [photoBook.registration])).toEqual([
    {
      path: 'store',
      message:
        'must have the functions read, write, remove, add and list, as redisStore({ url }) and memoryStore() have.',
    },
  ])
})

test('metadataDocuments() needs to know who is logged in, unless its clients never ask', () => {
  const refused = (options: MetadataDocumentsOptions) =>
    refusedOptions({ clients: metadataDocuments(options), resourceOwner: undefined })
  expect(refused({})).toEqual(['clients'])
  expect(refused({ grantTypes: ['client_credentials'] })).toEqual([])
})

test.each([
  ['a list', (own: typeof photoBook.registration) => [own]],
  ['a store', (own: typeof photoBook.registration) => ({ find: async () => own })],
])('the option registered wins over documents: %s', async (_, registered) => {
  const own = { ...photoBook.registration, client_id: clientId }
  const { find, asked } = source(document, { registered: registered(own) })
  expect(await find()).toMatchObject({ client_name: 'Photo Book' })
  expect(asked).toEqual([])
})

test('a registry in the option registered is that of the server', () => {
  const registry = registeredClients(memoryStore())
  expect(source(document, { registered: registry }).registered).toMatchObject({
    clients: registry,
    path: 'clients.registered',
  })
})

test.each<[string, NonNullable<MetadataDocumentsOptions['allow']>, boolean]>([
  ['the host', ['other.example', 'notes.example'], true],
  ['a domain above', ['*.example'], true],
  ['the URL', [clientId], true],
  ['its folder', ['https://notes.example/oauth/'], true],
  ['its whole host', ['https://notes.example/'], true],
  ['a function', (id) => id === clientId, true],
  ['an async function', async () => true, true],
  ['nothing', [], false],
  ['another host', ['example'], false],
  ['the domain of the host', ['*.notes.example'], false],
  ['a host that ends so', ['otes.example'], false],
  ['a domain that ends so', ['*.otes.example'], false],
  ['another port', ['notes.example:8443'], false],
  ['another URL', [`${clientId}x`], false],
  ['the beginning of its URL without a slash', ['https://notes.example/oauth/client'], false],
  ['a folder beside', ['https://notes.example/oauth/client.json/'], false],
  ['a function that says no', () => false, false],
  ['an async function that says no', async () => false, false],
])('allow by %s lets a document in: %s', async (_, allow, isIn) => {
  const { find, asked } = source(document, { allow })
  expect(await reasonOf(find())).toBe(isIn ? undefined : 'client_document_not_allowed')
  expect(asked).toEqual(isIn ? [clientId] : [])
})

test.each(['..%2fmallory.json', 'a/..%5Cb', '%2e%2e%252Fb', '..;/mallory.json', 'a/.;x/b'])(
  'allow by a folder keeps %s out, which some web servers look up elsewhere [stranger-13]',
  async (rest) => {
    const folder = 'https://notes.example/oauth/'
    const url = `${folder}${rest}`
    const outcome = (allow: readonly string[]) => {
      const { find } = source({ ...document, client_id: url }, { allow })
      return reasonOf(find(url))
    }
    expect(await outcome([folder])).toBe('client_document_not_allowed')
    expect(await outcome([url])).toBeUndefined()
  },
)

test('allow decides by true and false alone', async () => {
  const { find } = source(document, { allow: () => JSON.parse('"yes"') })
  await expect(find()).rejects.toThrow('must return true or false')
})

test.each([
  ...'https://c.example/oauth/metadata.json https://c.example/a https://c.example/ https://c.example/?a'.split(
    ' ',
  ),
  ...'https://c.example:443/a https://c.example/a:443/b https://c.example/a/ https://c.example:8443/a'.split(
    ' ',
  ),
  ...'https://c.example/a?version=2 https://c.example/a%2Fb https://c.example/...'.split(' '),
  ...'https://c.example/.well-known/client https://xn--bcher-kva.example/a https://127.0.0.1/a'.split(' '),
  `https://client.example/${'a'.repeat(233)}`,
])('the URL of a document may be %s', async (url) => {
  expect(await source({ ...document, client_id: url }).find(url)).toMatchObject({ client_id: url })
})

test.each([
  ...'s6BhdRkqt3 http://c.example/a ftp://c.example/a HTTPS://c.example/a https://c.example'.split(' '),
  ...'https://c.example?a https://c.example:443 https:///a https:c.example/a https:/c.example/a'.split(' '),
  ...'https://c.example/a/./b https://c.example/a/../b https://c.example/a/.. https://c.example/a/%2e/b'.split(
    ' ',
  ),
  ...'https://c.example/a/%2E%2e/b https://c.example/a/.%2e/b https://c.example/a#b https://c.example/a#'.split(
    ' ',
  ),
  ...'https://alice@c.example/a https://alice:secret@c.example/a https://@c.example/a'.split(' '),
  ...'https://c.example:443:443/a https://c.example:0443/a https://c.example:/a https://C.example/a'.split(
    ' ',
  ),
  ...'https://0x7f.1/a https://c.example\\a https://bücher.example/a https://c.example/%zz constructor'.split(
    ' ',
  ),
  '',
  'https://c.example/a b',
  ' https://c.example/a',
  'https://c.example/a\n',
  'https://c.example/a\tb',
  `https://client.example/${'a'.repeat(234)}`,
])('the URL of a document is never %j, and nothing is fetched [stranger-2]', async (url) => {
  const { find, asked } = source({ ...document, client_id: url })
  expect([await find(url), asked]).toEqual([undefined, []])
})

const offered = { scope: ['photos:read', 'photos:print', 'reports:write'] }
const byKey = { token_endpoint_auth_method: 'private_key_jwt' }

test('A document needs three members, and never makes its client more than a client of strangers [stranger-3]', async () => {
  const { client_id, client_name, redirect_uris } = document
  const least = {
    ...offered,
    client_id,
    client_name,
    redirect_uris,
    client_type: 'public',
    token_endpoint_auth_method: 'none',
    client_secret_hashes: [],
    credentials: {},
    grant_types: ['authorization_code'],
    response_types: ['code'],
    may_introspect: false,
    insecure_redirect_uris: false,
    dynamic_redirect_query: false,
    token_type: undefined,
    description: undefined,
    logo_uri: undefined,
    metadataDocument: { host: 'notes.example', localhostRedirects: false },
    disabled: false,
  }
  expect(await source({ client_id, client_name, redirect_uris }).find()).toMatchObject(least)
  const grasping = {
    client_type: 'confidential',
    client_secret_hashes: [`sha256:${'a'.repeat(43)}`],
    credentials: { private_key_jwt: jwks },
    may_introspect: true,
    insecure_redirect_uris: true,
    dynamic_redirect_query: true,
    token_type: 'mac',
    description: 'The official app of your bank.',
    logo_uri: 'https://bank.example/logo.png',
    metadataDocument: { host: 'bank.example', localhostRedirects: true },
    disabled: true,
    contacts: ['a@b.example'],
    'client_name#de': 'Notizen',
    software_id: 7,
  }
  const { grant_types } = document
  expect(await parsed(grasping)).toMatchObject({ ...least, grant_types })
})

const uris = (...redirect_uris: readonly unknown[]) => ({ redirect_uris })
test.each<[string, unknown]>([
  ['nothing', undefined],
  ['null', null],
  ['a list', [document]],
  ['a text', JSON.stringify(document)],
  ...Object.entries({
    'another client_id': { client_id: 'https://notes.example/oauth/other.json' },
    'a client_id in other letter case': { client_id: clientId.replace('notes', 'Notes') },
    'a client_id with an encoded letter': { client_id: clientId.replace('oauth', '%6Fauth') },
    'no client_id': { client_id: undefined },
    'several client_ids': { client_id: [clientId] },
    'an empty client_secret': { client_secret: '' },
    'the end of a client_secret': { client_secret_expires_at: 0 },
    'a client_name that is null': { client_name: null },
    'an empty client_name': { client_name: '' },
    'a client_name of two lines': { client_name: 'Note\nTaker' },
    'redirect_uris that are null': { redirect_uris: null },
    'redirect_uris that are a text': { redirect_uris: 'https://notes.example/callback' },
    'a redirection URI that is no text': uris(7),
    'a redirection URI that is a script': uris('https://notes.example/cb', 'javascript:alert(1)'),
    'nothing but redirection URIs without TLS': uris('http://notes.example/callback'),
    'a method with a secret': { token_endpoint_auth_method: 'client_secret_basic' },
    'an unknown method': { token_endpoint_auth_method: 'constructor' },
    'a method that is no text': { token_endpoint_auth_method: ['none'] },
    'the method of keys without keys': byKey,
    'keys in two places': { ...byKey, jwks, jwks_uri: 'https://notes.example/keys' },
    'a private key': { ...byKey, jwks: { keys: [{ ...jwk, d: 'd' }] } },
    'a private key that it does not use': { jwks: { keys: [{ ...jwk, d: 'd' }] } },
    'a private key of another kind': { jwks: { keys: [{ ...jwk, priv: 'd' }] } },
    'grant types that are a text': { grant_types: 'authorization_code' },
    'other grant types alone': { grant_types: ['urn:ietf:params:oauth:grant-type:device_code'] },
    'no grant types': { grant_types: [] },
    'refresh tokens alone': { grant_types: ['refresh_token'] },
    'client credentials without a key': { grant_types: ['client_credentials'] },
    'response types that are a text': { response_types: 'code' },
    'a scope that is no text': { scope: ['photos:read'] },
    'a malformed scope': { scope: 'photos:read  photos:print' },
    'a home page that is too long': { policy_uri: `https://notes.example/${'x'.repeat(2048)}` },
  }).map(([what, bend]): [string, unknown] => [what, { ...document, ...bend }]),
])('A document is malformed with %s [stranger-4]', async (_, json) => {
  const grantTypes = ['authorization_code', 'refresh_token', 'client_credentials']
  await expect(source(json, { grantTypes }).find()).rejects.toMatchObject({
    code: 'temporarily_unavailable',
    reason: malformed,
  })
})

const localhost = 'http://localhost:3000/callback'
const cb = 'https://notes.example/cb'
test.each<[string, object, object, MetadataDocumentsOptions?, Partial<AuthorizationServerOptions>?]>([
  [
    'nothing by null',
    { scope: null, client_secret: null, jwks: null, client_uri: null },
    { ...offered, client_uri: undefined },
  ],
  [
    'not what this server does not offer',
    {
      grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code', 'implicit'],
      response_types: ['code', 'token', 'id_token'],
      scope: 'openid photos:read offline_access',
    },
    { grant_types: ['authorization_code'], response_types: ['code'], scope: ['photos:read'] },
  ],
  ['the usual scope for those of other servers', { scope: 'openid offline_access' }, offered],
  ['the usual scope for an empty one', { scope: '' }, offered],
  ['the scope of the option', {}, { scope: ['photos:read'] }, { scope: 'photos:read' }],
  ['no other scope', { scope: 'photos:print' }, { scope: ['photos:read'] }, { scope: 'photos:read' }],
  [
    'a key, and no port of its choice',
    { ...byKey, jwks },
    { client_type: 'confidential', credentials: { private_key_jwt: jwks }, loopback_redirect_uris: false },
  ],
  [
    'the URL of its keys',
    { ...byKey, jwks_uri: 'https://notes.example/keys' },
    {
      client_type: 'confidential',
      credentials: { private_key_jwt: { jwks_uri: 'https://notes.example/keys' } },
    },
  ],
  [
    'client credentials with a key, where the option has them',
    { ...byKey, jwks, grant_types: ['client_credentials'], response_types: [] },
    { grant_types: ['client_credentials'], response_types: [] },
    { grantTypes: ['authorization_code', 'client_credentials'] },
  ],
  [
    'the rest without a key',
    { grant_types: ['authorization_code', 'client_credentials'] },
    { grant_types: ['authorization_code'] },
    { grantTypes: ['authorization_code', 'client_credentials'] },
  ],
  ['any port of 127.0.0.1', uris('http://127.0.0.1/callback'), { loopback_redirect_uris: true }],
  ['any port of [::1]', uris('http://[::1]:7000/callback'), { loopback_redirect_uris: true }],
  ['one port of localhost', uris(localhost), { loopback_redirect_uris: false }],
  [
    'any port of localhost by the option',
    uris(localhost),
    { metadataDocument: { host: 'notes.example', localhostRedirects: true } },
    { localhostRedirects: true },
  ],
  [
    'one port of localhost with a key, also by the option',
    { ...byKey, jwks, ...uris(localhost) },
    { metadataDocument: { host: 'notes.example', localhostRedirects: false } },
    { localhostRedirects: true },
  ],
  ['no plain http on another host', uris('http://192.168.0.7/callback', cb), uris(cb)],
  [
    'no scheme of an app where https and loopback alone are allowed',
    uris('notes-app:/callback', localhost, cb),
    uris(localhost, cb),
    {},
    { redirectUris: 'https or loopback' },
  ],
  [
    'a scheme of an app that is allowed by name',
    uris('notes-app:/callback', 'other-app:/callback', cb),
    uris('notes-app:/callback', cb),
    {},
    { redirectUris: { schemes: ['notes-app'] } },
  ],
])('A document gives its client %s', async (_, bend, client, ...ways) => {
  const [options, server] = ways
  expect(await parsed(bend, options, { ...usual, ...server })).toMatchObject(client)
})

test('A document needs the method of keys at the server, and a scheme that is allowed', async () => {
  expect(await reasonOf(parsed({ ...byKey, jwks }, {}, {}))).toBe(malformed)
  const strict = { redirectUris: 'https or loopback' } as const
  expect(await reasonOf(parsed(uris('notes-app:/callback'), {}, strict))).toBe(malformed)
  expect(await reasonOf(parsed(uris(cb, 'javascript:alert(1)'), {}, strict))).toBe(malformed)
})

test.each([
  ['https://notes.example/about', true],
  ['https://bank.example/', false],
  ['https://notes.example.bank.example/', false],
  // Each ends like the host of the document.
  ['https://evilnotes.example/', false],
  ['https://bank.notes.example/', false],
  ['https://bank.example/notes.example', false],
  ['https://notes.example@bank.example/', false],
  ['https://notes.example:8443/', false],
  ['https:notes.example', false],
  ['ftp://notes.example/', false],
  ['javascript:alert(1)', false],
  [7, false],
])(
  'A document links to %s: %s, for it is to its own host or not at all [stranger-5]',
  async (uri, isKept) => {
    const link = isKept ? uri : undefined
    expect(await parsed({ client_uri: uri, policy_uri: uri, tos_uri: uri })).toMatchObject({
      client_uri: link,
      policy_uri: link,
      tos_uri: link,
    })
  },
)
