import type { Active, Authorization } from '../../lib/authorization/authorization'
import { indexOwner } from '../../lib/authorization/authorization-index'
import { issuerDigest } from '../../lib/authorization/issuer'
import { selfRegisteredShare } from '../../lib/authorization/self-registered-share'
import { MemoryIndex } from '../../lib/stores/memory-index'
import { Clock } from '../support/flows/clock'

const day = 24 * 3600
const own = issuerDigest('https://a.example')
const idOf = (number: number) => String(number).padStart(22, '-')

function shareOf(most: number, bend: Partial<Parameters<typeof selfRegisteredShare>[0]> = {}) {
  const clock = new Clock()
  const index = new MemoryIndex(1000, clock.read)
  const records = new Map<string, Authorization>()
  let reads = 0
  const now = () => Math.floor(clock.read() / 1000)
  const requireRoom = selfRegisteredShare({
    index,
    store: {
      find: async (id) => {
        reads += 1
        const authorization = records.get(id)
        return authorization && { authorization, revision: 'r' }
      },
    },
    now,
    most,
    clientLifetime: 90 * day,
    isSelfRegistered: (clientId) => clientId.startsWith('dynamic_'),
    isOfHost: async () => false,
    ...bend,
  })
  let ids = 0
  const enter = async (clientId: string, isLive: boolean) => {
    const id = idOf((ids += 1))
    await index.add(
      indexOwner(own, 'alice'),
      { authorizationId: id, clientId },
      { seconds: 60 * day, age: 0 },
    )
    if (isLive) records.set(id, recordOf(id, clientId, now() + 30 * day))
    return id
  }
  /** The owner approves a client, whose record is saved then. */
  const approve = async (clientId: string) => {
    await requireRoom({ issuerDigest: own, subject: 'alice', clientId })
    return enter(clientId, true)
  }
  return { clock, index, records, approve, enter, reads: () => reads }
}

const recordOf = (id: string, clientId: string, expiresAt: number): Active => ({
  state: 'active',
  id,
  issuerDigest: own,
  clientId,
  subject: 'alice',
  scope: [],
  tokenType: 'bearer',
  extensionData: {},
  consentToken: undefined,
  spentCode: undefined,
  accessTokens: [],
  refreshToken: { digest: 'd', generation: 0, tagKey: 'k', expiresAt, rotation: undefined },
  usedUntil: undefined,
})

const refusal = { reason: 'self_registered_share_full', retryAfter: 3600 }

describe('selfRegisteredShare', () => {
  it('reads no record while the share has room', async () => {
    const { approve, reads } = shareOf(3)
    for (const name of ['a', 'b', 'c', 'a']) await approve(`dynamic_${name}`)
    expect(reads()).toBe(0)
    await expect(approve('dynamic_d')).rejects.toMatchObject(refusal)
    await approve('dynamic_b')
  })

  it('does not count a record that is gone, that has expired, or that another owner has', async () => {
    const { approve, enter, records, clock } = shareOf(1)
    const gone = await approve('dynamic_gone')
    records.delete(gone)
    records.set(await enter('dynamic_bobs', false), {
      ...recordOf('x', 'dynamic_bobs', Infinity),
      subject: 'bob',
    })
    await approve('dynamic_expires')
    await expect(approve('dynamic_next')).rejects.toMatchObject(refusal)
    clock.advance(31 * day)
    await approve('dynamic_next')
  })

  it('counts what an owner lets in for the lifetime of a client, also if it is removed', async () => {
    const { approve, records, clock } = shareOf(1)
    for (let name = 0; name < 10; name++) records.delete(await approve(`dynamic_${name}`))
    await expect(approve('dynamic_10')).rejects.toMatchObject(refusal)
    // A client that was let in before adds nothing to its store.
    await approve('dynamic_3')
    clock.advance(89 * day)
    await expect(approve('dynamic_10')).rejects.toMatchObject(refusal)
    clock.advance(2 * day)
    await approve('dynamic_10')
  })

  it('counts no client that the host has registered, neither as one more nor among the others', async () => {
    const { approve, index, records } = shareOf(1)
    for (const name of ['web', 'phone', 'tv']) await approve(name)
    await approve('dynamic_a')
    await approve('desk')
    await expect(approve('dynamic_b')).rejects.toMatchObject(refusal)
    records.clear()
    expect(await index.list(indexOwner(own, 'alice'))).toHaveLength(5)
    for (let name = 0; name < 9; name++) records.delete(await approve(`dynamic_${name}`))
    await expect(approve('dynamic_10')).rejects.toMatchObject(refusal)
  })

  it('reads no more records of others than it takes to see that the share is full', async () => {
    const { approve, enter, reads } = shareOf(1)
    for (let count = 0; count < 100; count++) await enter(`dynamic_${count}`, true)
    await expect(approve('dynamic_next')).rejects.toMatchObject(refusal)
    expect(reads()).toBeLessThanOrEqual(16)
  })

  it('no owner can write to what another has let in, whatever its subject', async () => {
    const { approve, index, records } = shareOf(1)
    records.delete(await approve('dynamic_a'))
    const owners = ['alice', own, `${own}alice`].map((subject) => indexOwner(own, subject))
    const entries = await Promise.all(owners.map((owner) => index.list(owner)))
    expect(entries.map(({ length }) => length)).toEqual([1, 0, 0])
  })

  it('bounds its reads, and lets an owner keep a client that it may use', async () => {
    const { approve, enter, reads } = shareOf(1)
    await approve('dynamic_live')
    for (let count = 0; count < 2000; count++) await enter('dynamic_often', false)
    await approve('dynamic_often')
    expect(reads()).toBeLessThan(1100)
    // Too many to read: the client counts.
    await expect(approve('dynamic_next')).rejects.toMatchObject(refusal)
    expect(reads()).toBeLessThan(2300)
  })

  it('asks whether the host has registered the client only before a refusal', async () => {
    const asked: string[] = []
    const isOfHost = async (clientId: string) => asked.push(clientId) > 1
    const { approve } = shareOf(1, { isOfHost })
    await approve('dynamic_a')
    await expect(approve('dynamic_b')).rejects.toMatchObject(refusal)
    await approve('dynamic_c')
    expect(asked).toEqual(['dynamic_b', 'dynamic_c'])
  })
})
