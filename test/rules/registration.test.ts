import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  ConfigurationError,
  generateClientSecret,
  hashClientSecret,
  implicit,
  type ClientRegistration,
  memoryStore,
} from '../../lib/index'
import { registeredClients } from '../../lib/paths/registration'
import { registeredIn } from '../support/docs/registrations'
import { bent, nightlyReport, photoBook, photoPrint } from '../support/flows/clients'
import { consentFormOf } from '../support/flows/consent-form'
import { authorizationRequest } from '../support/flows/flow'
import { registered, webMetadata, withSecret } from '../support/flows/registered'
import { setStage } from '../support/flows/stage'
import { refusedFields, refusedOptions } from '../support/flows/refused-fields'
import { outcomeOf } from '../support/flows/outcome'
import { tokensOf } from '../support/flows/tokens'

const book = photoBook.registration
const print = photoPrint.registration
const grant = { grant_type: 'client_credentials', scope: 'photos:read' }

test('[REG-1] a client_id that another client has already is refused [client-19]', () => {
  expect(refusedFields(book, print)).toEqual([])
  expect(refusedFields(book, { ...print, client_id: 'photo-book' })).toEqual(['clients[1].client_id'])
})

test('[REG-1] a client_id is issued, another one each time; one that exists is refused, nothing overwritten', async () => {
  const clients = registeredClients(memoryStore())
  const { oauth, flow } = setStage({ clients })
  const [one, other] = [await registered(oauth), await registered(oauth)]
  const { client_id } = one.registration
  expect(other.registration.client_id).not.toBe(client_id)
  const thief = { ...webMetadata, client_id, redirect_uris: ['https://thief.example/'] }
  await expect(oauth.registerClient(thief)).rejects.toMatchObject({ issues: [{ path: 'client_id' }] })
  expect(await clients.find(client_id)).toMatchObject(webMetadata)
  expect(outcomeOf(await flow.request(one, grant))).toBe('tokens')
})

test('[REG-2] the client_id of a client that registered itself authenticates no client', async () => {
  const { oauth, flow } = setStage({ clients: registeredClients(memoryStore()) })
  const { client_id } = (await registered(oauth)).registration
  expect(outcomeOf(await flow.submit('/token', { ...grant, client_id }))).toBe('401 invalid_client')
})

test('[REG-2] a confidential client that sends only its id is not authenticated [client-1]', async () => {
  const { client_id } = nightlyReport.registration
  expect(outcomeOf(await setStage().flow.submit('/token', { ...grant, client_id }))).toBe(
    '401 invalid_client',
  )
})

test('[REG-3] what is issued has the size that the documentation says', async () => {
  const [, sizes = ''] = readFileSync(join(__dirname, '../../docs/bounds.md'), 'utf8').split('## Sizes')
  const documented = (name: string): number =>
    Number(new RegExp(`^- (\\d+) characters: (?:.*, )?${name}\\b`, 'm').exec(sizes)?.[1])
  const { flow } = setStage()
  const { oauth } = setStage({ clients: registeredClients(memoryStore()) })
  const issued = await oauth.registerClient(webMetadata)
  expect(issued.client_id).toHaveLength(documented('`client_id'))
  expect(issued.client_secret).toHaveLength(documented('client secret'))
  expect((await oauth.rotateClientSecret(issued.client_id)).client_secret).toHaveLength(
    documented('client secret'),
  )
  const page = await flow.ask(authorizationRequest(photoBook), 'alice')
  const code = await flow.approve(photoBook)
  const { accessToken, refreshToken } = tokensOf(await flow.redeem(photoBook, code))
  expect(code).toHaveLength(documented('authorization code'))
  expect(accessToken).toHaveLength(documented('access token'))
  expect(refreshToken).toHaveLength(documented('refresh token'))
  expect(consentFormOf(page, '/authorize').fields['authorization_request']).toHaveLength(
    documented('consent token'),
  )
  expect(generateClientSecret().client_secret).toHaveLength(documented('client secret'))
})

test('[REG-4] [REG-5] [REG-7] [REG-10] what is refused at start is refused of a client that registers later, too', async () => {
  const { oauth } = setStage({ clients: registeredClients(memoryStore()), plugins: [implicit()] })
  const fields = async (bend: object) =>
    oauth.registerClient({ ...webMetadata, ...bend }).then(
      () => [],
      (error: unknown) =>
        error instanceof ConfigurationError ? error.issues.map(({ path }) => path) : error,
    )
  expect(await fields({ client_type: undefined })).toEqual(['client_type'])
  expect(await fields({ redirect_uris: ['/callback'] })).toEqual(['redirect_uris[0]'])
  expect(await fields({ redirect_uris: ['https://print.example/#'] })).toEqual(['redirect_uris[0]'])
  expect(await fields({ client_type: 'public', grant_types: [], redirect_uris: [] })).toEqual([
    'redirect_uris',
  ])
  const ofImplicit = { grant_types: ['implicit'], response_types: ['token'], redirect_uris: [] }
  expect(await fields(ofImplicit)).toEqual(['redirect_uris'])
  expect(await fields({ client_secret_hashes: [] })).toEqual(['client_secret_hashes'])
  expect(await fields({ client_secret_hashes: [''] })).toEqual(['client_secret_hashes[0]'])
})

