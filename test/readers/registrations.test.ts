import {
  ConfigurationError,
  createAuthorizationServer,
  generateClientSecret,
  memoryStore,
  type AuthorizationServerOptions,
  type ClientRegistration,
} from '../../lib/index'
import {
  changeClient,
  deleteClient,
  disableClient,
  dropOldClientSecrets,
  enableClient,
  registeredClients,
  registerClient,
  rotateClientSecret,
  type ClientRegistry,
} from '../../lib/paths/registration'
import { canonicalOptions } from '../support/flows/application'
import { refusedOptions } from '../support/flows/refused-fields'
import { webMetadata } from '../support/flows/registered'
import { inMemory, notesApp, registeringOn, storedClient } from '../support/flows/registering'
import { but } from '../support/stores/but'

const web = { client_type: 'confidential', grant_types: ['client_credentials'], scope: 'a' } as const
const phone = { client_type: 'public', redirect_uris: ['https://a.example/'], scope: 'a' } as const
const digest = () => generateClientSecret().client_secret_hash

// Methods, not function types: so the checker lets through what a host without types gives.
const javascript: { register(clients: ClientRegistry, metadata: unknown): Promise<unknown> } = {
  register: registerClient,
}
interface Act {
  act(clients: ClientRegistry, ...given: readonly unknown[]): Promise<unknown>
}
const change: Act = { act: changeClient }

/** The paths of all mistakes for which it is refused, and whether anything of it was written. */
async function mistakesOf(attempt: Promise<unknown>): Promise<readonly string[]> {
  const error: unknown = await attempt.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (error === undefined) return []
  if (!(error instanceof ConfigurationError)) throw error
  // A refusal may be written to a log.
  expect(JSON.stringify(error.issues)).not.toMatch(/sha256:[\w-]{20}|open sesame/)
  return error.issues.map(({ path }) => path)
}

const metadata = { ...web, redirect_uris: ['https://a.example/'] }
test.each<[string, unknown, readonly string[]]>([
  ['undefined', undefined, ['metadata']],
  ['null', null, ['metadata']],
  ['a text', 'x', ['metadata']],
  ['a list', [metadata], ['metadata']],
  [
    'a secret for a digest',
    { ...metadata, client_secret_hashes: [digest(), 'open sesame'] },
    ['client_secret_hashes[1]'],
  ],
  ['three digests', { ...metadata, client_secret_hashes: [1, 2, 3].map(digest) }, ['client_secret_hashes']],
  ['a line break in it', { ...metadata, client_id: 'a\nb' }, ['client_id']],
  ['a secret', { ...metadata, client_secret: 'open sesame' }, ['client_secret']],
  [
    'every mistake at once',
    { client_type: 'native', redirect_uris: ['/relative', 'https://a.example/#'], scopes: 1 },
    ['client_type', 'redirect_uris[0]', 'redirect_uris[1]', 'scope', 'scopes'],
  ],
  [
    'a member that would be a prototype',
    JSON.parse('{ "__proto__": { "client_type": "confidential" }, "scope": "a" }'),
    ['client_type', '__proto__'],
  ],
])('registerClient refuses %s, and registers nothing [client-22]', async (_, given, paths) => {
  const clients = registeredClients(memoryStore())
  expect(await mistakesOf(javascript.register(clients, given))).toEqual(paths)
  expect(await clients.list()).toEqual([])
})

/** A digest of another server, which none of the suite is. */
const foreign = 'ab'.repeat(32)
const ofElsewhere = { ...webMetadata, client_id: 'own', client_secret_hashes: [foreign] }

test('only a server with the option verifyDigest registers a digest of another server; the cure names it', async () => {
  const clients = registeredClients(memoryStore())
  const path = 'client_secret_hashes[0]'
  const cure = { issues: [{ path, message: expect.stringContaining('the option verifyDigest') }] }
  for (const attempt of [
    registerClient(clients, ofElsewhere),
    serverWith(clients).registerClient(ofElsewhere),
  ])
    await expect(attempt).rejects.toMatchObject(cure)
  const oauth = serverWith(clients, { verifyDigest: () => false })
  for (const text of ['open sesame', 'open sesame '.repeat(4), 'x'.repeat(513), 'é'.repeat(32)])
    expect(await mistakesOf(oauth.registerClient({ ...ofElsewhere, client_secret_hashes: [text] }))).toEqual([
      path,
    ])
  await oauth.registerClient(ofElsewhere)
  expect(await mistakesOf(serverWith(clients).changeClient('own', { client_name: 'A' }))).toEqual([path])
  // Who knows no server leaves the digest as it is.
  await changeClient(clients, 'own', { client_name: 'A' })
  await rotateClientSecret(clients, 'own')
  expect((await clients.find('own'))?.client_secret_hashes).toEqual([
    foreign,
    expect.stringMatching(/^sha256:/),
  ])
})

