import { ConfigurationError, type ConfigurationIssue } from '../../lib/primitives/options-reader'
import {
  parseClient,
  parseStoredClient,
  registrationOf,
  anyCapabilities,
  type ServerCapabilities,
} from '../../lib/protocol/parse-client'
import { parsed, registration, capabilities } from '../support/authorization/client'

const secretHash = registration.client_secret_hashes[0]!
const secondHash = 'sha256:9hAk1Mj7tNc1nGqGSjnuEZG8x0PQg3gGZQXp3X8y8Gk'

/** The mistakes of the canonical registration with some fields bent. */
const mistakesWith = (bend: Readonly<Record<string, unknown>>) => parsed({ ...registration, ...bend }).issues

const mistake = (path: string, message: string) => ({
  path: `clients[0].${path}`,
  message: expect.stringContaining(message),
})

const publicClient = { client_type: 'public', client_secret_hashes: undefined }
const extension = {
  grant_types: ['urn:ietf:params:oauth:grant-type:device_code'],
  response_types: [],
  scope: 'anything',
  token_endpoint_auth_method: 'private_key_jwt',
  credentials: { private_key_jwt: { keys: [{ kty: 'EC' }] } },
}
const credentialsGrant = { grant_types: ['authorization_code', 'client_credentials'] }
const machine = { redirect_uris: undefined, response_types: [], grant_types: ['client_credentials'] }

