import { parseDocument, type DocumentRules } from '../../../lib/clients/metadata-documents/parse-document'
import { codeResponseType, implicit } from '../../../lib/authorization-endpoint/response-types'
import { parseStoredClient, type ServerCapabilities } from '../../../lib/protocol/parse-client'
import { UnusableClient } from '../../../lib/protocol/oauth-error'
import { clientId, document } from '../../support/client-documents'

const capabilities: ServerCapabilities = {
  scope: ['notes:read', 'notes:write'],
  grantTypes: ['authorization_code', 'refresh_token', 'client_credentials', 'implicit'],
  responseTypes: [codeResponseType, implicit()],
  tokenTypes: ['bearer'],
  authenticationMethods: [
    {
      name: 'private_key_jwt',
      mistakeIn: (credential) => (JSON.stringify(credential).includes('"d"') ? 'is private' : undefined),
    },
  ],
}

function rulesWith(bend: Partial<DocumentRules> = {}): DocumentRules {
  const offered = bend.capabilities ?? capabilities
  return {
    capabilities: offered,
    scope: ['notes:read', 'notes:write'],
    grantTypes: ['authorization_code', 'refresh_token'],
    localhostRedirects: false,
    parse: (registration) => parseStoredClient(registration, offered),
    ...bend,
  }
}

const url = { clientId, host: 'notes.example' }

const parse = (bend: object = {}, rules: Partial<DocumentRules> = {}) =>
  parseDocument({ ...document, ...bend }, url, rulesWith(rules))

function refusalOf(json: unknown, rules: Partial<DocumentRules> = {}): unknown {
  try {
    parseDocument(json, url, rulesWith(rules))
  } catch (error) {
    return error
  }
  return undefined
}

const keys = { keys: [{ kty: 'EC', crv: 'P-256', x: 'x', y: 'y', kid: '1' }] }

