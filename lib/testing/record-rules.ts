import { equal } from 'node:assert/strict'
import type { Pending } from '../authorization/authorization'
import { type AuthorizationStore, confirmAbsence } from '../authorization/store'
import {
  activeRecord,
  approvedRecord,
  deniedRecord,
  everyKind,
  findRecord,
  inSeconds,
  pendingRecord,
  random22,
  saveRecord,
  swapCase,
  threeVersions,
  version,
} from './example-records'
import { type ContractRule, pass, same, type UnderTest } from './contract-rule'

export interface StoreUnderTest extends UnderTest {
  readonly store: AuthorizationStore
}

export function storeRules(about: string) {
  return (
    title: string,
    run: (store: AuthorizationStore) => Promise<void>,
  ): ContractRule<StoreUnderTest> => ({
    title: `${about} ${title}`,
    run: ({ store }) => run(store),
  })
}

const absenceRule = storeRules('confirmAbsent, where a store has it:')

/** They hold for a store without `confirmAbsent`, too. */
export const absenceRules = [
  absenceRule('resolves to true where there never was a record, and creates none', async (store) => {
    const id = random22()
    equal(await confirmAbsence(store, id), true)
    equal(await store.find(id), undefined)
  }),

  absenceRule('resolves to true after the record was removed, any number of times', async (store) => {
    const [first] = threeVersions()
    await saveRecord(store, first)
    await store.remove(first.authorization.id)
    equal(await confirmAbsence(store, first.authorization.id), true)
    equal(await confirmAbsence(store, first.authorization.id), true)
    equal(await findRecord(store, first), undefined)
  }),

  absenceRule('resolves to false where there is a record, and changes nothing', async (store) => {
    const [first, second] = threeVersions()
    await saveRecord(store, first)
    await saveRecord(store, second, first)
    if (store.confirmAbsent !== undefined) equal(await store.confirmAbsent(first.authorization.id), false)
    same(await findRecord(store, first), second)
  }),
]

const confirmationRule = storeRules('save with its own revision as the expected one')

/** The suite confirms an earlier save after trouble, and before it repeats an answer. */
export const confirmationRules = [
  confirmationRule('resolves to true where the save was done before, and changes nothing', async (store) => {
    const [first, second] = threeVersions()
    await saveRecord(store, first)
    await saveRecord(store, second, first)
    equal(await saveRecord(store, second, second), true)
    same(await findRecord(store, first), second)
  }),

  confirmationRule('is refused where the save was not done before, and changes nothing', async (store) => {
    const [first, second] = threeVersions()
    equal(await saveRecord(store, first, first), false)
    equal(await findRecord(store, first), undefined)
    await saveRecord(store, first)
    equal(await saveRecord(store, second, second), false)
    same(await findRecord(store, first), first)
  }),

  confirmationRule('is refused after the record was removed, and does not bring it back', async (store) => {
    const [first] = threeVersions()
    await saveRecord(store, first)
    await store.remove(first.authorization.id)
    equal(await saveRecord(store, first, first), false)
    equal(await findRecord(store, first), undefined)
  }),
]

const creationRule = storeRules('save without an expected revision')

export const creationRules = [
  creationRule('creates the record', async (store) => {
    const [first] = threeVersions()
    equal(await saveRecord(store, first), true)
    same(await findRecord(store, first), first)
  }),

  creationRule('is refused where there is a record, and overwrites nothing', async (store) => {
    const [first, second] = threeVersions()
    await saveRecord(store, first)
    equal(await saveRecord(store, second), false)
    same(await findRecord(store, first), first)
  }),

  creationRule('resolves to true when it is repeated, and changes nothing', async (store) => {
    const [first] = threeVersions()
    await saveRecord(store, first)
    equal(await saveRecord(store, first), true)
    same(await findRecord(store, first), first)
  }),

  creationRule('is refused when it is repeated after another writer moved the record on', async (store) => {
    const [first, second] = threeVersions()
    await saveRecord(store, first)
    await saveRecord(store, second, first)
    equal(await saveRecord(store, first), false)
    same(await findRecord(store, first), second)
  }),
]

const removeRule = storeRules('remove:')

export const removeRules = [
  removeRule('removes the record, whatever its revision', async (store) => {
    const [first, second] = threeVersions()
    await saveRecord(store, first)
    await saveRecord(store, second, first)
    await store.remove(first.authorization.id)
    equal(await findRecord(store, first), undefined)
  }),

  removeRule('may be repeated', async (store) => {
    const [first] = threeVersions()
    await saveRecord(store, first)
    await store.remove(first.authorization.id)
    await store.remove(first.authorization.id)
    equal(await findRecord(store, first), undefined)
  }),

  removeRule('resolves where there never was a record', async (store) => {
    await store.remove(random22())
  }),
]

const { request } = pendingRecord(0)