describe('parseClient', () => {
  it('completes a registration', () => {
    expect(parsed(registration)).toEqual({
      issues: [],
      client: {
        ...registration,
        response_types: ['code'],
        scope: ['photos.read', 'photos.write'],
        may_introspect: false,
        token_type: undefined,
        credentials: {},
        disabled: false,
        token_endpoint_auth_method: undefined,
        client_name: undefined,
        loopback_redirect_uris: false,
        dynamic_redirect_query: false,
        insecure_redirect_uris: false,
        members: {},
      },
    })
  })

  it('takes a token type that the server offers, in its very letters (TKN-2)', () => {
    expect(parsed({ ...registration, token_type: 'stamped' }).client.token_type).toBe('stamped')
    for (const token_type of ['Stamped', 'mac', '', 7, ['bearer']])
      expect(parsed({ ...registration, token_type }).issues).toEqual([
        {
          path: 'clients[0].token_type',
          message: expect.stringMatching(/^must be one of bearer, stamped\./),
        },
      ])
  })

  it('gives a client the authorization code grant when it names none', () => {
    const { client } = parsed({ ...registration, grant_types: undefined })
    expect(client.grant_types).toEqual(['authorization_code'])
    expect(client.response_types).toEqual(['code'])
  })

  it('gives a client without the code grant no response type', () => {
    const { client, issues } = parsed({ ...registration, ...machine, response_types: undefined })
    expect({ responseTypes: client.response_types, issues }).toEqual({ responseTypes: [], issues: [] })
  })

  it.each([
    ['a public client without a secret', publicClient],
    ['a public client that was issued one', { client_type: 'public' }],
    ['several redirect URIs (REG-6)', { redirect_uris: ['https://a.example/', 'printer:/callback'] }],
    ['several secrets, for a rotation (REG-13)', { client_secret_hashes: [secretHash, secondHash] }],
    ['a confidential client without redirect URIs that never redirects', machine],
    ['one method of authentication', { token_endpoint_auth_method: 'client_secret_post' }],
    ['fields that are named but undefined', { client_name: undefined, logo_uri: undefined }],
  ])('accepts %s', (_what, bend) => {
    expect(mistakesWith(bend)).toEqual([])
  })

  it('takes null, as databases have it, for a field that is not there', () => {
    expect(mistakesWith({ client_name: null, logo_uri: null, token_endpoint_auth_method: null })).toEqual([])
  })

  it('lets confidential clients alone introspect', () => {
    expect(parsed({ ...registration, may_introspect: true })).toMatchObject({
      issues: [],
      client: { may_introspect: true },
    })
    expect(mistakesWith({ ...publicClient, may_introspect: true })).toEqual([
      mistake('may_introspect', 'cannot be true for a public client'),
    ])
    expect(mistakesWith({ may_introspect: 'yes' })).toEqual([
      mistake('may_introspect', 'must be true or false.'),
    ])
  })

  it('keeps nothing that the host can change afterwards', () => {
    const redirect_uris = ['https://a.example/']
    const { client } = parsed({ ...registration, redirect_uris })
    redirect_uris.push('https://evil.example/')
    expect(client.redirect_uris).toEqual(['https://a.example/'])
  })

  it.each([
    [
      'a method without the secret it needs',
      { ...publicClient, token_endpoint_auth_method: 'client_secret_basic' },
    ],
    ['none beside a secret', { client_type: 'public', token_endpoint_auth_method: 'none' }],
  ])('refuses %s', (_what, bend) => {
    expect(mistakesWith(bend)).toEqual([mistake('token_endpoint_auth_method', 'cannot be')])
  })

  it('needs a redirection URI of a public client without an extension grant, also without a response type', () => {
    const bend = { redirect_uris: undefined, response_types: [], grant_types: ['refresh_token'] }
    expect(mistakesWith({ ...publicClient, ...bend })).toContainEqual(
      mistake('redirect_uris', 'must hold at least one URI'),
    )
  })

  it('refuses a response type without its grant', () => {
    const bend = { ...machine, redirect_uris: ['https://a.example/'], response_types: ['code'] }
    expect(mistakesWith(bend)).toEqual([
      mistake('grant_types', 'must hold authorization_code, because response_types holds code.'),
    ])
  })

  it('refuses a grant without a response type of it', () => {
    expect(mistakesWith({ response_types: [] })).toEqual([
      mistake('response_types', 'must hold code, because grant_types holds authorization_code.'),
    ])
  })

  it('adds no mistake that only follows from another', () => {
    const { client_type: _left, ...untyped } = { ...registration, ...machine }
    expect(parsed(untyped).issues).toEqual([mistake('client_type', 'is missing')])
  })

  it('keeps what the resource owner is shown (REG-11)', () => {
    const shown = {
      client_name: 'Photo printer',
      description: 'Prints your photos.',
      client_uri: 'https://printer.example/',
      logo_uri: 'https://printer.example/logo.svg',
      policy_uri: 'https://printer.example/privacy',
      tos_uri: 'https://printer.example/terms',
    }
    const { client, issues } = parsed({ ...registration, ...shown })
    expect(issues).toEqual([])
    expect(client).toMatchObject(shown)
  })

  it('cannot be changed afterwards', () => {
    expect(Object.isFrozen(parsed(registration).client)).toBe(true)
  })

  it.each([
    ['a client_id', 'client_id', undefined, 'is missing: it must be a text'],
    ['a client_id that is not empty', 'client_id', '', 'must be a text'],
    ['a client_id without control characters', 'client_id', 'a\nb', 'without control characters'],
    [
      'a client type, never assumed (REG-4)',
      'client_type',
      undefined,
      "is missing: it must be 'confidential'",
    ],
    ['a client type that exists', 'client_type', 'trusted', "'confidential' or 'public'"],
    ['grant types that are offered', 'grant_types', ['authorization_code', 'password'], 'lists "password"'],
    ['grant types in a list', 'grant_types', 'refresh_token', 'must be a list'],
    ['response types that are offered', 'response_types', ['code', 'token'], 'lists "token"'],
    ['digests, not a secret', 'client_secret_hashes', ['hunter2'], 'never secrets'],
    ['digests, not a secret beside one', 'client_secret_hashes', [secretHash, 'hunter2'], 'never secrets'],
    [
      'a method that is offered',
      'token_endpoint_auth_method',
      'private_key_jwt',
      'client_secret_basic, client',
    ],
    ['a scope', 'scope', undefined, 'is missing: it must list'],
    ['a scope that is not empty', 'scope', '', 'must list what the client may ask for'],
    ['a scope in the grammar', 'scope', 'photos.read  photos.write', 'one space between two'],
    [
      'a scope that the server has',
      'scope',
      'photos.read videos',
      'it has photos.read, photos.write, profile.',
    ],
    ['a name without control characters', 'client_name', 'a\u0000b', 'without control characters'],
    ['a description that is a text', 'description', 7, 'must be a text'],
    ['a website that runs no code', 'client_uri', 'javascript:alert(1)', 'http or https URL'],
    ['a logo on the web', 'logo_uri', '/logo.svg', 'http or https URL'],
    ['a privacy page with a host', 'policy_uri', 'https://', 'http or https URL'],
    ['terms on the web', 'tos_uri', 'data:text/html,x', 'http or https URL'],
    ['no misspelt field', 'redirect_uri', 'https://a.example/', 'is not known here'],
  ])('wants %s', (_what, key, value, message) => {
    expect(mistakesWith({ [key]: value })).toEqual([mistake(key, message)])
  })

  it.each([
    ['absolute (REG-5)', ['/callback'], 'redirect_uris[0]', 'absolute'],
    ['without a fragment (REG-5)', ['https://a.example/#x'], 'redirect_uris[0]', 'fragment'],
    ['without an empty fragment (REG-5)', ['https://a.example/#'], 'redirect_uris[0]', 'fragment'],
    ['on https, the second too', ['https://a.example/', 'http://b.example/'], 'redirect_uris[1]', 'https'],
    ['in a list', 'https://a.example/', 'redirect_uris', 'list of URIs'],
  ])('wants redirect URIs that are %s', (_rule, redirect_uris, path, message) => {
    expect(mistakesWith({ redirect_uris })).toContainEqual(mistake(path, message))
  })

  it.each([
    ['a public client has redirect URIs (REG-7)', { ...publicClient, redirect_uris: [] }, 'redirect_uris'],
    ['a client of the code grant has them (REG-8)', { redirect_uris: undefined }, 'redirect_uris'],
    [
      'a confidential client has a secret (REG-10)',
      { client_secret_hashes: undefined },
      'client_secret_hashes',
    ],
    ['its list of secrets is not empty (REG-10)', { client_secret_hashes: [] }, 'client_secret_hashes'],
    ['it authenticates', { token_endpoint_auth_method: 'none' }, 'token_endpoint_auth_method'],
    [
      'client credentials are for confidential clients',
      { ...publicClient, ...credentialsGrant },
      'grant_types',
    ],
  ])('wants to see that %s', (_rule, bend, path) => {
    expect(mistakesWith(bend)).toEqual([mistake(path, '')])
  })

  it('offers the known names beside a misspelt one', () => {
    expect(mistakesWith({ redirect_uri: 'x' })[0]!.message).toContain(
      'client_id, client_name, client_secret_hashes, client_type, client_uri, credentials, description, disabled, dynamic_redirect_query, grant_lifetime, grant_types',
    )
  })

  it('says what to register in place of a secret, without the secret, and complains of nothing that follows from it', () => {
    for (const digests of [undefined, ['sha256:' + 'A'.repeat(43)]]) {
      const issues = mistakesWith({ client_secret: 'hunter2', client_secret_hashes: digests })
      expect(issues).toEqual([mistake('client_secret', 'Register client_secret_hashes')])
      expect(issues[0]!.message).toMatch(/generateClientSecret\(\).*hashClientSecret\(\)/)
      expect(JSON.stringify(issues)).not.toContain('hunter2')
    }
    expect(mistakesWith({ client_secret: null })).toEqual([])
  })

  it.each([
    ['redirect_uri', 'redirect_uris'],
    ['clientName', 'client_name'],
    ['client_secret_hash', 'client_secret_hashes'],
  ])('asks whether %s was meant to be %s', (misspelt, meant) => {
    expect(mistakesWith({ [misspelt]: 'x' })).toEqual([mistake(misspelt, `Did you mean ${meant}?`)])
  })

  it.each([[undefined], [null], ['photo-printer'], [[]]])('wants an object, not %j', (source) => {
    expect(parsed(source).issues[0]).toEqual({ path: 'clients[0]', message: 'must be an object.' })
  })

  it('names all mistakes at once, each with its path', () => {
    const { issues } = parsed({
      client_type: 'trusted',
      grant_types: ['authorization_code', 'password'],
      redirect_uris: ['http://a.example/', 'https://b.example/', 'https://c.example/#'],
      scope: 'videos',
      client_uri: 'printer.example',
      secret: 'hunter2',
    })
    const paths = issues.map(({ path }) => path.replace('clients[0].', ''))
    expect(paths.toSorted()).toEqual([
      'client_id',
      'client_type',
      'client_uri',
      'grant_types',
      'redirect_uris[0]',
      'redirect_uris[2]',
      'scope',
      'secret',
    ])
    expect(new ConfigurationError('Clients:', issues).message).not.toContain('hunter2')
  })
})

