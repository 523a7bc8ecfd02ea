import { indexing, indexName, indexOwner } from '../../lib/authorization/authorization-index'
import type { Authorization } from '../../lib/authorization/authorization'
import { issuerDigest } from '../../lib/authorization/issuer'
import { memoryStore } from '../../lib/stores/memory-store'
import { activeRecord, approvedRecord, random22, refreshed } from '../../lib/testing/example-records'
import { Clock } from '../support/flows/clock'

const own = issuerDigest('https://a.example')
const owner = indexOwner(own, 'alice')
const lifetimes = {
  authorizationRequest: 600,
  authorizationCode: 60,
  accessToken: 3600,
  refreshToken: 30 * 24 * 3600,
  refreshTokenGrace: 30,
}

function open() {
  const clock = new Clock()
  const store = memoryStore({ clock: clock.read })
  const asked: string[] = []
  /** What each addition to the index meets on its way. */
  const onTheWay: (() => Promise<void>)[] = []
  const indexed = indexing(store, {
    index: {
      add: async (...given) => {
        await onTheWay.shift()?.()
        return store.index.add(...given)
      },
      list: (...given) => store.index.list(...given),
      remove: (...given) => store.index.remove(...given),
      mark: (...given) => store.index.mark(...given),
      revokeClient: (...given) => store.index.revokeClient(...given),
      revokedBefore: (...given) => store.index.revokedBefore(...given),
    },
    now: () => clock.read() / 1000,
    patience: 5,
    lifetimes,
    leastSeconds: 0,
    requireRoom: async ({ clientId }) => void asked.push(clientId),
  })
  const now = () => Math.floor(clock.read() / 1000)
  const save = (authorization: Authorization) => indexed.save(authorization, random22())
  return { clock, store, indexed, asked, onTheWay, now, save }
}

const ofAlice = { issuerDigest: own, subject: 'alice' }

describe('Room for a new client', () => {
  it('is asked for at an approval, and at a grant without a code', async () => {
    const { asked, now, save } = open()
    await save(approvedRecord(now() + 60, { ...ofAlice, clientId: 'with-code' }))
    await save(activeRecord(now() + 60, { ...ofAlice, clientId: 'without' }))
    expect(asked).toEqual(['with-code', 'without'])
  })

  it('is not asked for by what an owner approved before the index came into use', async () => {
    const { asked, now, save } = open()
    await save(activeRecord(now() + 60, { ...ofAlice, spentCode: 'digest' }))
    await save(refreshed(now() + 60, { ...ofAlice, spentCode: undefined }))
    expect(asked).toEqual([])
  })

  it('is not asked for when an entry gets a later end', async () => {
    const { asked, now, save, store } = open()
    const extensionData = { [indexName]: now() + 10 }
    await save(approvedRecord(now() + 60, { ...ofAlice, extensionData }))
    expect(await store.index.list(owner)).toHaveLength(1)
    expect(asked).toEqual([])
  })
})

describe('The mark of an owner', () => {
  it.each([
    ['was read before it', (now: number) => now - 3],
    ['was read at an unknown time, as long ago as a call may take', () => undefined],
  ])('refuses an approval whose owner %s', async (_when, grantedAt) => {
    const { clock, store, now, save } = open()
    await store.index.mark(owner, 60)
    clock.advance(2.5)
    const approval = approvedRecord(now() + 60, { ...ofAlice, grantedAt: grantedAt(now()) })
    await expect(save(approval)).rejects.toMatchObject({ reason: 'authorizations_revoked' })
  })
})

test('An entry lives as long as its record, also if the record outlives twice the longest lifetime', async () => {
  const { clock, store, now, save } = open()
  const year = 365 * 24 * 3600
  await save(activeRecord(now() + year, ofAlice))
  clock.advance(year - 1)
  expect(await store.index.list(owner)).toHaveLength(1)
})

describe('An approval whose owner revokes all while its entry is on the way', () => {
  /** Each addition takes so many seconds, and the owner revokes all in the middle of the first one. */
  function delayed(seconds: number, additions: number) {
    const { clock, store, indexed, onTheWay, now } = open()
    let moment = 0
    jest.spyOn(performance, 'now').mockImplementation(() => moment)
    const pass = (half: number) => {
      clock.advance(half)
      moment += half * 1000
    }
    for (let addition = 0; addition < additions; addition++)
      onTheWay.push(async () => {
        pass(seconds / 2)
        if (addition === 0) await store.index.mark(owner, 60)
        pass(seconds / 2)
      })
    const approval = approvedRecord(now() + 60, { ...ofAlice, grantedAt: now() })
    const saved = indexed.save(approval, random22())
    return { saved, found: () => store.find(approval.id) }
  }
  afterEach(() => jest.restoreAllMocks())

  it.each([
    ['as long as usual', 0.9, 1],
    ['long', 3, 1],
    ['long twice', 3, 2],
  ])('is refused if the entry takes %s', async (_howLong, seconds, additions) => {
    const { saved, found } = delayed(seconds, additions)
    await expect(saved).rejects.toMatchObject({ reason: 'authorizations_revoked' })
    expect(await found()).toBeUndefined()
  })
})
