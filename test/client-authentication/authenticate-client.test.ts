import { authenticateClient, presentedClient } from '../../lib/client-authentication/authenticate-client'
import { clientSecretBasic, clientSecretPost, none } from '../../lib/client-authentication/built-in-methods'
import { generateClientSecret, SecretVerifier } from '../../lib/client-authentication/client-secret'
import type { ClientAuthenticationMethod, CredentialSources } from '../../lib/client-authentication/method'
import { clientWith } from '../support/authorization/client'
import { thrownBy } from '../support/authorization/thrown'
import { authenticatingServer } from '../support/rooms/authenticating-server'
import { basic } from '../support/rooms/credentials'
import { clientsOf } from '../support/rooms/endpoints'
import { parametersOf } from '../support/rooms/parameters'
import { refusalOf } from '../support/rooms/refused'
import { freely } from '../support/rooms/secrets'

describe('presented client', () => {
  const secrets = new SecretVerifier(Date.now)
  const methods = [clientSecretBasic(secrets), clientSecretPost(secrets)]

  interface Sent {
    readonly headers?: readonly string[]
    readonly body?: Readonly<Record<string, string | readonly string[]>>
    readonly query?: Readonly<Record<string, string | readonly string[]>>
  }

  const sourcesOf = ({ headers = [], body, query }: Sent): CredentialSources => ({
    authorization: headers,
    body: parametersOf(body),
    query: parametersOf(query),
    certificate: undefined,
  })

  const named = { client_id: 'printer' }
  const posted = { client_id: 'printer', client_secret: 'secret' }
  const both = basic('printer', 'secret')
  const idOnly = basic('printer', '')

  describe('presentedClient: one method', () => {
    it.each<[string, Sent, string, string]>([
      ['Basic', { headers: [both] }, 'client_secret_basic', 'secret'],
      ['Basic beside the same client_id', { headers: [both], body: named }, 'client_secret_basic', 'secret'],
      ['both in the body', { body: posted }, 'client_secret_post', 'secret'],
      ['a client_id alone', { body: named }, 'none', ''],
      ['Basic without a secret', { headers: [idOnly] }, 'none', ''],
      ['Basic without a secret beside the same client_id', { headers: [idOnly], body: named }, 'none', ''],
      [
        'a client_id and an empty client_secret',
        { body: { client_id: 'printer', client_secret: '' } },
        'none',
        '',
      ],
      [
        'Basic beside an empty client_id',
        { headers: [both], body: { client_id: '' } },
        'client_secret_basic',
        'secret',
      ],
    ])('is %s', (_what, sent, method, credential) => {
      expect(presentedClient(sourcesOf(sent), methods)).toMatchObject({
        method: { name: method },
        clientId: 'printer',
        credential,
      })
    })

    it('is also one that came through the door', () => {
      const jwt: ClientAuthenticationMethod = {
        name: 'private_key_jwt',
        read: ({ body }) => {
          const credential = body.get('client_assertion')
          return credential === undefined ? undefined : { clientId: 'printer', credential }
        },
        verify: async () => true,
      }
      const sources = sourcesOf({ body: { client_assertion: 'a.b.c' } })
      expect(presentedClient(sources, [...methods, jwt])).toMatchObject({ method: jwt, credential: 'a.b.c' })
      const two = sourcesOf({ body: { ...posted, client_assertion: 'a.b.c' } })
      expect(thrownBy(() => presentedClient(two, [...methods, jwt]))).toHaveProperty(
        'reason',
        'several_methods',
      )
    })
  })

  describe('presentedClient: not one method', () => {
    it.each<[string, Sent]>([
      ['Basic and both in the body', { headers: [both], body: posted }],
      ['Basic and another client in the body', { headers: [both], body: { ...posted, client_id: 'phone' } }],
      ['Basic without a secret, and both in the body', { headers: [idOnly], body: posted }],
      ['Bearer and both in the body', { headers: ['Bearer token'], body: posted }],
      ['an unknown scheme and both in the body', { headers: ['Negotiate abc'], body: posted }],
    ])('refuses %s', (_what, sent) => {
      expect(thrownBy(() => presentedClient(sourcesOf(sent), methods))).toMatchObject({
        code: 'invalid_request',
        reason: 'several_methods',
      })
    })

    it.each<[string, Sent]>([
      ['nothing', {}],
      ['other parameters only', { body: { grant_type: 'client_credentials' } }],
      ['a client_id in the query only', { query: named }],
      ['Bearer beside a client_id', { headers: ['Bearer token'], body: named }],
      ['Digest alone', { headers: ['Digest username="printer"'] }],
      ['a header that only looks like Basic', { headers: ['Basically x'], body: named }],
    ])('finds no authentication in %s', (_what, sent) => {
      expect(thrownBy(() => presentedClient(sourcesOf(sent), methods))).toMatchObject({
        code: 'invalid_client',
        reason: 'no_client_authentication',
      })
    })

    it.each<[string, Sent]>([
      ['a client_id', { body: named }],
      ['Basic without a secret', { headers: [idOnly] }],
    ])('finds none in %s, where no client is public', (_what, sent) => {
      expect(thrownBy(() => presentedClient(sourcesOf(sent), methods, [], false))).toMatchObject({
        code: 'invalid_client',
        reason: 'no_client_authentication',
      })
      expect(presentedClient(sourcesOf(sent), methods)).toMatchObject({ method: { name: 'none' } })
    })

    it.each<[string, Sent]>([
      ['twice the same', { headers: [both, both] }],
      ['of another client', { headers: [both, basic('phone', 'secret')] }],
      ['of another scheme', { headers: [both, 'Bearer token'] }],
      ['that is empty', { headers: [idOnly, ''], body: named }],
    ])('refuses a second Authorization header %s', (_what, sent) => {
      expect(thrownBy(() => presentedClient(sourcesOf(sent), methods))).toHaveProperty(
        'code',
        'invalid_request',
      )
    })

    it('refuses a secret in the body without a client_id', () => {
      expect(
        thrownBy(() => presentedClient(sourcesOf({ body: { client_secret: 'secret' } }), methods)),
      ).toMatchObject({
        code: 'invalid_request',
        reason: 'parameter_missing',
      })
    })

    it.each([['client_id'], ['client_secret']])('refuses a %s that is repeated', (name) => {
      const body = { ...posted, [name]: ['printer', 'printer'] }
      expect(thrownBy(() => presentedClient(sourcesOf({ body }), methods))).toHaveProperty(
        'reason',
        'parameter_malformed',
      )
    })

    it('refuses a malformed Basic header, whatever else the request shows', () => {
      const sources = sourcesOf({ headers: ['Basic !'], body: named })
      expect(thrownBy(() => presentedClient(sources, methods))).toHaveProperty('reason', 'basic_malformed')
    })
  })

  describe('presentedClient: beside the method', () => {
    it.each<[string, Sent]>([
      ['Basic', { headers: [both], body: { client_id: 'phone' } }],
      ['Basic without a secret', { headers: [idOnly], body: { client_id: 'phone' } }],
      ['Basic, in other case', { headers: [both], body: { client_id: 'Printer' } }],
    ])('refuses a client_id that names another client than %s', (_what, sent) => {
      expect(thrownBy(() => presentedClient(sourcesOf(sent), methods))).toMatchObject({
        code: 'invalid_request',
        reason: 'client_id_mismatch',
      })
    })

    it.each(['client_secret', 'client_assertion', 'code', 'code_verifier', 'refresh_token', 'password'])(
      'refuses a %s in the query, even empty or repeated',
      (name) => {
        for (const value of ['secret', '', ['a', 'b']]) {
          const sources = sourcesOf({ headers: [both], query: { [name]: value } })
          expect(thrownBy(() => presentedClient(sources, methods))).toMatchObject({
            code: 'invalid_request',
            reason: 'credential_in_query',
          })
        }
      },
    )

    it('ignores whatever else is in the query', () => {
      const query = { client_id: 'phone', grant_type: 'password', tenant: '7' }
      expect(presentedClient(sourcesOf({ headers: [both], query }), methods).clientId).toBe('printer')
    })
  })
})

