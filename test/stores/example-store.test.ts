import { mongoStore, type Rows } from '../../docs/examples/store'
import { storeContract } from '../../lib/paths/testing'
import { MongoStandIn } from '../support/stores/mongo-stand-in'
import { endOf, random22 } from '../support/stores/records'

/** Two stores on one database, whose clock differs from that of the process. */
function opened(heard: (call: () => unknown) => void = () => {}) {
  const clock = { ahead: -3_600_000 }
  const now = () => Date.now() + clock.ahead
  const [records, counts] = [new MongoStandIn(now), new MongoStandIn(now)]
  const between: Rows = {
    findOne: (filter) => records.findOne(filter),
    find: (filter) => records.find(filter),
    async findOneAndUpdate(...words) {
      heard(() => records.findOneAndUpdate(...words))
      return records.findOneAndUpdate(...words)
    },
  }
  return {
    clock,
    store: mongoStore(between, counts),
    other: mongoStore(records, counts),
    advance: (seconds: number) => void (clock.ahead += seconds * 1000),
  }
}

storeContract('The example of a store keeps the contract, over a stand-in of MongoDB:', () => opened())

describe('The example of a store', () => {
  it('stores nothing by a copy of a create that arrives after its caller has ceased to wait', async () => {
    const copies: (() => unknown)[] = []
    const { store, advance } = opened((call) => void copies.push(call))
    const terms = { version: random22(), seconds: 1 }
    expect(await store.write('authorization:a', '{}', terms)).toBe(true)
    advance(10)
    for (const copy of copies) await copy()
    expect(await store.read('authorization:a')).toBeUndefined()
    await store.remove('authorization:a')
    advance(200)
    for (const copy of copies.slice(0, -1)) await copy()
    expect(await store.read('authorization:a')).toBeUndefined()
  })

  it('creates at any time of its database, also if that steps forward or back', async () => {
    const { store, clock } = opened()
    for (const step of [0, 7_200_000, -86_400_000]) {
      clock.ahead += step
      expect(await store.write(`authorization:${step}`, '{}', { version: random22() })).toBe(true)
    }
  })

  it('passes on what its database says', async () => {
    const failing = () => Promise.reject(Object.assign(new Error('not primary'), { code: 10_107 }))
    const rows: Rows = { findOne: failing, findOneAndUpdate: failing, find: () => ({ toArray: failing }) }
    const store = mongoStore(rows, rows)
    const version = random22()
    const calls = [
      store.read('a'),
      store.write('a', '{}', { version }),
      store.write('a', '{}', { version, expected: version }),
      store.remove('a'),
      store.add('a', 1, 60),
      store.list('client'),
    ]
    for (const call of calls) expect(await endOf(call)).toBe('Error: not primary')
  })
})