test.each<[string, object]>([
  ['scope', { scope: 'photos:delete' }],
  ['grant_types', { grant_types: ['password'], response_types: [], scope: 'photos:read' }],
  ['response_types', { response_types: ['token'] }],
  ['token_endpoint_auth_method', { token_endpoint_auth_method: 'private_key_jwt' }],
])('a server registers no %s beyond what it offers [client-21]', async (path, bend) => {
  const oauth = createAuthorizationServer({ ...canonicalOptions, clients: registeredClients(memoryStore()) })
  const mistakes = await mistakesOf(oauth.registerClient({ ...webMetadata, ...bend }))
  expect(mistakes).toContain(path)
})

test('a server without owners registers clients that act for themselves, and by grants of the host', async () => {
  const { resourceOwner: _none, ...options } = canonicalOptions
  const handle = () => Promise.reject(new Error('No voucher is good here.'))
  const grantTypes = [{ name: 'urn:example:voucher', parameters: [], handle }]
  const oauth = createAuthorizationServer({
    ...options,
    plugins: [{ name: 'host-grant-types', grantTypes }],
    clients: registeredClients(memoryStore()),
  })
  expect(await mistakesOf(oauth.registerClient(webMetadata))).toContain('grant_types')
  for (const grant_types of [['client_credentials'], ['urn:example:voucher', 'refresh_token']])
    await oauth.registerClient({ client_type: 'confidential', grant_types, scope: 'reports:write' })
})

test('registerClient writes every default down, so that a later one changes no client', async () => {
  const clients = registeredClients(memoryStore())
  const { client_id, client_secret } = await registerClient(clients, phone)
  expect([client_id, client_secret]).toEqual([expect.stringMatching(/^[\w-]{22}$/), undefined])
  expect(await clients.find(client_id)).toEqual({
    ...phone,
    client_id,
    client_secret_hashes: [],
    credentials: {},
    loopback_redirect_uris: false,
    dynamic_redirect_query: false,
    insecure_redirect_uris: false,
    grant_types: ['authorization_code'],
    response_types: ['code'],
    may_introspect: false,
    disabled: false,
  })
})

test('registerClient takes null for left out, and issues what is missing', async () => {
  const clients = registeredClients(memoryStore())
  const given = { ...web, client_id: null, client_secret_hashes: null, client_name: null }
  const issued = await javascript.register(clients, given)
  expect(issued).toEqual({
    client_id: expect.stringMatching(/^[\w-]{22}$/),
    client_secret: expect.stringMatching(/^[\w-]{43}$/),
  })
})

test('of 50 registrations of one identifier at once, one wins, and the others say that it is taken [client-20]', async () => {
  const clients = registeredClients(memoryStore())
  const attempts = Array.from({ length: 50 }, (_, at) =>
    mistakesOf(registerClient(clients, { ...web, client_id: 'printer', description: `attempt ${at}` })),
  )
  const outcomes = (await Promise.all(attempts)).map(([path = 'registered']) => path)
  expect(outcomes.toSorted()).toEqual([...Array.from({ length: 49 }, () => 'client_id'), 'registered'])
  const winner = outcomes.indexOf('registered')
  expect(await clients.list()).toMatchObject([{ description: `attempt ${winner}` }])
})

const acts: Readonly<Record<string, Act>> = {
  rotateClientSecret: { act: rotateClientSecret },
  dropOldClientSecrets: { act: dropOldClientSecrets },
  disableClient: { act: disableClient },
  enableClient: { act: enableClient },
  deleteClient: { act: deleteClient },
  changeClient: { act: (clients, id) => change.act(clients, id, { client_name: 'A' }) },
}

