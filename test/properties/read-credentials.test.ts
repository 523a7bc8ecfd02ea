import { runInNewContext } from 'node:vm'
import {
  type AuthenticationMethodDescription,
  hasCredentialFor,
  hasCredentials,
} from '../../lib/protocol/client'
import type { ConfigurationIssue } from '../../lib/primitives/options-reader'
import { parseClient } from '../../lib/protocol/parse-client'
import { capabilities, registration } from '../support/authorization/client'

const methods: readonly AuthenticationMethodDescription[] = [
  { name: 'sealed' },
  { name: 'picky', mistakeIn: (value) => (value === 'wax' ? undefined : 'must be wax.') },
  { name: 'broken', mistakeIn: () => JSON.parse('of the host: secret') },
]

function parsedWith(bend: object) {
  const issues: ConfigurationIssue[] = []
  const source = { ...registration, ...bend }
  const client = parseClient(source, 'clients[0]', issues, {
    ...capabilities,
    authenticationMethods: methods,
  })
  return { client, issues: issues.map(({ path, message }) => `${path} ${message}`) }
}

describe('the field credentials', () => {
  it.each<[string, unknown, object]>([
    ['left out', undefined, {}],
    ['null, as databases have it', null, {}],
    ['empty', {}, {}],
    ['a text', { sealed: 'wax' }, { sealed: 'wax' }],
    [
      'an object',
      { sealed: { keys: [{ a: 1, b: [true, null] }] } },
      { sealed: { keys: [{ a: 1, b: [true, null] }] } },
    ],
    [
      'an object of another realm',
      { sealed: runInNewContext('({ keys: [{}] })') },
      { sealed: { keys: [{}] } },
    ],
    ['one that its method likes', { picky: 'wax' }, { picky: 'wax' }],
    ['null for a method', { sealed: null, picky: 'wax' }, { picky: 'wax' }],
  ])('may be %s', (_what, credentials, kept) => {
    const { client, issues } = parsedWith({ credentials })
    expect({ credentials: { ...client.credentials }, issues }).toEqual({ credentials: kept, issues: [] })
  })

  const cyclic: Record<string, unknown> = {}
  cyclic['self'] = cyclic
  it.each<[string, unknown, string]>([
    ['a text', 'wax', ' must be an object that maps the name of a method'],
    ['a list', ['wax'], ' must be an object that maps the name of a method'],
    [
      'an entry of an unknown method',
      { unknown: 1 },
      '.unknown is not a method with an entry in credentials',
    ],
    ['an entry of a prototype', JSON.parse('{"__proto__":1}'), '.__proto__ is not a method'],
    [
      'a secret under Basic',
      { client_secret_basic: 'x' },
      '.client_secret_basic belongs in client_secret_hashes',
    ],
    ['an entry of no method', { none: 'x' }, '.none belongs in client_secret_hashes'],
    ['an empty text', { sealed: '' }, '.sealed is empty'],
    ['an empty list', { sealed: [] }, '.sealed is empty'],
    ['a function', { sealed: () => true }, '.sealed must be a JSON value.'],
    ['a date', { sealed: new Date(0) }, '.sealed must be a JSON value.'],
    ['a number that is none', { sealed: { a: NaN } }, '.sealed must be a JSON value.'],
    ['a big integer', { sealed: 1n }, '.sealed must be a JSON value.'],
    ['a map', { sealed: new Map([[1, 2]]) }, '.sealed must be a JSON value.'],
    ['something within itself', { sealed: cyclic }, '.sealed must be a JSON value.'],
    ['what its method refuses', { picky: 'glue' }, '.picky must be wax.'],
    ['what its method chokes on', { broken: 'wax' }, '.broken must be what the method broken can read.'],
  ])('may not be %s', (_what, credentials, mistake) => {
    expect(parsedWith({ credentials }).issues).toEqual([expect.stringContaining(`credentials${mistake}`)])
  })

  it('is a copy, which the host cannot change afterwards', () => {
    const keys = ['wax']
    const { client } = parsedWith({ credentials: { sealed: { keys } } })
    keys.push('glue')
    expect(client.credentials['sealed']).toEqual({ keys: ['wax'] })
    expect(client.credentials['constructor']).toBeUndefined()
    expect(Object.isFrozen(client.credentials)).toBe(true)
  })

  const publicly = { client_type: 'public', client_secret_hashes: [] }
  it.each<[string, object, string, boolean, boolean]>([
    ['a public client without any', publicly, 'none', true, false],
    ['a public client with one', { ...publicly, credentials: { sealed: 1 } }, 'none', false, true],
    ['a client with one', { ...publicly, credentials: { sealed: 1 } }, 'sealed', true, true],
    ['a client with that of another method', { credentials: { sealed: 1 } }, 'picky', false, true],
    ['a client with a secret', {}, 'client_secret_basic', true, true],
    ['a client with a secret', {}, 'client_secret_post', true, true],
    ['a client with a secret', {}, 'client_secret_jwt', false, true],
    [
      'a client with another credential',
      { client_secret_hashes: [], credentials: { sealed: 1 } },
      'client_secret_basic',
      false,
      true,
    ],
    ['a client with a secret', {}, 'none', false, true],
  ])('%s (%j) has what %s needs: %s', (_who, bend, method, suits, has) => {
    const { client, issues } = parsedWith(bend)
    expect(issues).toEqual([])
    expect([hasCredentialFor(method, client), hasCredentials(client)]).toEqual([suits, has])
    const alone = parsedWith({ ...bend, token_endpoint_auth_method: method }).issues
    expect(alone.some((mistake) => /cannot be|must be one of/.test(mistake))).toBe(!suits)
  })
})