describe('A metadata document', () => {
  test('names where a logout may lead; what no host could register is left out', () => {
    const good = 'https://notes.example/bye'
    const bend = { post_logout_redirect_uris: [good, 'http://notes.example/bye', 'bye'] }
    expect(parse(bend).post_logout_redirect_uris).toEqual([good])
    expect(parse({ post_logout_redirect_uris: 7 }).post_logout_redirect_uris).toBeUndefined()
  })

  test('makes a public client that is not registered here', () => {
    expect(parse()).toMatchObject({
      client_id: clientId,
      client_type: 'public',
      token_endpoint_auth_method: 'none',
      client_secret_hashes: [],
      client_name: 'Note Taker',
      redirect_uris: document.redirect_uris,
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      scope: ['notes:read', 'notes:write'],
      may_introspect: false,
      metadataDocument: { host: 'notes.example', localhostRedirects: false },
    })
  })

  test('needs three members alone', () => {
    const { client_id, client_name, redirect_uris } = document
    expect(parseDocument({ client_id, client_name, redirect_uris }, url, rulesWith())).toMatchObject({
      client_type: 'public',
      grant_types: ['authorization_code'],
      response_types: ['code'],
    })
  })

  test('never makes its client more than a client of strangers [stranger-3]', () => {
    const client = parse({
      client_type: 'confidential',
      client_secret_hashes: [`sha256:${'a'.repeat(43)}`],
      credentials: { private_key_jwt: keys },
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
    })
    expect(client).toMatchObject({
      client_type: 'public',
      client_secret_hashes: [],
      credentials: {},
      may_introspect: false,
      insecure_redirect_uris: false,
      dynamic_redirect_query: false,
      token_type: undefined,
      description: undefined,
      logo_uri: undefined,
      metadataDocument: { host: 'notes.example' },
      disabled: false,
    })
  })

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a list', [document]],
    ['a text', JSON.stringify(document)],
    ['an empty object', {}],
    ['another client_id', { ...document, client_id: 'https://notes.example/oauth/other.json' }],
    ['a client_id in other letter case', { ...document, client_id: clientId.replace('notes', 'Notes') }],
    ['a client_id with an encoded letter', { ...document, client_id: clientId.replace('oauth', '%6Fauth') }],
    ['no client_id', { ...document, client_id: undefined }],
    ['several client_ids', { ...document, client_id: [clientId] }],
    ['a client_secret', { ...document, client_secret: 'secret' }],
    ['an empty client_secret', { ...document, client_secret: '' }],
    ['the end of a client_secret', { ...document, client_secret_expires_at: 0 }],
    ['no client_name', { client_id: clientId, redirect_uris: document.redirect_uris }],
    ['a client_name that is null', { ...document, client_name: null }],
    ['an empty client_name', { ...document, client_name: '' }],
    ['a client_name of two lines', { ...document, client_name: 'Note\nTaker' }],
    ['a client_name that is too long', { ...document, client_name: 'a'.repeat(257) }],
    ['a client_name that is no text', { ...document, client_name: { en: 'Notes' } }],
    ['no redirect_uris', { client_id: clientId, client_name: 'Note Taker' }],
    ['empty redirect_uris', { ...document, redirect_uris: [] }],
    ['redirect_uris that are a text', { ...document, redirect_uris: 'https://notes.example/callback' }],
    ['a redirection URI that is no text', { ...document, redirect_uris: [7] }],
    ['a redirection URI with a fragment', { ...document, redirect_uris: ['https://notes.example/#a'] }],
    ['a redirection URI that is a script', { ...document, redirect_uris: ['javascript:alert(1)'] }],
    ['a redirection URI without TLS', { ...document, redirect_uris: ['http://notes.example/callback'] }],
    ['a relative redirection URI', { ...document, redirect_uris: ['/callback'] }],
    ['a method with a secret', { ...document, token_endpoint_auth_method: 'client_secret_basic' }],
    ['a method with a shared key', { ...document, token_endpoint_auth_method: 'client_secret_jwt' }],
    ['an unknown method', { ...document, token_endpoint_auth_method: 'constructor' }],
    ['a method that is no text', { ...document, token_endpoint_auth_method: ['none'] }],
    ['the method of keys without keys', { ...document, token_endpoint_auth_method: 'private_key_jwt' }],
    [
      'keys in two places',
      {
        ...document,
        token_endpoint_auth_method: 'private_key_jwt',
        jwks: keys,
        jwks_uri: 'https://notes.example/keys',
      },
    ],
    [
      'a private key',
      {
        ...document,
        token_endpoint_auth_method: 'private_key_jwt',
        jwks: { keys: [{ ...keys.keys[0], d: 'd' }] },
      },
    ],
    ['a private key that it does not use', { ...document, jwks: { keys: [{ ...keys.keys[0], d: 'd' }] } }],
    ['a symmetric key that it does not use', { ...document, jwks: { keys: [{ kty: 'oct', k: 'k' }] } }],
    ['grant types that are a text', { ...document, grant_types: 'authorization_code' }],
    [
      'other grant types alone',
      { ...document, grant_types: ['urn:ietf:params:oauth:grant-type:device_code'] },
    ],
    ['no grant types', { ...document, grant_types: [] }],
    ['refresh tokens alone', { ...document, grant_types: ['refresh_token'] }],
    ['client credentials without a key', { ...document, grant_types: ['client_credentials'] }],
    ['response types that are a text', { ...document, response_types: 'code' }],
    ['other response types alone', { ...document, response_types: ['id_token'] }],
    ['a scope that is no text', { ...document, scope: ['notes:read'] }],
    ['a malformed scope', { ...document, scope: 'notes:read  notes:write' }],
    [
      'a home page that is too long',
      { ...document, policy_uri: `https://notes.example/${'x'.repeat(2048)}` },
    ],
  ])('is malformed with %s [stranger-4]', (_, json) => {
    const refusal = refusalOf(json, {
      grantTypes: ['authorization_code', 'refresh_token', 'client_credentials'],
    })
    expect(refusal).toBeInstanceOf(UnusableClient)
    expect(refusal).toMatchObject({
      code: 'temporarily_unavailable',
      reason: 'client_document_malformed',
      pageCode: 'invalid_request',
    })
  })

  test('may hold null in place of no value', () => {
    expect(parse({ scope: null, client_secret: null, jwks: null, client_uri: null })).toMatchObject({
      scope: ['notes:read', 'notes:write'],
      client_uri: undefined,
    })
  })

  test('loses what this server does not offer', () => {
    expect(
      parse({
        grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code', 'implicit'],
        response_types: ['code', 'token', 'id_token'],
        scope: 'openid notes:read offline_access',
      }),
    ).toMatchObject({
      grant_types: ['authorization_code'],
      response_types: ['code'],
      scope: ['notes:read'],
    })
  })

  test.each(['openid offline_access', ''])(
    'that asks for the scope %j of other servers gets the usual one',
    (scope) => {
      expect(parse({ scope }).scope).toEqual(['notes:read', 'notes:write'])
    },
  )

  test('never gets a scope beyond the option', () => {
    const rules = { scope: ['notes:read'] }
    expect(parse({}, rules).scope).toEqual(['notes:read'])
    expect(parse({ scope: 'notes:write' }, rules).scope).toEqual(['notes:read'])
  })

  describe.each(['client_uri', 'policy_uri', 'tos_uri'] as const)('with the %s', (member) => {
    test.each([
      ['https://notes.example/about', 'https://notes.example/about'],
      ['https://bank.example/', undefined],
      ['https://notes.example.bank.example/', undefined],
      // Each ends like the host of the document.
      ['https://evilnotes.example/', undefined],
      ['https://bank.notes.example/', undefined],
      ['https://bank.example/notes.example', undefined],
      ['https://notes.example@bank.example/', undefined],
      ['https://notes.example:8443/', undefined],
      ['https:notes.example', undefined],
      ['ftp://notes.example/', undefined],
      ['javascript:alert(1)', undefined],
      [7, undefined],
    ])('%s links to %s: to its own host or not at all [stranger-5]', (uri, known) => {
      expect(parse({ [member]: uri })[member]).toBe(known)
    })
  })

  describe('with private_key_jwt', () => {
    const method = { token_endpoint_auth_method: 'private_key_jwt' }

    test.each([
      ['its keys', { jwks: keys }, keys],
      [
        'the URL of its keys',
        { jwks_uri: 'https://notes.example/keys' },
        { jwks_uri: 'https://notes.example/keys' },
      ],
    ])('makes a confidential client by %s', (_, members, credential) => {
      expect(parse({ ...method, ...members })).toMatchObject({
        client_type: 'confidential',
        token_endpoint_auth_method: 'private_key_jwt',
        credentials: { private_key_jwt: credential },
        loopback_redirect_uris: false,
      })
    })

    test('is malformed for a server without this method', () => {
      const without = { ...capabilities, authenticationMethods: [] }
      expect(refusalOf({ ...document, ...method, jwks: keys }, { capabilities: without })).toMatchObject({
        reason: 'client_document_malformed',
      })
    })

    test('may use client credentials where the option allows it', () => {
      const json = {
        ...document,
        ...method,
        jwks: keys,
        grant_types: ['client_credentials'],
        response_types: [],
      }
      expect(refusalOf(json)).toMatchObject({ reason: 'client_document_malformed' })
      const { grant_types } = parse(json, { grantTypes: ['authorization_code', 'client_credentials'] })
      expect(grant_types).toEqual(['client_credentials'])
    })
  })

  test('that offers client credentials without a key gets the rest', () => {
    const rules = { grantTypes: ['authorization_code', 'client_credentials'] }
    const { grant_types } = parse({ grant_types: ['authorization_code', 'client_credentials'] }, rules)
    expect(grant_types).toEqual(['authorization_code'])
  })

  describe('of a native app', () => {
    test.each([
      [['http://127.0.0.1/callback'], true],
      [['http://[::1]:7000/callback'], true],
      [['http://localhost/callback'], false],
      [['https://notes.example/callback'], false],
    ])('at %s chooses its port: %s (RFC 8252 7.3)', (redirect_uris, chooses) => {
      expect(parse({ redirect_uris }).loopback_redirect_uris).toBe(chooses)
    })

    test('loses only the schemes of apps where the server allows https and loopback alone', () => {
      const strict: ServerCapabilities = { ...capabilities, redirectUris: 'https or loopback' }
      const redirect_uris = [
        'notes-app:/callback',
        'http://localhost:3000/callback',
        'https://notes.example/cb',
      ]
      expect(parse({ redirect_uris }, { capabilities: strict }).redirect_uris).toEqual(redirect_uris.slice(1))
      const json = { ...document, redirect_uris: ['notes-app:/callback'] }
      expect(refusalOf(json, { capabilities: strict })).toMatchObject({ reason: 'client_document_malformed' })
      const hostile = { ...document, redirect_uris: [...redirect_uris, 'javascript:alert(1)'] }
      expect(refusalOf(hostile, { capabilities: strict })).toMatchObject({
        reason: 'client_document_malformed',
      })
    })

    test('loses plain http on another host', () => {
      const redirect_uris = ['http://192.168.0.7/callback', 'https://notes.example/cb']
      expect(parse({ redirect_uris }).redirect_uris).toEqual(redirect_uris.slice(1))
    })

    test('keeps the schemes of apps that the server allows by name', () => {
      const named = { capabilities: { ...capabilities, redirectUris: { schemes: ['notes-app'] } } }
      const redirect_uris = ['notes-app:/callback', 'other-app:/callback', 'https://notes.example/cb']
      expect(parse({ redirect_uris }, named).redirect_uris).toEqual([redirect_uris[0], redirect_uris[2]])
    })

    test('may have any port at localhost by the option, unless it has a key', () => {
      const rules = { localhostRedirects: true }
      expect(parse({}, rules).metadataDocument?.localhostRedirects).toBe(true)
      const withKey = parse({ token_endpoint_auth_method: 'private_key_jwt', jwks: keys }, rules)
      expect(withKey.metadataDocument?.localhostRedirects).toBe(false)
    })
  })
})
