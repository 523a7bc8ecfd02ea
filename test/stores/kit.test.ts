import { memoryClients, memoryStore, memoryDynamicClients, type Storage } from '../../lib/index'
import {
  authorizationIndexRules,
  authorizationStoreContract,
  authorizationStoreRules,
  checkAuthorizationStore,
  checkCounters,
  checkDynamicClientStore,
  clientRegistryRules,
  consentStoreRules,
  countersRules,
  dynamicClientStoreRules,
  type ContractRule,
} from '../../lib/testing/index'
import { seenByContract } from '../campaign/planted/stores'
import { authorizationsOf, countersOf, endOf } from '../support/stores/records'

/** A store in memory, in a time that passes when it is told to. */
function inMemory(plant: (sound: Storage) => Storage = (sound) => sound) {
  let ahead = 0
  const clock = () => Date.now() + ahead
  const sound = memoryStore({ clock })
  const { index, consents } = sound
  return {
    counters: countersOf(sound),
    index,
    consents,
    store: authorizationsOf(plant(sound), clock),
    advance: (seconds: number) => void (ahead += seconds * 1000),
  }
}

/** The rules that a store does not keep, of those that speak of this. */
async function brokenRules<Subject>(
  rules: readonly ContractRule<Subject>[],
  about: string,
  open: () => Subject,
): Promise<readonly string[]> {
  const broken: string[] = []
  for (const rule of rules.filter(({ title }) => title.includes(about)))
    if ((await endOf(rule.run(open()))) !== undefined) broken.push(rule.title)
  return broken
}

/** What finds each fault of broken-stores.ts. */
const foundBy: Readonly<Record<string, string>> = {
  'check, then act': 'of 50 parallel saves on one revision exactly one succeeds',
  'a save that takes any expected revision': 'a revision that never existed',
  'a save that brings a removed record back': 'is refused where the record was removed',
  'a save that does not know its own revision': 'resolves to true when it is repeated',
  'a save that loses one of two updates': 'of 50 parallel saves on one revision exactly one succeeds',
  'a find that serves stale copies': 'with an expected revision replaces the record',
  'a remove that does nothing': 'remove: removes the record',
  'a remove that comes late': 'remove: removes the record',
  'a create that arrives once more, after the removal': 'remove: removes the record',
  'a remove that takes no repetition': 'remove: may be repeated',
  'a confirmation of absence that does not look': 'resolves to false where there is a record',
  'an expiry that comes too early': 'until its last credential expires',
  'an expiry that never comes': 'until its last credential expires',
}

describe('The contract of a store finds', () => {
  it.each(Object.entries(seenByContract))('%s', async (name, plant) => {
    const about = foundBy[name] ?? 'no rule'
    expect(await brokenRules(authorizationStoreRules, about, () => inMemory(plant))).not.toEqual([])
    expect(await brokenRules(authorizationStoreRules, about, () => inMemory())).toEqual([])
  })

  it.each<[string, () => Promise<readonly string[]>, readonly string[]]>([
    [
      'counters that read and then write',
      () =>
        brokenRules(countersRules, 'useOnce accepts', () => {
          const { counters } = inMemory()
          const spent = new Set<string>()
          const useOnce = async (key: string) => {
            const isFirst = !spent.has(key)
            await Promise.resolve()
            spent.add(key)
            return isFirst
          }
          return { counters: but(counters, { useOnce }) }
        }),
      ['useOnce accepts a key in one of 50 parallel calls'],
    ],
    [
      'a registry that loses changes',
      () =>
        brokenRules(clientRegistryRules, 'update', () => {
          const sound = memoryClients()
          const update: typeof sound.update = async (clientId, change) => {
            const current = await sound.find(clientId)
            if (current === undefined) return undefined
            const next = change(current)
            return sound.update(clientId, () => next)
          }
          return { clients: but(sound, { update }) }
        }),
      ['update loses none of 50 parallel changes'],
    ],
    [
      'an index whose marks refuse nothing',
      () =>
        brokenRules(authorizationIndexRules, 'mark refuses', () => {
          const { index } = inMemory()
          return { index: but(index, { mark: async () => {} }) }
        }),
      ['mark refuses an entry whose owner was read before, and leaves the entries'],
    ],
    [
      'consents that come back after they were taken back',
      () =>
        brokenRules(consentStoreRules, 'remember refuses a decision whose owner was read before', () => {
          const { consents } = inMemory()
          const remember: typeof consents.remember = (owner, client, text, { seconds }) =>
            consents.remember(owner, client, text, { seconds, age: 0 }).then(() => true)
          return { consents: but(consents, { remember }) }
        }),
      ['remember refuses a decision whose owner was read before forget'],
    ],
    [
      'a store of clients whose removals only pretend',
      () =>
        brokenRules(dynamicClientStoreRules, 'remove removes', () => ({
          clients: but(memoryDynamicClients(), { remove: async () => {} }),
        })),
      ['remove removes a client, and no other'],
    ],
  ])('%s', async (_what, rules, expected) => {
    expect(await rules()).toEqual(expected)
  })
})

/** Only what is broken differs. */
function but<T extends object>(sound: T, broken: Partial<T>): T {
  return new Proxy(sound, {
    get: (_target, name) => {
      const value: unknown = Reflect.get(name in broken ? broken : sound, name)
      return typeof value === 'function' ? value.bind(sound) : value
    },
  })
}

describe('The contract', () => {
  it('as a function gives a verdict for each rule in order, and closes what it opened, rule by rule', async () => {
    const acts: string[] = []
    const open = () => {
      acts.push('open')
      return { counters: countersOf(memoryStore()), close: () => void acts.push('close') }
    }
    const verdicts = await checkCounters(() => ({ ...open(), advance: () => {} }))
    expect(verdicts.map(({ rule }) => rule)).toEqual(countersRules.map(({ title }) => title))
    const broken = verdicts.filter(({ problem }) => problem !== undefined).map(({ rule }) => rule)
    expect(broken).toEqual([
      expect.stringContaining('after its seconds'),
      expect.stringContaining('its seconds'),
    ])
    expect(acts).toEqual(countersRules.flatMap(() => ['open', 'close']))
  })

  it('takes a store that cannot be opened for one that keeps no rule, and says why', async () => {
    const trouble = new Error('no database')
    const problems = [
      await checkAuthorizationStore(() => Promise.reject(trouble)),
      await checkDynamicClientStore(() => Promise.reject(trouble)),
    ].flat()
    expect(problems).toHaveLength(authorizationStoreRules.length + dynamicClientStoreRules.length)
    expect(new Set(problems.map(({ problem }) => problem))).toEqual(new Set([trouble]))
  })

  it('as tests of a runner is one group, with a test for each rule that has time enough, for Mocha from inside', async () => {
    const tests: [title: string, body: (this: unknown) => Promise<void>, milliseconds: number][] = []
    const groups: string[] = []
    authorizationStoreContract('my store', () => inMemory(), {
      describe: (title, body) => {
        groups.push(title)
        body()
      },
      it: (title, body, milliseconds = 0) => void tests.push([title, body, milliseconds]),
    })
    expect(groups).toEqual(['my store'])
    expect(tests.map(([title]) => title)).toEqual(authorizationStoreRules.map(({ title }) => title))
    const allowed: number[] = []
    await tests[0]?.[1].call({ timeout: (milliseconds: number) => allowed.push(milliseconds) })
    expect(new Set([...allowed, ...tests.map(([, , milliseconds]) => milliseconds)])).toEqual(
      new Set([90_000]),
    )
  })
})
