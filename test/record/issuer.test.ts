import { commit } from '../../lib/authorization/commit'
import { countersOfIssuer, issuerDigest, storeOfIssuer } from '../../lib/authorization/issuer'
import { secureRandom } from '../../lib/protocol/credential'
import { memoryCounters } from '../../lib/stores/memory-counters'
import { memoryStore } from '../../lib/stores/memory-store'
import { activeRecord, inSeconds, random22 } from '../../lib/testing/example-records'

const [own, others] = ['https://own.example', 'https://other.example'].map(issuerDigest)

/** A store that waits for more than its database, with a record of each issuer. */
async function shared() {
  const memory = memoryStore()
  const records = [own, others].map((digest = '') => activeRecord(inSeconds(600), { issuerDigest: digest }))
  for (const record of records) await memory.save(record, random22())
  const waiting = {
    find: memory.find.bind(memory),
    save: memory.save.bind(memory),
    remove: jest.fn(memory.remove.bind(memory)),
    getCached: () => undefined,
    confirmAbsent: jest.fn(async (id: string) => (await memory.find(id)) === undefined),
  }
  const [mine = '', theirs = ''] = records.map(({ id }) => id)
  return { memory, waiting, store: storeOfIssuer(waiting, own ?? ''), mine, theirs }
}

describe('storeOfIssuer', () => {
  it('confirms the absence of what another issuer has, and not of what is its own', async () => {
    const { store, mine, theirs } = await shared()
    expect(await store.confirmAbsent?.(theirs)).toBe(true)
    expect(await store.confirmAbsent?.(mine)).toBe(false)
    expect(await store.confirmAbsent?.(random22())).toBe(true)
    expect(storeOfIssuer(memoryStore(), own ?? '').confirmAbsent).toBeUndefined()
  })

  it('lets no transition remove what another issuer has, though it removes whatever it finds', async () => {
    const { memory, store, mine, theirs } = await shared()
    const removing = (id: string) =>
      commit(store, id, () => ({ action: 'delete', outcome: 'removed' }), secureRandom)
    expect([await removing(theirs), await removing(mine)]).toEqual(['removed', 'removed'])
    expect(await memory.find(theirs)).toBeDefined()
    expect(await memory.find(mine)).toBeUndefined()
  })

  it('lets no record be recalled that another issuer has', async () => {
    const { memory, waiting, theirs, mine } = await shared()
    const known = { [theirs]: await memory.find(theirs), [mine]: await memory.find(mine) }
    const store = storeOfIssuer({ ...waiting, getCached: (id) => known[id] }, own ?? '')
    expect(store.getCached?.(theirs)).toBeUndefined()
    expect(store.getCached?.(mine)).toBe(known[mine])
  })
})

test('countersOfIssuer keeps single uses apart, and counts failed attempts for all issuers together', async () => {
  const counters = memoryCounters()
  const [one, other] = [own, others].map((digest = '') => countersOfIssuer(counters, digest))
  expect([await one?.useOnce('nonce', 60), await one?.useOnce('nonce', 60)]).toEqual([true, false])
  expect(await other?.useOnce('nonce', 60)).toBe(true)
  await one?.add('failures', 1, 60)
  expect(await other?.add('failures', 1, 60)).toMatchObject({ count: 2 })
})