test.each(Object.keys(acts))('%s refuses what names no client, before a database sees it', async (name) => {
  const clients = registeredClients(memoryStore())
  for (const id of ['nobody', '', '__proto__', 'constructor'])
    expect(await mistakesOf(acts[name]?.act(clients, id) ?? Promise.resolve())).toEqual(['client_id'])
  const asked = () => Promise.reject(new Error('asked'))
  const broken = registeredClients(but(memoryStore(), { read: asked, write: asked, list: asked }))
  for (const id of [undefined, null, 7, ['photos'], {}])
    expect(await mistakesOf(acts[name]?.act(broken, id) ?? Promise.resolve())).toEqual(['client_id'])
  expect(await clients.list()).toEqual([])
})

/** A registry with one registration, and the question whether it was written. */
async function registryOf(registration: object) {
  const clients = registeredClients(memoryStore())
  const stored: ClientRegistration = JSON.parse(JSON.stringify(registration))
  await clients.add(stored)
  const before = await clients.find(stored.client_id)
  return { clients, isWritten: async () => (await clients.find(stored.client_id)) !== before }
}

test.each<[string, string, object]>([
  ['rotateClientSecret', 'a client without a secret', { ...phone }],
  ['dropOldClientSecrets', 'a client without a secret', { ...phone }],
  ['rotateClientSecret', 'digests that are a text', { ...web, client_secret_hashes: 'sha256:x' }],
  ['rotateClientSecret', 'a secret for a digest', { ...web, client_secret_hashes: ['open sesame'] }],
  ['rotateClientSecret', 'a registration without a type', { ...web, client_type: undefined }],
])('%s refuses %s, and writes nothing', async (name, _, registration) => {
  const { clients, isWritten } = await registryOf({ ...registration, client_id: 'own' })
  expect(await mistakesOf(acts[name]?.act(clients, 'own') ?? Promise.resolve())).not.toEqual([])
  expect(await isWritten()).toBe(false)
})

test.each([
  ['enableClient', []],
  ['disableClient', ['disableClient']],
  ['deleteClient', ['deleteClient']],
  ['changeClient', ['changeClient']],
])('%s writes nothing that is so already', async (name, before) => {
  const clients = registeredClients(memoryStore())
  const { client_id } = await registerClient(clients, phone)
  for (const each of before) await acts[each]?.act(clients, client_id)
  const found = await clients.find(client_id)
  await acts[name]?.act(clients, client_id)
  expect(await clients.find(client_id)).toBe(found)
})

test.each(['disableClient', 'deleteClient'])('%s shuts even a client out that cannot work', async (name) => {
  const { clients } = await registryOf({ ...web, client_id: 'broken', scope: 7 })
  await acts[name]?.act(clients, 'broken')
  expect(await clients.find('broken')).toMatchObject({ disabled: true })
})

describe('changeClient', () => {
  test.each([undefined, null, 7, 'text', []])('refuses a change that is no object: %j', async (given) => {
    const { clients } = await registryOf({ ...phone, client_id: 'own' })
    expect(await mistakesOf(change.act(clients, 'own', given))).not.toEqual([])
  })

  test('repairs what was broken by hand', async () => {
    const broken = await registryOf({ ...phone, client_id: 'own', redirect_uris: ['/x'], logo_uri: 7 })
    expect(await mistakesOf(changeClient(broken.clients, 'own', { client_name: 'A' }))).toEqual([
      'redirect_uris[0]',
      'logo_uri',
    ])
    await changeClient(broken.clients, 'own', { redirect_uris: phone.redirect_uris, logo_uri: null })
    expect(await broken.clients.find('own')).toMatchObject(phone)
  })

  test.each([
    ['client_secret_hashes', ['sha256:x'], 'rotateClientSecret()'],
    ['disabled', true, 'disableClient()'],
    ['deleted', true, 'deleteClient()'],
  ])('says for the member %s which function changes it', async (member, value, name) => {
    const { clients } = await registryOf({ ...phone, client_id: 'own' })
    await expect(change.act(clients, 'own', { [member]: value })).rejects.toMatchObject({
      issues: [{ path: member, message: expect.stringContaining(name) }],
    })
  })
})

const serverWith = (clients: ClientRegistry, bend: Partial<AuthorizationServerOptions> = {}) =>
  createAuthorizationServer({ ...canonicalOptions, clients, ...bend })

