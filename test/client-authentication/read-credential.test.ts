import { clientSecretBasic } from '../../lib/client-authentication/basic'
import { clientSecretPost } from '../../lib/client-authentication/built-in-methods'
import { SecretVerifier } from '../../lib/client-authentication/client-secret'
import type { ClientAuthenticationMethod, CredentialSources } from '../../lib/client-authentication/method'
import { type CredentialTerms, readCredential } from '../../lib/client-authentication/read-credential'
import { thrownBy } from '../support/authorization/thrown'
import { basic } from '../support/rooms/credentials'
import { parametersOf } from '../support/rooms/parameters'

describe('readCredential', () => {
  const secrets = new SecretVerifier(Date.now)
  const methods = [clientSecretBasic(secrets), clientSecretPost(secrets)]

  const terms: CredentialTerms = { methods, credentialParameters: [], takesPublicClients: true }

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

  describe('one method', () => {
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
      expect(readCredential(sourcesOf(sent), terms)).toMatchObject({
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
      expect(readCredential(sources, { ...terms, methods: [...methods, jwt] })).toMatchObject({
        method: jwt,
        credential: 'a.b.c',
      })
      const two = sourcesOf({ body: { ...posted, client_assertion: 'a.b.c' } })
      expect(thrownBy(() => readCredential(two, { ...terms, methods: [...methods, jwt] }))).toHaveProperty(
        'reason',
        'several_methods',
      )
    })
  })

  describe('not one method', () => {
    it.each<[string, Sent]>([
      ['Basic and both in the body', { headers: [both], body: posted }],
      ['Basic and another client in the body', { headers: [both], body: { ...posted, client_id: 'phone' } }],
      ['Basic without a secret, and both in the body', { headers: [idOnly], body: posted }],
      ['Bearer and both in the body', { headers: ['Bearer token'], body: posted }],
      ['an unknown scheme and both in the body', { headers: ['Negotiate abc'], body: posted }],
    ])('refuses %s', (_what, sent) => {
      expect(thrownBy(() => readCredential(sourcesOf(sent), terms))).toMatchObject({
        code: 'invalid_request',
        reason: 'several_methods',
      })
    })

    it.each<[string, Sent]>([
      ['Bearer beside a client_id', { headers: ['Bearer token'], body: named }],
      ['Digest alone', { headers: ['Digest username="printer"'] }],
      ['a header that only looks like Basic', { headers: ['Basically x'], body: named }],
    ])('finds no authentication in %s', (_what, sent) => {
      expect(thrownBy(() => readCredential(sourcesOf(sent), terms))).toMatchObject({
        code: 'invalid_client',
        reason: 'no_client_authentication',
      })
    })

    it.each<[string, Sent]>([
      ['nothing', {}],
      ['other parameters only', { body: { grant_type: 'client_credentials' } }],
      ['a client_id in the query only', { query: named }],
    ])('finds no credential in %s', (_what, sent) => {
      expect(readCredential(sourcesOf(sent), terms)).toBeUndefined()
    })

    it('finds none in a name alone, where no client is public', () => {
      const strict = { ...terms, takesPublicClients: false }
      expect(readCredential(sourcesOf({ body: named }), strict)).toBeUndefined()
      expect(thrownBy(() => readCredential(sourcesOf({ headers: [idOnly] }), strict))).toMatchObject({
        code: 'invalid_client',
        reason: 'no_client_authentication',
      })
    })

    it.each<[string, Sent]>([
      ['twice the same', { headers: [both, both] }],
      ['of another client', { headers: [both, basic('phone', 'secret')] }],
      ['of another scheme', { headers: [both, 'Bearer token'] }],
      ['that is empty', { headers: [idOnly, ''], body: named }],
    ])('refuses a second Authorization header %s', (_what, sent) => {
      expect(thrownBy(() => readCredential(sourcesOf(sent), terms))).toHaveProperty('code', 'invalid_request')
    })

    it('refuses a secret in the body without a client_id', () => {
      expect(
        thrownBy(() => readCredential(sourcesOf({ body: { client_secret: 'secret' } }), terms)),
      ).toMatchObject({
        code: 'invalid_request',
        reason: 'parameter_missing',
      })
    })

    it.each([['client_id'], ['client_secret']])('refuses a %s that is repeated', (name) => {
      const body = { ...posted, [name]: ['printer', 'printer'] }
      expect(thrownBy(() => readCredential(sourcesOf({ body }), terms))).toHaveProperty(
        'reason',
        'parameter_malformed',
      )
    })

    it('refuses a malformed Basic header, whatever else the request shows', () => {
      const sources = sourcesOf({ headers: ['Basic !'], body: named })
      expect(thrownBy(() => readCredential(sources, terms))).toHaveProperty('reason', 'basic_malformed')
    })
  })

  describe('beside the method', () => {
    it.each<[string, Sent]>([
      ['Basic', { headers: [both], body: { client_id: 'phone' } }],
      ['Basic without a secret', { headers: [idOnly], body: { client_id: 'phone' } }],
      ['Basic, in other case', { headers: [both], body: { client_id: 'Printer' } }],
    ])('refuses a client_id that names another client than %s', (_what, sent) => {
      expect(thrownBy(() => readCredential(sourcesOf(sent), terms))).toMatchObject({
        code: 'invalid_request',
        reason: 'client_id_mismatch',
      })
    })

    it.each(['client_secret', 'client_assertion', 'code', 'code_verifier', 'refresh_token', 'password'])(
      'refuses a %s in the query, even empty or repeated',
      (name) => {
        for (const value of ['secret', '', ['a', 'b']]) {
          const sources = sourcesOf({ headers: [both], query: { [name]: value } })
          expect(thrownBy(() => readCredential(sources, terms))).toMatchObject({
            code: 'invalid_request',
            reason: 'credential_in_query',
          })
        }
      },
    )

    it('ignores whatever else is in the query', () => {
      const query = { client_id: 'phone', grant_type: 'password', tenant: '7' }
      expect(readCredential(sourcesOf({ headers: [both], query }), terms)?.clientId).toBe('printer')
    })
  })
})
