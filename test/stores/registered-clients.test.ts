import { setImmediate as nextTurn } from 'node:timers/promises'
import { ParsedRegistrations, storedClients } from '../../lib/stores/registered-clients'
import { clientWith } from '../support/authorization/client'

describe('storedClients', () => {
  const client = clientWith()

  function watched(answer: () => Promise<unknown> = async () => client) {
    const asked: string[] = []
    const find = storedClients(
      {
        find: async (clientId) => {
          asked.push(clientId)
          await answer()
          return undefined
        },
      },
      new ParsedRegistrations(() => client),
      1,
    )
    return { asked, find }
  }

  it('looks a client up once for all who ask in one turn, and another one for itself', async () => {
    const { asked, find } = watched()
    await Promise.all([find('a'), find('a'), find('b'), find('a')])
    expect(asked).toEqual(['a', 'b'])
  })

  it('looks it up again in the next turn, though the first answer is still awaited', async () => {
    const { asked, find } = watched(() => nextTurn().then(() => nextTurn()))
    const first = find('a')
    await nextTurn()
    await Promise.all([first, find('a')])
    expect(asked).toEqual(['a', 'a'])
  })

  it('rejects for all that share a look-up', async () => {
    const { find } = watched(() => Promise.reject(new Error('Away.')))
    const outcomes = await Promise.allSettled([find('a'), find('a')])
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  })
})

describe('ParsedRegistrations', () => {
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