test.each(['fails', 'hangs'])(
  'every change at a server asks to try again while the store %s',
  async (trouble) => {
    const call = () =>
      trouble === 'fails' ? Promise.reject(new Error('down')) : new Promise<never>(() => {})
    const store = but(memoryStore(), { read: call, write: call })
    const oauth = serverWith(registeredClients(store), { storeDeadline: 0.05 })
    const reasons = await Promise.all(
      [
        oauth.registerClient(webMetadata),
        oauth.rotateClientSecret('x'),
        oauth.dropOldClientSecrets('x'),
        oauth.disableClient('x'),
        oauth.enableClient('x'),
        oauth.changeClient('x', {}),
        oauth.deleteClient('x'),
      ].map((attempt) => attempt.catch((error: unknown) => Object(error).reason)),
    )
    expect(reasons).toEqual(reasons.map(() => 'store_unavailable'))
  },
)

test('a refusal within a change is no failure of the store', async () => {
  const { clients } = await registryOf({ ...phone, client_id: 'phone', scope: 'photos:read' })
  expect(await mistakesOf(serverWith(clients).rotateClientSecret('phone'))).toEqual(['client_secret_hashes'])
})

test('a store of the host, which has more than find too, registers and changes nothing', async () => {
  const call = () => Promise.reject(new Error('asked'))
  const ofHost = { find: call, add: call, update: call, list: call }
  const oauth = createAuthorizationServer({ ...canonicalOptions, clients: ofHost })
  expect(await mistakesOf(oauth.registerClient(webMetadata))).toEqual(['clients'])
  expect(await mistakesOf(oauth.disableClient('x'))).toEqual(['clients'])
})

test('a deletion that fails half-way is finished by its repetition, of a client that registered itself, too', async () => {
  const store = memoryStore()
  const clients = registeredClients(store)
  let isFailing = false
  const failing = but(store, {
    write: (key, ...words) =>
      isFailing && key.startsWith('revoked:')
        ? Promise.reject(new Error('down'))
        : store.write(key, ...words),
  })
  const staged = registeringOn(() => failing)({}, { clients, authorizations: true })
  const { oauth, register } = staged
  const { client_id } = await oauth.registerClient(webMetadata)
  const self: string = (await register(notesApp)).body.client_id
  isFailing = true
  for (const id of [client_id, self])
    await expect(oauth.deleteClient(id)).rejects.toMatchObject({ code: 'temporarily_unavailable' })
  // Shut out before what they have ends.
  expect(await clients.find(client_id)).toMatchObject({ deleted: true })
  expect(await storedClient(staged, self)).toMatchObject({ registration: { disabled: true } })
  isFailing = false
  for (const id of [client_id, self]) await oauth.deleteClient(id)
  expect(await storedClient(staged, self)).toMatchObject({ isRemoved: true })
})

test('an identifier of the host and of a client that registered itself names that of the host', async () => {
  const clients = registeredClients(memoryStore())
  const staged = registeringOn(inMemory)({}, { clients })
  const { client_id } = (await staged.register(notesApp)).body
  await clients.add({ ...phone, client_id, scope: 'photos:read' })
  await staged.oauth.deleteClient(client_id)
  expect(await clients.find(client_id)).toMatchObject({ deleted: true })
  expect(await storedClient(staged, client_id)).not.toMatchObject({ registration: { disabled: true } })
})

const day = 24 * 3600
test.each<[string, unknown]>([
  ['initialAccessToken', 'secret'],
  ['initialAccessToken', []],
  ['maximumClients', 0],
  ['unusedLifetime', 59],
  ['lifetime', day],
  ['clientSecretLifetime', '1'],
  ['scope', 'unknown'],
  ['scope', ''],
  ['registerAllScopes', 'yes'],
  ['grantTypes', ['password']],
  ['registrationPath', '/token'],
  ['registrationPath', '/.well-known/openid-configuration'],
  ['clientConfigurationPath', '/register'],
  ['open', true],
])('dynamicRegistration is refused for its member %s: %j', (name, value) => {
  expect(refusedOptions({ dynamicRegistration: { [name]: value } })).toEqual([`dynamicRegistration.${name}`])
})

test('dynamicRegistration needs owners for codes, and paths of its own', () => {
  const without = { clients: [], resourceOwner: undefined }
  expect(refusedOptions({ ...without, dynamicRegistration: {} })).toEqual(['resourceOwner'])
  const machines = { grantTypes: ['client_credentials'] }
  expect(refusedOptions({ ...without, dynamicRegistration: machines })).toEqual([])
  const own = { name: 'registration', path: '/register', handle: async () => ({ members: {} }) }
  expect(
    refusedOptions({ dynamicRegistration: {}, plugins: [{ name: 'host-endpoints', endpoints: [own] }] }),
  ).toHaveLength(2)
})
