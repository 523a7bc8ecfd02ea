import { checkStore, storeContract, storeRules } from '../../lib/testing/index'
import { endOf } from '../support/stores/records'
import { faults, type Plant } from '../support/stores/planted-faults'
import { PlainDatabase, plainStore } from '../support/stores/plain-store'

/** Two stores on one database, whose time passes when it is told to. */
function opened(plant: Plant = () => ({})) {
  const database = new PlainDatabase()
  const open = () => {
    const sound = plainStore(database)
    return { ...sound, ...plant(sound, database) }
  }
  return {
    store: open(),
    other: open(),
    advance: (seconds: number) => void (database.ahead += seconds * 1000),
  }
}

storeContract('A store of a plain map keeps the contract:', () => opened())

describe('The contract of a store finds', () => {
  it.each(faults)('%s', async (_fault, title, plant) => {
    const rules = storeRules.filter((rule) => rule.title.includes(title))
    const broken = await Promise.all(rules.map(async (rule) => endOf(rule.run(opened(plant)))))
    expect(broken.filter((problem) => problem !== undefined)).not.toEqual([])
  })
})

it('The contract of a store, as a function, gives a verdict for each rule, and takes one database for all', async () => {
  const one = opened()
  const verdicts = await checkStore(() => one)
  expect(verdicts).toEqual(storeRules.map(({ title }) => ({ rule: title, problem: undefined })))
})

it('The contract of a store waits in real time without `advance`, and needs no second store', async () => {
  const rules = storeRules.filter(({ title }) => title.startsWith('write ends a record'))
  const { store } = opened()
  expect(rules).toHaveLength(4)
  await Promise.all(rules.map((rule) => rule.run({ store })))
})