describe('parseStoredClient', () => {
  it('is the client that a good registration makes', () => {
    expect(parseStoredClient(registration, capabilities)).toEqual(parsed(registration).client)
  })

  it('is refused with every mistake of a registration that cannot work', () => {
    const broken = { ...registration, client_type: undefined, scope: '' }
    expect(() => parseStoredClient(broken, capabilities)).toThrow(ConfigurationError)
    expect(() => parseStoredClient(broken, capabilities)).toThrow(
      /registration\.client_type .*\n.*registration\.scope/,
    )
  })
})

describe('a server whose redirection URIs are https or loopback', () => {
  const strict: Partial<ServerCapabilities> = { redirectUris: 'https or loopback' }
  const faultsOf = (redirect_uris: readonly string[], bend: object = {}, rule = strict) => {
    const issues: ConfigurationIssue[] = []
    const offered = { ...capabilities, ...rule }
    parseClient({ ...registration, redirect_uris, ...bend }, 'client', issues, offered)
    return issues.map(({ path }) => path)
  }

  it('lets clients register https, and http on a loopback host', () => {
    const loopback = ['http://127.0.0.1/', 'http://[::1]:7/', 'http://localhost:3000/callback']
    expect(faultsOf(['https://a.example/callback', ...loopback])).toEqual([])
  })

  it('refuses the scheme of an app, which another app can claim', () => {
    expect(faultsOf(['https://a.example/', 'com.example.app:/callback', 'cursor://callback'])).toEqual([
      'client.redirect_uris[1]',
      'client.redirect_uris[2]',
    ])
  })

  it('refuses plain http on other hosts, also for a client that opted in', () => {
    expect(faultsOf(['http://a.example/'], { insecure_redirect_uris: true })).toEqual([
      'client.redirect_uris[0]',
    ])
  })

  it('lets clients register the schemes of apps that it admits, in any letter case, and no others', () => {
    const admitting = { redirectUris: { schemes: ['cursor', 'com.example.app'] } }
    const admitted = ['https://a.example/', 'http://[::1]/', 'cursor://a/b', 'COM.example.APP:/callback']
    const others = ['cursor2:/', 'example:/', 'http://a.example/', 'vscode:/']
    expect(faultsOf([...admitted, ...others], { insecure_redirect_uris: true }, admitting)).toEqual(
      [4, 5, 6, 7].map((index) => `client.redirect_uris[${index}]`),
    )
  })
})