test.each([undefined, null, '', 'Confidential', 'native'])(
  '[REG-4] the client type is never assumed: %p is refused, and the field is named',
  (client_type) => {
    expect(refusedFields({ ...book, client_type })).toEqual(['clients[0].client_type'])
  },
)

test.each([
  '/callback',
  'callback',
  '//book.example/callback',
  'https://book.example/callback#a',
  'https://book.example/callback#',
  'https://book.example/callback?a=b#c',
])('[REG-5] a redirection URI that is relative or has a fragment is refused: %s [redirect-11]', (uri) => {
  expect(refusedFields({ ...book, redirect_uris: [uri] })).toEqual(['clients[0].redirect_uris[0]'])
})

test.each([
  'code=x',
  'state',
  'iss=',
  'error=x',
  'error_description=x',
  'error_uri=x',
  'scope=x',
  'access_token=x',
  'token_type=x',
  'expires_in=x',
  'a=b&%63ode=x',
  'CODE=x',
  'code%5B%5D=x',
  '+state=x',
  '%C1%A3ode=x',
  '%e0%81%a3ode=x',
])(
  '[REG-5] a query of a redirection URI holds no name of the answer: %s is refused [redirect-23]',
  (query) => {
    const redirect_uris = ['https://book.example/callback', `https://book.example/callback?${query}`]
    expect(refusedFields({ ...book, redirect_uris })).toEqual(['clients[0].redirect_uris[1]'])
  },
)

test('[REG-5] a redirection URI may have a query', () => {
  expect(refusedFields({ ...book, redirect_uris: ['https://book.example/callback?a=b&c'] })).toEqual([])
})

test('[REG-6] a client may register several redirection URIs and use each', async () => {
  const redirect_uris = ['https://book.example/one', 'https://book.example/two']
  const client = bent(photoBook, { redirect_uris })
  const { flow } = setStage({ clients: [client.registration] })
  for (const redirect_uri of redirect_uris) {
    const code = await flow.approve(client, { redirect_uri })
    expect(outcomeOf(await flow.redeem(client, code, { redirect_uri }))).toBe('tokens')
  }
})

test('[REG-7] a public client without a redirection URI is refused, a confidential one for itself is not', () => {
  expect(refusedFields({ ...book, redirect_uris: [] })).toEqual(['clients[0].redirect_uris'])
  expect(refusedFields({ ...nightlyReport.registration, redirect_uris: [] })).toEqual([])
})

test('[REG-8] who has registered no redirection URI cannot use the authorization endpoint [redirect-8]', async () => {
  const { flow } = setStage()
  const request = { ...authorizationRequest(nightlyReport), scope: 'photos:read' }
  for (const redirect_uri of [undefined, 'https://report.example/callback'])
    expect(outcomeOf(await flow.ask({ ...request, redirect_uri }, 'alice'))).toBe('page 400 invalid_request')
  expect(refusedFields({ ...print, redirect_uris: [] })).toEqual(['clients[0].redirect_uris'])
})

test('[REG-9] a registered redirection URI is complete: not even its query may vary', async () => {
  const { flow } = setStage()
  const request = { ...authorizationRequest(photoBook), redirect_uri: 'https://book.example/callback?app=1' }
  expect(outcomeOf(await flow.ask(request, 'alice'))).toBe('page 400 invalid_request')
})

const complete = 'https://print.example/callback'
const tenants = bent(photoPrint, { redirect_uris: [complete], dynamic_redirect_query: true })
const partial = () => setStage({ clients: [tenants.registration] })
const askedInPart = authorizationRequest(tenants)

test.each(['?tenant=7', '?a=%7E&a=b+c&d', ''])(
  '[REG-9] a client with the exception brings a query of its own, which is kept: %s [redirect-19]',
  async (query) => {
    const { flow } = partial()
    const redirect_uri = complete + query
    const page = await flow.ask({ ...askedInPart, redirect_uri }, 'alice')
    const location = String((await flow.decide(page, 'approve', 'alice')).get('Location'))
    expect(location.startsWith(`${redirect_uri}${query === '' ? '?' : '&'}code=`)).toBe(true)
    const code = String(new URL(location).searchParams.get('code'))
    for (const other of [`${complete}?tenant=8`, undefined])
      expect(outcomeOf(await flow.redeem(tenants, code, { redirect_uri: other }))).toBe('400 invalid_grant')
    expect(outcomeOf(await flow.redeem(tenants, code, { redirect_uri }))).toBe('tokens')
  },
)

