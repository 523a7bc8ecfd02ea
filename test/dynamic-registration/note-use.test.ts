import { memoryStore } from '../../lib/index'
import type { Authorization } from '../../lib/authorization/authorization'
import { withoutTokens } from '../../lib/authorization/issue'
import { confidentialClientId } from '../../lib/dynamic-registration/client-id'
import { notingUse } from '../../lib/dynamic-registration/note-use'
import type { AuthorizationStore } from '../../lib/stores/authorization-store'
import { Clock } from '../support/flows/clock'

const day = 24 * 3600
const [one, other] = [confidentialClientId(), confidentialClientId()]

const active = (clientId: string): Authorization => ({
  ...withoutTokens(
    {
      issuerDigest: 'i'.repeat(16),
      clientId,
      subject: undefined,
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
  handle: 'h'.repeat(43),
  expiresAt: Math.ceil(Date.now() / 1000) + 600,
  request: {
    redirectUri: 'https://a.example/',
    redirectUriSent: true,
    requestState: undefined,
    responseType: 'code',
  },
})

function open(extend: () => Promise<void> = async () => {}, base: AuthorizationStore = memoryStore()) {
  const clock = new Clock()
  const notes: (readonly [string, number, number])[] = []
  const store = {
    find: async () => undefined,
    add: async () => undefined,
    update: async () => undefined,
    remove: async () => {},
    extend: async (...note: [string, number, number]) => {
      notes.push(note)
      return extend()
    },
  }
  const noting = { store, lifetime: 90 * day, requestLifetime: 660, clock: clock.read }
  const decorated = notingUse(base, noting)
  let writes = 0
  const write = (authorization: Authorization) =>
    decorated.save({ ...authorization, id: `${writes}` }, `r${writes++}`)
  return { clock, notes, write }
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
