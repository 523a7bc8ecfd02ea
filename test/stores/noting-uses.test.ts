import { memoryStore } from '../../lib/index'
import type { Authorization } from '../../lib/authorization/authorization'
import { withoutTokens } from '../../lib/authorization/issue'
import { confidentialClientId } from '../../lib/clients/dynamic-registration/client-id'
import { ClientUses } from '../../lib/clients/dynamic-registration/client-uses'
import type { AuthorizationStore } from '../../lib/authorization/store'
import { noteForHost, type NoteUse, notingUses } from '../../lib/stores/noting-uses'
import { clientWith } from '../support/authorization/client'
import { Clock } from '../support/flows/clock'

const day = 24 * 3600
const [one, other] = [confidentialClientId(), confidentialClientId()]

const active = (clientId: string, subject?: string): Authorization => ({
  ...withoutTokens(
    {
      issuerDigest: 'i'.repeat(16),
      clientId,
      subject,
      scope: ['a'],
      tokenType: 'bearer',
      extensionData: {},
    },
    'a'.repeat(22),
  ),
  usedUntil: Math.ceil(Date.now() / 1000) + 1000 * day,
})

const pending = (clientId: string): Authorization => ({
  ...active(clientId),
  state: 'pending',
  subject: 'alice',
  consentToken: 'h'.repeat(43),
  expiresAt: Math.ceil(Date.now() / 1000) + 600,
  request: {
    redirectUri: 'https://a.example/',
    redirectUriSent: true,
    requestState: undefined,
    responseType: 'code',
  },
})

function open(
  extend: () => Promise<void> = async () => {},
  base: AuthorizationStore = memoryStore(),
  others: readonly NoteUse[] = [],
) {
  const clock = new Clock()
  const notes: (readonly [string, number, number])[] = []
  const store = {
    extend: async (...note: [string, number, number]) => {
      notes.push(note)
      return extend()
    },
  }
  const uses = new ClientUses({ store, lifetime: 90 * day, requestLifetime: 660, clock: clock.read })
  const decorated = notingUses(base, [...others, uses.note])
  let writes = 0
  const write = (authorization: Authorization) =>
    decorated.save({ ...authorization, id: `${writes}` }, `r${writes++}`)
  const login = (client_id: string, selfRegistered = true) =>
    uses.holdForLogin({ ...clientWith({ client_id }), ...(selfRegistered ? { selfRegistered } : {}) })
  return { clock, notes, uses, write, login }
}