test.each([
  'http://print.example/callback?tenant=7',
  'https://evil.example/callback?tenant=7',
  'https://print.example/other?tenant=7',
  'https://print.example/callback/?tenant=7',
  'https://print.example/callback?tenant=7#x',
  'https://print.example/callback?code=mine',
  'https://print.example/callback?%C1%A3ode=mine',
  'https://print.example/callback?a=b\r\nSet-Cookie: c=d',
])(
  '[REG-9] scheme, authority and path never vary, and no query forges an answer: %s [redirect-17]',
  async (redirect_uri) => {
    const { flow } = partial()
    expect(outcomeOf(await flow.ask({ ...askedInPart, redirect_uri }, 'alice'))).toBe(
      'page 400 invalid_request',
    )
  },
)

test('[REG-9] the exception is for URIs without a query', () => {
  const both = bent(tenants, { redirect_uris: [`${complete}?app=1`] })
  expect(() => setStage({ clients: [both.registration] })).toThrow('clients[0].redirect_uris[0]')
})

test.each([
  ['no credential', undefined, ''],
  ['an empty list of them', [], ''],
  ['an empty one', [''], '[0]'],
  ['one that is no digest', ['secret'], '[0]'],
])('[REG-10] a confidential client with %s is refused', async (_, client_secret_hashes, place) => {
  const fields = refusedFields({ ...print, client_secret_hashes })
  expect(fields).toContain(`clients[0].client_secret_hashes${place}`)
})

test('[REG-10] an empty secret has no digest', async () => {
  await expect(hashClientSecret('')).rejects.toThrow(RangeError)
})

test('[REG-10] a credential of a further method is a credential, and no empty one', async () => {
  const sealed = { name: 'sealed', read: () => undefined, verify: async () => false }
  const refusedWith = (credentials: unknown, clientAuthenticationMethods: unknown = [sealed]) => {
    const clients = [{ ...print, client_secret_hashes: [], credentials }]
    return refusedOptions({ clients, plugins: [{ name: 'host-methods', clientAuthenticationMethods }] })
  }
  expect(refusedWith({ sealed: 'wax' })).toEqual([])
  for (const nothing of [{}, null, undefined, { sealed: null }])
    expect(refusedWith(nothing)).toEqual(['clients[0].client_secret_hashes'])
  for (const empty of ['', [], {}])
    expect(refusedWith({ sealed: empty })).toEqual(['clients[0].credentials.sealed'])
  expect(refusedWith({ sealed: 'wax' }, [])).toEqual(['clients[0].credentials.sealed'])
})

test('[REG-11] what describes a client is shown to the resource owner, escaped', async () => {
  const described = bent(photoBook, {
    client_name: 'Photo <b>Book</b>',
    description: 'Prints "albums" & more',
    client_uri: 'https://book.example/about',
    logo_uri: 'https://book.example/logo.png',
    policy_uri: 'https://book.example/privacy',
    tos_uri: 'https://book.example/terms?a=1&b=2',
  })
  const { flow } = setStage({ clients: [described.registration] })
  const { text } = await flow.ask(authorizationRequest(described), 'alice')
  expect(text).toContain('Photo &lt;b&gt;Book&lt;/b&gt;')
  expect(text).toContain('Prints &quot;albums&quot; &amp; more')
  expect(text).toContain('href="https://book.example/about"')
  expect(text).toContain('src="https://book.example/logo.png"')
  expect(text).toContain('href="https://book.example/privacy"')
  expect(text).toContain('href="https://book.example/terms?a=1&amp;b=2"')
  expect(text).not.toContain('<b>')
})

const documented = registeredIn('clients.md')
const [web] = documented.get('Web application') ?? []
const [desktop] = documented.get('Native application') ?? []

test('[REG-12] what one component of the documented product was given is no good for another', async () => {
  if (web === undefined || desktop === undefined) throw new Error('The product has no two components.')
  const { flow } = setStage({ clients: [web, desktop].map(({ registration }) => registration) })
  // A native app listens at a port that the operating system chooses.
  const redirect_uri = String(desktop.registration.redirect_uris?.[0]).replace('127.0.0.1', '127.0.0.1:51004')
  const code = await flow.approve(desktop, { redirect_uri })
  expect(outcomeOf(await flow.redeem(web, code, { redirect_uri }))).toBe('400 invalid_grant')
  const { refreshToken } = tokensOf(await flow.redeem(desktop, code, { redirect_uri }))
  expect(outcomeOf(await flow.refresh(web, refreshToken))).toBe('400 invalid_grant')
})

