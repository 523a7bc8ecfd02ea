import {
  authorizationStoreContract,
  authorizationStoreRules,
  checkAuthorizationStore,
  checkClientRegistry,
  checkCounters,
  checkDynamicClientStore,
  clientRegistryRules,
  countersRules,
  dynamicClientStoreRules,
  type ContractRule,
  type Verdict,
} from '../../../lib/testing/index'
import * as kit from '../../../lib/testing/index'
import { runInNode } from '../../support/stores/node-program'
import {
  checkThenAct,
  forgottenRevision,
  overwriting,
  resurrection,
} from '../../support/stores/broken-stores'
import { dynamicInMemory, inMemory, losesChanges, readsThenWrites } from './broken-stores'

const broken = (verdicts: readonly Verdict[]) =>
  verdicts.filter(({ problem }) => problem !== undefined).map(({ rule }) => rule)
const titles = (rules: readonly ContractRule<never>[]) => rules.map(({ title }) => title)

it('the contracts and what tests of routes need are all that the kit exports', () => {
  expect(Object.keys(kit).toSorted()).toEqual([
    'approve',
    'authorizationIndexContract',
    'authorizationIndexRules',
    'authorizationStoreContract',
    'authorizationStoreRules',
    'checkAuthorizationIndex',
    'checkAuthorizationStore',
    'checkClientRegistry',
    'checkConsentStore',
    'checkCounters',
    'checkDynamicClientStore',
    'checkKeyStore',
    'clientRegistryContract',
    'clientRegistryRules',
    'consentStoreContract',
    'consentStoreRules',
    'countersContract',
    'countersRules',
    'dynamicClientStoreContract',
    'dynamicClientStoreRules',
    'expectRefused',
    'keyStoreContract',
    'keyStoreRules',
    'mintToken',
    'testClock',
  ])
})

describe('the contract as a function', () => {
  it('reports each rule, in order, as kept', async () => {
    const verdicts = [
      await checkAuthorizationStore(inMemory),
      await checkCounters(inMemory),
      await checkClientRegistry(inMemory),
      await checkDynamicClientStore(dynamicInMemory),
    ]
    const rules = [authorizationStoreRules, countersRules, clientRegistryRules, dynamicClientStoreRules]
    expect(verdicts.map((some) => some.map(({ rule }) => rule))).toEqual(rules.map(titles))
    expect(verdicts.flatMap(broken)).toEqual([])
  })

  it('has a title of its own for each rule', () => {
    const every = [authorizationStoreRules, countersRules, clientRegistryRules, dynamicClientStoreRules].map(
      titles,
    )
    for (const some of every) expect(new Set(some).size).toBe(some.length)
    expect(every.map(({ length }) => length)).toEqual([53, 11, 23, 51])
  })

  it('closes what was opened, rule by rule, kept or not', async () => {
    const acts: string[] = []
    const open = () => {
      acts.push('open')
      const { store, advance } = inMemory()
      return { store: overwriting(store), advance, close: async () => void acts.push('close') }
    }
    await checkAuthorizationStore(open)
    expect(acts).toEqual(authorizationStoreRules.flatMap(() => ['open', 'close']))
  })

  it('takes a store that cannot be opened for one that keeps no rule, and says why', async () => {
    const trouble = new Error('no database')
    const verdicts = await checkCounters(() => Promise.reject(trouble))
    expect(verdicts).toHaveLength(countersRules.length)
    for (const { problem } of verdicts) expect(problem).toBe(trouble)
  })
})

describe('a store that is wrong is found out', () => {
  it.each([
    [
      'looks and then writes',
      checkThenAct,
      'races: of 50 parallel saves on one revision exactly one succeeds',
    ],
    ['overwrites', overwriting, 'save without an expected revision is refused where there is a record'],
    [
      'forgets its own write',
      forgottenRevision,
      'save with an expected revision resolves to true when it is rep',
    ],
    ['brings back', resurrection, 'save with an expected revision is refused where the record was removed'],
  ])('%s', async (_fault, breaking, rule) => {
    const open = () => {
      const { store, advance } = inMemory()
      return { store: breaking(store), advance }
    }
    expect(broken(await checkAuthorizationStore(open))).toContainEqual(expect.stringContaining(rule))
  })

  it('never expires anything', async () => {
    const verdicts = await checkAuthorizationStore(() => ({ ...inMemory(), advance: () => {} }))
    expect(broken(verdicts)).toEqual(
      titles(authorizationStoreRules).filter((title) => title.startsWith('expiry')),
    )
  })

  it('counts and spends in two acts', async () => {
    const verdicts = await checkCounters(() => {
      const { counters, advance } = inMemory()
      return { counters: readsThenWrites(counters), advance }
    })
    expect(broken(verdicts)).toContain('useOnce accepts a key in one of 50 parallel calls')
  })

  it('loses changes of clients', async () => {
    const verdicts = await checkClientRegistry(() => ({ clients: losesChanges(inMemory().clients) }))
    expect(broken(verdicts)).toEqual(['update loses none of 50 parallel changes'])
  })
})

describe('the contract as a group of tests', () => {
  it('is one group, with a test for each rule that has time enough', async () => {
    const registered: [title: string, body: () => Promise<void>, milliseconds: number | undefined][] = []
    const groups: string[] = []
    authorizationStoreContract('my store', inMemory, {
      describe: (title, body) => {
        groups.push(title)
        body()
      },
      it: (...test) => void registered.push([test[0], test[1], test[2]]),
    })
    expect(groups).toEqual(['my store'])
    expect(registered.map(([title]) => title)).toEqual(titles(authorizationStoreRules))
    for (const [, body, milliseconds] of registered) {
      expect(milliseconds).toBeGreaterThan(30_000)
      await body()
    }
  })

  it('sets the timeout of Mocha from inside a test', async () => {
    const timeout = jest.fn()
    const bodies: (() => Promise<void>)[] = []
    authorizationStoreContract('my store', inMemory, {
      describe: (_title, body) => body(),
      it: (_title, body) => void bodies.push(body),
    })
    await bodies[0]?.call({ timeout })
    expect(timeout).toHaveBeenCalledWith(90_000)
  })

  it('says what it lacks where there is no runner', () => {
    const { output } = runInNode(`
      const { authorizationStoreContract } = require('./lib/testing')
      try { authorizationStoreContract('my store', () => {}) } catch ({ name, message }) { console.log(name, message) }
    `)
    expect(output).toMatch(
      /^ConfigurationError .*\n {2}- runner must be \{ describe, it \} of the test runner/,
    )
  })
})
