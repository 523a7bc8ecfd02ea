import { memoryStore, type Store } from '../../lib/index'
import { checkStore, storeContract, storeRules } from '../../lib/testing/index'
import { seenByContract } from '../campaign/planted/stores'
import { endOf } from '../support/stores/records'

/** A store in memory, in a time that passes when it is told to. */
function inMemory(plant: (sound: Store) => Store = (sound) => sound) {
  let ahead = 0
  const store = plant(memoryStore({ clock: () => Date.now() + ahead }))
  return { store, advance: (seconds: number) => void (ahead += seconds * 1000) }
}

/** The rules that a store does not keep, of those that speak of this. */
async function brokenRules(about: string, open: typeof inMemory, plant?: (sound: Store) => Store) {
  const broken: string[] = []
  for (const rule of storeRules.filter(({ title }) => title.includes(about)))
    if ((await endOf(rule.run(open(plant)))) !== undefined) broken.push(rule.title)
  return broken
}

/** What finds each fault that the campaign plants. */
const foundBy: Readonly<Record<string, string>> = {
  'check, then act': 'one of 50 parallel replacements',
  'a save that takes any expected revision': 'a version that never existed',
  'a save that brings a removed record back': 'is refused after a removal',
  'a save that does not know its own revision': 'resolves to true when it is repeated',
  'a save that loses one of two updates': 'one of 50 parallel replacements',
  'a find that serves stale copies': 'replaces the record that has this version',
  'a remove that does nothing': 'remove removes',
  'a remove that comes late': 'remove removes',
  'a create that arrives once more, after the removal': 'remove removes',
  'a remove that takes no repetition': 'remove may be repeated',
  'a confirmation of absence that does not look': 'resolves to false where a record is',
  'an expiry that comes too early': 'until its end',
  'an expiry that never comes': 'until its end',
}

describe('The contract of a store finds', () => {
  it.each(Object.entries(seenByContract))('%s', async (name, plant) => {
    const about = foundBy[name] ?? 'no rule'
    expect(await brokenRules(about, inMemory, plant)).not.toEqual([])
    expect(await brokenRules(about, inMemory)).toEqual([])
  })
})

describe('The contract', () => {
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
    storeContract('my store', () => inMemory(), {
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