describe('the use of a client that registered itself', () => {
  it('is noted with a code or token, once a day for each client', async () => {
    const { clock, notes, write } = open()
    await Promise.all([write(active(one)), write(active(one)), write(active(other))])
    clock.advance(day - 1)
    await write(active(one))
    expect(notes).toEqual([
      [one, 90 * day, 89 * day],
      [other, 90 * day, 89 * day],
    ])
    clock.advance(1)
    await write(active(one))
    expect(notes).toHaveLength(3)
  })

  it('is noted again within a day although the clock was set back meanwhile', async () => {
    const { clock, notes, write } = open()
    await write(active(one))
    clock.advance(-10 * 3600)
    await write(active(one))
    clock.advance(day - 1)
    await write(active(one))
    expect(notes).toHaveLength(1)
    clock.advance(1)
    await write(active(one))
    expect(notes).toHaveLength(2)
  })

  it('is noted again, as a request is, once the client has registered again', async () => {
    const { notes, uses, write } = open()
    uses.found(one, 1)
    await write(active(one))
    uses.found(one, 1)
    await write(active(one))
    expect(notes).toEqual([[one, 90 * day, 89 * day]])
    uses.found(one, 2)
    await write(pending(one))
    await write(active(one))
    expect(notes.slice(1)).toEqual([
      [one, 660, 660],
      [one, 90 * day, 89 * day],
    ])
  })

  it('keeps a client for a request that waits, if the last note is older than a day', async () => {
    const { clock, notes, write } = open()
    await write(active(one))
    clock.advance(day)
    await write(pending(one))
    expect(notes[1]).toEqual([one, 660, 660])
  })

  it('is noted in the same turn as the write, so that one packet carries both', async () => {
    const { notes, write } = open()
    const written = write(active(one))
    expect(notes).toHaveLength(1)
    await written
  })

  it('keeps a client for a request that waits, unless a use was noted', async () => {
    const { notes, write } = open()
    await write(pending(one))
    expect(notes).toEqual([[one, 660, 660]])
    await write(active(one))
    await write(pending(one))
    expect(notes).toHaveLength(2)
  })

  it('is not noted for other clients', async () => {
    const { notes, write } = open()
    await write(active('photo-print'))
    await write(active('dynamic_short'))
    expect(notes).toEqual([])
  })

  it('is noted again with the next code or token if the store has failed, and fails no request', async () => {
    let failing = true
    const { notes, write } = open(async () => {
      if (failing) throw new Error('down')
    })
    expect([await write(active(one)), await write(pending(other))]).toEqual([true, true])
    failing = false
    expect(await write(active(one))).toBe(true)
    await write(active(one))
    expect(notes.filter(([clientId]) => clientId === one)).toHaveLength(2)
  })

  it('leaves the failure of the write as it is', async () => {
    const trouble = new Error('full')
    const base = {
      ...memoryStore(),
      find: async () => undefined,
      remove: async () => {},
      save: () => Promise.reject(trouble),
    }
    await expect(open(undefined, base).write(active(one))).rejects.toBe(trouble)
  })
})

describe('a login for a client that registered itself', () => {
  it('holds the client once, and again once it has registered again', async () => {
    const { notes, uses, login } = open()
    uses.found(one, 1)
    for (let round = 0; round < 3; round++) await login(one)
    await login(other)
    expect(notes).toEqual([
      [one, 600, 0],
      [other, 600, 0],
    ])
    uses.found(one, 2)
    await login(one)
    expect(notes).toHaveLength(3)
  })

  it('holds no client that is in use, and none of the host', async () => {
    const { notes, write, login } = open()
    await write(active(one))
    await login(one)
    await login(other, false)
    expect(notes).toEqual([[one, 90 * day, 89 * day]])
  })

  it('is not refused when the store fails', async () => {
    const { login } = open(() => Promise.reject(new Error('down')))
    await expect(login(one)).resolves.toBeUndefined()
  })
})

describe('the use of a client that the host is notified of', () => {
  test.each<[string, Authorization, string[]]>([
    ['a token of a resource owner', active('printer', 'alice'), ['printer']],
    ['a token of the client itself', active('printer'), []],
    ['a request that waits for its owner', pending('printer'), []],
  ])('reports the expected clients for %s', async (_, authorization, expected) => {
    const notified: string[] = []
    const note = noteForHost(async (clientId) => void notified.push(clientId))
    const store = notingUses(memoryStore(), [note])
    await expect(store.save(authorization, 'r')).resolves.toBe(true)
    expect(notified).toEqual(expected)
    const { id, state } = authorization
    await expect(store.find(id)).resolves.toMatchObject({ authorization: { id, state } })
  })

  it('fails no save, and the save says itself whether it succeeds', async () => {
    const note = noteForHost(() => Promise.reject(new Error('The cache is gone.')))
    const store = notingUses(memoryStore(), [note])
    await expect(store.save(active('printer', 'alice'), 'r')).resolves.toBe(true)
    await expect(store.save(active('printer', 'alice'), 's')).resolves.toBe(false)
  })

  it('is noted beside the note of a client that registered itself', async () => {
    const notified: string[] = []
    const { notes, write } = open(undefined, undefined, [noteForHost(async (id) => void notified.push(id))])
    await write(active(one, 'alice'))
    expect([notified, notes]).toEqual([[one], [[one, 90 * day, 89 * day]]])
  })
})