describe('authenticateClient', () => {
  const old = generateClientSecret()
  const fresh = generateClientSecret()
  const printer = clientWith({ client_secret_hashes: [old.client_secret_hash, fresh.client_secret_hash] })
  const phone = clientWith({ client_id: 'phone', client_type: 'public', client_secret_hashes: [] })
  const onlyPost = clientWith({
    client_id: 'only-post',
    token_endpoint_auth_method: 'client_secret_post',
    client_secret_hashes: [old.client_secret_hash],
  })
  const oddPhone = clientWith({
    client_id: 'odd-phone',
    client_type: 'public',
    client_secret_hashes: [old.client_secret_hash],
  })
  const shutOut = clientWith({
    client_id: 'shut-out',
    disabled: true,
    client_secret_hashes: [fresh.client_secret_hash],
  })
  const shutOutPhone = clientWith({
    client_id: 'shut-out-phone',
    client_type: 'public',
    client_secret_hashes: [],
    disabled: true,
  })
  const findClient = clientsOf(printer, phone, onlyPost, oddPhone, shutOut, shutOutPhone)

  const secrets = new SecretVerifier(Date.now)
  const byBasic = clientSecretBasic(secrets)
  const byPost = clientSecretPost(secrets)

  const atServer = authenticatingServer()
  const authenticate = async (method: ClientAuthenticationMethod, clientId: string, credential: string) =>
    authenticateClient({ method, clientId, credential }, await findClient(clientId), () => freely, atServer)

  it.each([
    ['Basic', byBasic],
    ['the body', byPost],
  ])('proves a client by its secret in %s', async (_where, method) => {
    await expect(authenticate(method, printer.client_id, fresh.client_secret)).resolves.toEqual({
      client: printer,
      byOldSecret: false,
    })
  })

  it('takes an old secret during a rotation, and tells that it is one (REG-13)', async () => {
    await expect(authenticate(byBasic, printer.client_id, old.client_secret)).resolves.toEqual({
      client: printer,
      byOldSecret: true,
    })
  })

  it('takes a public client without credentials at its word', async () => {
    await expect(authenticate(none, 'phone', '')).resolves.toEqual({
      client: phone,
      byOldSecret: false,
    })
  })

  it.each([
    ['an unknown client', byBasic, 'nobody', old.client_secret, 'client_unknown'],
    ['an unknown client that only names itself', none, 'nobody', '', 'client_unknown'],
    [
      'a disabled client with its secret (REG-13)',
      byBasic,
      'shut-out',
      fresh.client_secret,
      'client_disabled',
    ],
    ['a disabled client with a wrong secret', byPost, 'shut-out', 'wrong', 'client_disabled'],
    ['a disabled public client', none, 'shut-out-phone', '', 'client_disabled'],
    ['a wrong secret', byBasic, printer.client_id, 'wrong', 'client_not_authenticated'],
    ['an empty secret', byPost, printer.client_id, '', 'client_not_authenticated'],
    [
      'the digest instead of the secret',
      byBasic,
      printer.client_id,
      old.client_secret_hash,
      'client_not_authenticated',
    ],
    [
      'the digest without its prefix',
      byBasic,
      printer.client_id,
      old.client_secret_hash.slice(7),
      'client_not_authenticated',
    ],
    [
      'a confidential client that only names itself (REG-2)',
      none,
      printer.client_id,
      '',
      'client_not_authenticated',
    ],
    [
      'a public client with credentials that only names itself',
      none,
      'odd-phone',
      '',
      'client_not_authenticated',
    ],
    ['a secret of a client that has none', byBasic, 'phone', 'secret', 'client_not_authenticated'],
    [
      'another method than the registered one',
      byBasic,
      'only-post',
      old.client_secret,
      'client_method_not_registered',
    ],
  ] as const)('refuses %s', async (_what, method, clientId, credential, reason) => {
    expect(await refusalOf(authenticate(method, clientId, credential))).toEqual({
      code: 'invalid_client',
      reason,
    })
  })

  it('tells each refusal in the same words', async () => {
    const attempts = [
      authenticate(byBasic, 'nobody', 'x'),
      authenticate(byBasic, printer.client_id, 'x'),
      authenticate(byBasic, 'only-post', old.client_secret),
      authenticate(byBasic, 'shut-out', fresh.client_secret),
    ]
    const told = await Promise.all(attempts.map((attempt) => attempt.catch(({ message }: Error) => message)))
    expect(new Set(told)).toEqual(new Set(['Client authentication failed.']))
  })

  it('takes the registered method', async () => {
    await expect(authenticate(byPost, 'only-post', old.client_secret)).resolves.toHaveProperty(
      'client',
      onlyPost,
    )
  })

  it('asks the method about an unknown client, too, so that it can cost the same', async () => {
    const verify = jest.fn(async () => true)
    const attempt = authenticate({ name: 'costly', read: () => undefined, verify }, 'nobody', 'secret')
    expect(await refusalOf(attempt)).toHaveProperty('reason', 'client_unknown')
    expect(verify).toHaveBeenCalledWith(undefined, 'secret', expect.any(Function), atServer)
  })

  it('asks the method about a disabled client as about an unknown one, so that its secret tells nothing', async () => {
    const verify = jest.fn(async () => true)
    const method = { name: 'costly', read: () => undefined, verify }
    expect(await refusalOf(authenticate(method, 'shut-out', fresh.client_secret))).toHaveProperty(
      'reason',
      'client_disabled',
    )
    expect(verify).toHaveBeenCalledWith(undefined, fresh.client_secret, expect.any(Function), atServer)
  })
})
