import { memoryStore } from '../../lib/index'
import { checkStore, storeContract, storeRules } from '../../lib/paths/testing'
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

it('The contract of a store waits in real time without `advance`, and needs no second store', async () => {
  const rules = storeRules.filter(({ title }) => title.startsWith('write ends a record'))
  const { store } = opened()
  expect(rules).toHaveLength(4)
  await Promise.all(rules.map((rule) => rule.run({ store })))
})

describe('The contract of a store', () => {
  it('as a function gives a verdict for each rule in order, and closes what it opened, rule by rule', async () => {
    const acts: string[] = []
    const verdicts = await checkStore(() => {
      acts.push('open')
      return { store: memoryStore(), advance: () => {}, close: () => void acts.push('close') }
    })
    expect(verdicts.map(({ rule }) => rule)).toEqual(storeRules.map(({ title }) => title))
    const broken = verdicts.filter(({ problem }) => problem !== undefined).map(({ rule }) => rule)
    expect(broken).toContain('write with `seconds` stores a record until its end, and not after')
    expect(broken).not.toContain('write without `seconds` stores a record that stays')
    expect(acts).toEqual(storeRules.flatMap(() => ['open', 'close']))
  })

  it('takes a store that cannot be opened for one that keeps no rule, and says why', async () => {
    const trouble = new Error('no database')
    const verdicts = await checkStore(() => Promise.reject(trouble))
    expect(verdicts).toEqual(storeRules.map(({ title }) => ({ rule: title, problem: trouble })))
  })

  it('as tests of a runner is one group, with a test for each rule that has time enough, for Mocha from inside', async () => {
    const tests: [title: string, body: (this: unknown) => Promise<void>, milliseconds: number][] = []
    const groups: string[] = []
    storeContract('my store', () => opened(), {
      describe: (title, body) => {
        groups.push(title)
        body()
      },
      it: (title, body, milliseconds = 0) => void tests.push([title, body, milliseconds]),
    })
    expect(groups).toEqual(['my store'])
    expect(tests.map(([title]) => title)).toEqual(storeRules.map(({ title }) => title))
    const allowed: number[] = []
    await tests[0]?.[1].call({ timeout: (milliseconds: number) => allowed.push(milliseconds) })
    expect(new Set([...allowed, ...tests.map(([, , milliseconds]) => milliseconds)])).toEqual(
      new Set([90_000]),
    )
  })
})