/** The canonical registration with some fields bent, read by who does not know the server. */
const read = (bend: object) => {
  const issues: ConfigurationIssue[] = []
  const client = parseClient({ ...registration, ...bend }, '', issues, anyCapabilities)
  return { client, paths: issues.map(({ path }) => path) }
}

describe('a registration read without knowing the server', () => {
  it.each([
    ['a grant type, a scope and a method that a server may have', extension],
    ['the implicit grant', { grant_types: ['implicit'], response_types: ['token'] }],
    ['an extension response type', { grant_types: ['implicit'], response_types: ['token code'] }],
  ])('may hold %s', (_what, bend) => {
    expect(read(bend).paths).toEqual([])
  })

  it.each([
    ['client_type', { client_type: undefined }],
    ['redirect_uris', { redirect_uris: [] }],
    ['redirect_uris[0]', { redirect_uris: ['https://printer.example/#'] }],
    ['redirect_uris', { grant_types: ['implicit'], response_types: ['token'], redirect_uris: [] }],
    ['client_secret_hashes', { client_secret_hashes: [] }],
    ['grant_types', { response_types: ['token'], grant_types: ['authorization_code'] }],
    ['response_types', { grant_types: ['implicit'], response_types: [] }],
    ['scope', { scope: 'a  b' }],
    ['grant_types', { ...publicClient, grant_types: ['authorization_code', 'client_credentials'] }],
    ['token_endpoint_auth_method', { token_endpoint_auth_method: 'none' }],
    ['token_endpoint_auth_method', { token_endpoint_auth_method: 7 }],
    ['disabled', { disabled: 'no' }],
    ['redirect_uri', { redirect_uri: 'https://a.example/' }],
    ['secret', { secret: 'hunter2' }],
    ['user_password', { user_password: 'hunter2' }],
  ])('still answers for every other rule: %s', (path, bend) => {
    expect(read(bend).paths).toContain(path)
  })

  it('is the same client again when it is written down with its defaults', () => {
    const { client } = read({})
    expect(read(registrationOf(client)).client).toEqual(client)
  })
})
