import { ParsedRegistrations } from '../../lib/stores/registered-clients'
import { clientWith } from '../support/authorization/client'

const sample = () => ({
  client_id: 'a',
  disabled: false,
  client_secret_hashes: ['x', 'y'],
  credentials: { private_key_jwt: { keys: [{ kty: 'EC', x: '1', ops: [] as string[] }] } },
  description: undefined as string | undefined,
})
type Sample = ReturnType<typeof sample>

function watched() {
  const parse = jest.fn(() => clientWith())
  return { parse, registrations: new ParsedRegistrations(parse) }
}

describe('ParsedRegistrations', () => {
  it('parses an object once while it says the same, and another object for itself', () => {
    const { parse, registrations } = watched()
    const [one, other] = [sample(), sample()]
    const client = registrations.clientOf(one)
    one.client_secret_hashes = [...one.client_secret_hashes]
    expect(registrations.clientOf(one)).toBe(client)
    expect(registrations.clientOf(other)).not.toBe(client)
    expect(parse).toHaveBeenCalledTimes(2)
  })

  it.each<[string, (registration: Sample) => unknown]>([
    ['a flag', (one) => (one.disabled = true)],
    ['a text of a list', (one) => (one.client_secret_hashes[0] = 'z')],
    ['a text that leaves a list', (one) => one.client_secret_hashes.pop()],
    ['a text that joins a list', (one) => one.client_secret_hashes.push('z')],
    ['a list that becomes a text', (one) => Object.assign(one, { client_secret_hashes: 'x' })],
    [
      'a list that becomes an object',
      (one) => Object.assign(one, { client_secret_hashes: { 0: 'x', 1: 'y' } }),
    ],
    ['an object that becomes a list', (one) => Object.assign(one, { credentials: [] })],
    ['an object that becomes null', (one) => Object.assign(one, { credentials: null })],
    ['a member within members', (one) => (one.credentials.private_key_jwt.keys[0]!.x = '2')],
    ['a list within a list', (one) => one.credentials.private_key_jwt.keys[0]!.ops.push('sign')],
    ['a new member', (one) => Object.assign(one, { scope: 'b' })],
    ['a member that goes', (one) => Reflect.deleteProperty(one, 'disabled')],
    [
      'a member under another name',
      (one) => {
        Reflect.deleteProperty(one, 'description')
        Object.assign(one, { tos_uri: undefined })
      },
    ],
  ])('parses it again after a change of %s', (_what, change) => {
    const { parse, registrations } = watched()
    const one = sample()
    registrations.clientOf(one)
    change(one)
    registrations.clientOf(one)
    registrations.clientOf(one)
    expect(parse).toHaveBeenCalledTimes(2)
  })

  it('keeps nothing of what cannot be parsed', () => {
    const { parse, registrations } = watched()
    const one = sample()
    const client = registrations.clientOf(one)
    one.disabled = true
    parse.mockImplementation(() => {
      throw new Error('broken')
    })
    for (let round = 0; round < 2; round++) expect(() => registrations.clientOf(one)).toThrow('broken')
    one.disabled = false
    expect(registrations.clientOf(one)).toBe(client)
  })
})
