import { type ClientRegistration, hasCredentials } from '../../lib/protocol/client'
import { clientWith, parsed, registration } from '../support/authorization/client'

describe('hasCredentials', () => {
  it('is so for a confidential client', () => {
    expect(hasCredentials(clientWith())).toBe(true)
  })

  it('is so for a public client that was issued a secret', () => {
    expect(hasCredentials(clientWith({ client_type: 'public' }))).toBe(true)
    expect(registration.client_secret_hashes).toHaveLength(1)
  })

  it('is not so for a public client without', () => {
    expect(hasCredentials(clientWith({ client_type: 'public', client_secret_hashes: [] }))).toBe(false)
  })
})

const native = {
  client_type: 'public',
  client_secret_hashes: undefined,
  loopback_redirect_uris: true,
} as const

const mistakesWith = (bend: Readonly<Record<string, unknown>>): readonly string[] =>
  parsed({ ...registration, ...bend }).issues.map(({ path, message }) => `${path} ${message}`)

describe('The opt-ins of a redirection', () => {
  it.each<[string, Partial<ClientRegistration>]>([
    ['a loopback address', { ...native, redirect_uris: ['http://127.0.0.1/callback'] }],
    ['the other loopback address, with a port', { ...native, redirect_uris: ['http://[::1]:8080/callback'] }],
    ['one beside others', { ...native, redirect_uris: ['https://a.example/', 'http://127.0.0.1/'] }],
    ['a partial URI', { dynamic_redirect_query: true }],
    ['plain http', { insecure_redirect_uris: true, redirect_uris: ['http://a.example/'] }],
    ['null, as databases have it', JSON.parse('{"insecure_redirect_uris":null}')],
  ])('accept %s', (_, bend) => {
    expect(mistakesWith(bend)).toEqual([])
  })

  it.each(['loopback_redirect_uris', 'dynamic_redirect_query', 'insecure_redirect_uris'])(
    '%s is switched by a boolean only',
    (key) => {
      for (const value of ['true', 1, [], {}])
        expect(mistakesWith({ [key]: value })).toEqual([`clients[0].${key} must be true or false.`])
    },
  )

  it('refuse loopback ports to a confidential client', () => {
    expect(
      mistakesWith({ loopback_redirect_uris: true, redirect_uris: ['http://127.0.0.1/callback'] }),
    ).toEqual([expect.stringContaining('clients[0].loopback_redirect_uris is for native apps')])
  })

  it.each([
    'https://a.example/',
    'http://localhost/callback',
    'http://127.0.0.1',
    'https://127.0.0.1/callback',
    'HTTP://127.0.0.1/callback',
    'com.example.app:/callback',
  ])('refuse loopback ports where the only redirect URI is %s', (uri) => {
    expect(mistakesWith({ ...native, redirect_uris: [uri] })).toEqual([
      expect.stringContaining('clients[0].loopback_redirect_uris needs a redirect URI such as'),
    ])
  })

  it.each(['https://a.example/?a=b', 'https://a.example/?'])('refuse %s as a partial URI', (uri) => {
    expect(
      mistakesWith({ dynamic_redirect_query: true, redirect_uris: ['https://b.example/', uri] }),
    ).toEqual([expect.stringContaining('clients[0].redirect_uris[1] must not have a query')])
  })

  it('refuse plain http without the opt-in, which the message names', () => {
    for (const insecure_redirect_uris of [undefined, false])
      expect(mistakesWith({ insecure_redirect_uris, redirect_uris: ['http://a.example/'] })).toEqual([
        expect.stringContaining('insecure_redirect_uris'),
      ])
  })
})