const hardToKeep: readonly (readonly [what: string, changed: Partial<Pending>])[] = [
  ['text that is not ASCII', { subject: 'Zoë שלום 👩‍🚀 \u2028', clientId: 'ﬀ e\u0301 \u00E9' }],
  ['quotes, backslashes and placeholders', { subject: `a"b'c\\d\\"e\`f`, clientId: '%00 ${} :id $1 ?' }],
  ['control characters', { subject: 'a\u0000b\u0001c\r\n\t\u007F' }],
  ['white space at both ends', { subject: ' a ', clientId: '\tb\n' }],
  ['numbers as text', { subject: '007', clientId: '12345678901234567890' }],
  ['names that objects inherit', { extensionData: { ['__proto__']: { admin: true }, constructor: 1 } }],
  ['names that query languages read', { extensionData: { $set: { 'a.b': 1 }, 'a b': '$x', a: '{}' } }],
  [
    'every type of JSON',
    { extensionData: { all: [null, true, 0.1, -7, '', [], {}, [[1]], { a: { b: null } }] } },
  ],
  ['empty scope and bindings', { scope: [], extensionData: {} }],
  ['a state of 10 kB', { request: { ...request, requestState: '"é\\ '.repeat(2500) } }],
  ['no state', { request: { ...request, requestState: undefined } }],
]

const findRule = storeRules('find:')

export const findRules = [
  findRule('finds nothing under an id that was never saved', async (store) => {
    equal(await store.find(random22()), undefined)
  }),

  ...everyKind.map(([kind, make]) =>
    findRule(`finds what was saved, with its revision: ${kind}`, async (store) => {
      const saved = version(make(inSeconds(600)))
      await saveRecord(store, saved)
      same(await findRecord(store, saved), saved)
    }),
  ),

  ...hardToKeep.map(([what, changed]) =>
    findRule(`finds exactly what was saved: ${what}`, async (store) => {
      const saved = version(pendingRecord(inSeconds(600), changed))
      await saveRecord(store, saved)
      same(await findRecord(store, saved), saved)
    }),
  ),

  findRule('a change of one record does not affect another', async (store) => {
    const [one, other] = [version(pendingRecord(inSeconds(600))), version(activeRecord(inSeconds(600)))]
    await saveRecord(store, one)
    await saveRecord(store, other)
    await saveRecord(store, version(activeRecord(inSeconds(600), { id: one.authorization.id })), one)
    same(await findRecord(store, other), other)
    await store.remove(one.authorization.id)
    same(await findRecord(store, other), other)
  }),

  findRule('distinguishes ids that differ only in letter case', async (store) => {
    const saved = version(pendingRecord(inSeconds(600)))
    await saveRecord(store, saved)
    equal(await store.find(swapCase(saved.authorization.id)), undefined)
  }),
]

// Seconds: long enough for a slow database to save a few records.
const soon = 5
const pastSoon = 6

export const expiryRules: readonly ContractRule<StoreUnderTest>[] = [
  {
    title: 'expiry: a record of any kind is found until its last credential expires, and not after',
    async run(underTest) {
      const { store } = underTest
      const mortal = everyKind.map(([, make]) => version(make(inSeconds(soon))))
      const lasting = everyKind.map(([, make]) => version(make(inSeconds(600))))
      await Promise.all([...mortal, ...lasting].map((one) => saveRecord(store, one)))
      for (const one of mortal) same(await findRecord(store, one), one)
      await pass(underTest, pastSoon)
      for (const one of mortal) equal(await findRecord(store, one), undefined, one.authorization.state)
      for (const one of lasting) same(await findRecord(store, one), one)
    },
  },
  {
    title: 'expiry follows the record that was saved last, whether it lives longer or shorter',
    async run(underTest) {
      const { store } = underTest
      const extended = version(approvedRecord(inSeconds(soon)))
      const shortened = version(pendingRecord(inSeconds(600)))
      const decided = version(pendingRecord(inSeconds(600)))
      for (const one of [extended, shortened, decided]) await saveRecord(store, one)
      const longer = version(activeRecord(inSeconds(600), { id: extended.authorization.id }))
      await saveRecord(store, longer, extended)
      await saveRecord(
        store,
        version(deniedRecord(inSeconds(soon), { id: shortened.authorization.id })),
        shortened,
      )
      await saveRecord(
        store,
        version(approvedRecord(inSeconds(soon), { id: decided.authorization.id })),
        decided,
      )
      await pass(underTest, pastSoon)
      same(await findRecord(store, longer), longer)
      equal(await findRecord(store, shortened), undefined)
      equal(await findRecord(store, decided), undefined, 'a decided request came back after its code')
    },
  },
  {
    title: 'expiry removes a record: a save cannot replace it, and may create it',
    async run(underTest) {
      const { store } = underTest
      const expired = version(approvedRecord(inSeconds(soon)))
      await saveRecord(store, expired)
      await pass(underTest, pastSoon)
      const next = version(activeRecord(inSeconds(600), { id: expired.authorization.id }))
      equal(await saveRecord(store, next, expired), false)
      equal(await findRecord(store, next), undefined)
      equal(await saveRecord(store, next), true)
      same(await findRecord(store, next), next)
    },
  },
]
