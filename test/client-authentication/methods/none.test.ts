import { none } from '../../../lib/client-authentication/built-in-methods'
import { clientWith } from '../../support/authorization/client'
import { basic } from '../../support/rooms/credentials'
import { parametersOf } from '../../support/rooms/parameters'
import { freely } from '../../support/rooms/secrets'

const read = (authorization: readonly string[], body: Readonly<Record<string, string>> = {}) =>
  none.read({ authorization, body: parametersOf(body), query: parametersOf(), certificate: undefined })

describe('none', () => {
  it.each([
    ['client_id in the body', [], { client_id: 'phone' }],
    ['Basic without a secret', [basic('phone', '')], {}],
    ['Basic, before client_id', [basic('phone', '')], { client_id: 'other' }],
  ])('reads the name of a client from %s', (_where, authorization, body) => {
    expect(read(authorization, body)).toEqual({ clientId: 'phone', credential: '' })
  })

  it('reads nothing where no client is named', () => {
    expect(read([])).toBeUndefined()
    expect(read(['Bearer token'])).toBeUndefined()
  })

  it.each([
    [
      'a public client without credentials',
      clientWith({ client_type: 'public', client_secret_hashes: [] }),
      true,
    ],
    ['a public client with credentials', clientWith({ client_type: 'public' }), false],
    ['a confidential client', clientWith(), false],
    ['an unknown client', undefined, false],
  ])('holds for %s: %s', async (_who, client, proven) => {
    await expect(none.verify(client, '', freely)).resolves.toBe(proven)
  })
})