test.each([
  ['public', 'grant_types', { grant_types: ['client_credentials'] }],
  ['public', 'may_introspect', { may_introspect: true }],
  ['public', 'redirect_uris', { redirect_uris: [] }],
  ['public', 'client_secret_hashes', { client_type: 'confidential' }],
  ['confidential', 'client_secret_hashes', { client_secret_hashes: [] }],
  [
    'confidential',
    'loopback_redirect_uris',
    { redirect_uris: ['http://127.0.0.1/callback'], loopback_redirect_uris: true },
  ],
  ['confidential', 'client_type', { client_type: 'hybrid' }],
  ['confidential', 'client_type', { client_type: ['confidential', 'public'] }],
])(
  '[REG-12] a client that mixes the types is refused: a %s one, by its %s [client-23]',
  (type, field, bend) => {
    const registration = type === 'public' ? book : print
    expect(refusedFields({ ...registration, ...bend })).toContain(`clients[0].${field}`)
  },
)

test('[REG-13] two secrets are good during a rotation, and a dropped one is not any more', async () => {
  const [old, young] = [generateClientSecret(), generateClientSecret()]
  const known: { now: ClientRegistration } = { now: nightlyReport.registration }
  const { flow } = setStage({ clients: { find: async () => known.now } })
  const outcomes = async (...hashes: readonly string[]): Promise<string[]> => {
    const client = bent(nightlyReport, { client_secret_hashes: hashes })
    known.now = client.registration
    const { registration } = client
    return Promise.all(
      [old, young].map(async ({ client_secret: secret }) =>
        outcomeOf(await flow.request({ registration, secret }, grant)),
      ),
    )
  }
  expect(await outcomes(old.client_secret_hash)).toEqual(['tokens', '401 invalid_client'])
  expect(await outcomes(old.client_secret_hash, young.client_secret_hash)).toEqual(['tokens', 'tokens'])
  expect(await outcomes(young.client_secret_hash)).toEqual(['401 invalid_client', 'tokens'])
})

test('[REG-13] a client that its store no longer gives out is not authenticated', async () => {
  const known = new Map([['nightly-report', nightlyReport.registration]])
  const { flow } = setStage({ clients: { find: async (id) => known.get(id) } })
  expect(outcomeOf(await flow.request(nightlyReport, grant))).toBe('tokens')
  known.clear()
  expect(outcomeOf(await flow.request(nightlyReport, grant))).toBe('401 invalid_client')
})

test('[REG-10] a confidential client gets a credential when it registers, a public one does not', async () => {
  const { oauth } = setStage({ clients: registeredClients(memoryStore()) })
  expect((await oauth.registerClient(webMetadata)).client_secret).toHaveLength(43)
  const phone = { ...webMetadata, client_type: 'public', grant_types: ['authorization_code'] } as const
  expect((await oauth.registerClient(phone)).client_secret).toBeUndefined()
})

test('[REG-13] a secret is rotated under the same client_id, with two valid meanwhile [client-14]', async () => {
  const { oauth, flow } = setStage({ clients: registeredClients(memoryStore()) })
  const first = await registered(oauth)
  const { client_id } = first.registration
  const outcomes = async (...clients: (typeof first)[]): Promise<string[]> =>
    Promise.all(clients.map(async (client) => outcomeOf(await flow.request(client, grant))))
  const second = withSecret(first, (await oauth.rotateClientSecret(client_id)).client_secret)
  expect(await outcomes(first, second)).toEqual(['tokens', 'tokens'])
  const third = withSecret(first, (await oauth.rotateClientSecret(client_id)).client_secret)
  expect(await outcomes(first, second, third)).toEqual(['401 invalid_client', 'tokens', 'tokens'])
  await oauth.dropOldClientSecrets(client_id)
  expect(await outcomes(second, third)).toEqual(['401 invalid_client', 'tokens'])
})

test('[REG-13] a disabled client is invalid_client at once, and itself again when it is enabled', async () => {
  const { oauth, flow } = setStage({ clients: registeredClients(memoryStore()) })
  const client = await registered(oauth)
  const { refreshToken } = await flow.tokens(client)
  await oauth.disableClient(client.registration.client_id)
  expect(outcomeOf(await flow.request(client, grant))).toBe('401 invalid_client')
  expect(outcomeOf(await flow.refresh(client, refreshToken))).toBe('401 invalid_client')
  expect(outcomeOf(await flow.ask(authorizationRequest(client), 'alice'))).toBe('page 400 invalid_request')
  await oauth.enableClient(client.registration.client_id)
  expect(outcomeOf(await flow.refresh(client, refreshToken))).toBe('tokens')
})

test('[REG-13] a client that is registered in the options can be disabled there', async () => {
  const { flow } = setStage({ clients: [{ ...nightlyReport.registration, disabled: true }] })
  expect(outcomeOf(await flow.request(nightlyReport, grant))).toBe('401 invalid_client')
})
