import { deepEqual, equal } from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import type { Authorization, Pending } from '../authorization/authorization'
import { commit } from '../authorization/commit'
import { type AuthorizationStore, confirmAbsence } from '../authorization/store'
import type { TransitionResult } from '../authorization/transition'
import { secureRandom } from '../protocol/credential'
import { atOnce, checkOf, type ContractRule, contractOf, pass, plain, rulesOf, same } from './contract'
import type { UnderTest } from './contract'
import {
  activeRecord,
  approvedRecord,
  deniedRecord,
  everyKind,
  inSeconds,
  pendingRecord,
  random22,
  saveRecord,
  swapCase,
  threeVersions,
  version,
} from './example-records'

export interface StoreUnderTest extends UnderTest {
  readonly store: AuthorizationStore
}

/** A step names the versions 1, 2 and 3 of one record. */
function actsOf({ store }: StoreUnderTest) {
  const versions = threeVersions()
  const [{ authorization, revision: right }] = versions
  const { id } = authorization
  const versionOf = (label: string) => versions[Number(label) - 1]
  const revisionOf = (label: string): string | undefined =>
    ({ unknown: random22(), swapped: swapCase(right), cut: right.slice(0, -1), empty: '' })[label] ??
    versionOf(label)?.revision
  return {
    save: (label: string, over = 'nothing') => {
      const { authorization: saved, revision } = versionOf(label) ?? version(authorization)
      return store.save(saved, revision, revisionOf(over))
    },
    async find() {
      const found = await store.find(id)
      const at = versions.findIndex((one) => isDeepStrictEqual(plain(found), plain(one)))
      return found && (at < 0 ? JSON.stringify(found) : at + 1)
    },
    remove: () => store.remove(id),
    confirmAbsent: () => confirmAbsence(store, id),
    /** False for a store without `confirmAbsent`. */
    confirmPresent: () => store.confirmAbsent?.(id) ?? false,
    async saveAtOnce(over = 'nothing') {
      // `clientId` tells the writers apart.
      const rivals = Array.from({ length: 50 }, (_, writer) =>
        version(approvedRecord(inSeconds(600), { id, clientId: `client ${writer}` })),
      )
      const saved = await Promise.all(
        rivals.map((rival) => store.save(rival.authorization, rival.revision, revisionOf(over))),
      )
      const winners = rivals.filter((_, writer) => saved[writer])
      equal(winners.length, 1)
      same(await store.find(id), winners[0])
    },
  }
}

const rule = (
  title: string,
  run: (store: AuthorizationStore, underTest: UnderTest) => Promise<void>,
): ContractRule<StoreUnderTest> => ({ title, run: (underTest) => run(underTest.store, underTest) })

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

const findRules = [
  ...everyKind.map(([kind, make]) =>
    rule(`find: finds what was saved, with its revision: ${kind}`, async (store) => {
      const saved = version(make(inSeconds(600)))
      await saveRecord(store, saved)
      same(await store.find(saved.authorization.id), saved)
    }),
  ),

  ...hardToKeep.map(([what, changed]) =>
    rule(`find: finds exactly what was saved: ${what}`, async (store) => {
      const saved = version(pendingRecord(inSeconds(600), changed))
      await saveRecord(store, saved)
      same(await store.find(saved.authorization.id), saved)
    }),
  ),

  rule('find: a change of one record does not affect another', async (store) => {
    const [one, other] = [version(pendingRecord(inSeconds(600))), version(activeRecord(inSeconds(600)))]
    await saveRecord(store, one)
    await saveRecord(store, other)
    await saveRecord(store, version(activeRecord(inSeconds(600), { id: one.authorization.id })), one)
    same(await store.find(other.authorization.id), other)
    await store.remove(one.authorization.id)
    same(await store.find(other.authorization.id), other)
  }),

  rule('find: distinguishes ids that differ only in letter case', async (store) => {
    const saved = version(pendingRecord(inSeconds(600)))
    await saveRecord(store, saved)
    equal(await store.find(swapCase(saved.authorization.id)), undefined)
  }),
]

// Seconds: long enough for a slow database to save a few records.
const soon = 5
const pastSoon = 6

const expiryRules: readonly ContractRule<StoreUnderTest>[] = [
  {
    title: 'expiry: a record of any kind is found until its last credential expires, and not after',
    async run(underTest) {
      const { store } = underTest
      const mortal = everyKind.map(([, make]) => version(make(inSeconds(soon))))
      const lasting = everyKind.map(([, make]) => version(make(inSeconds(600))))
      await Promise.all([...mortal, ...lasting].map((one) => saveRecord(store, one)))
      for (const one of mortal) same(await store.find(one.authorization.id), one)
      await pass(underTest, pastSoon)
      for (const one of mortal)
        equal(await store.find(one.authorization.id), undefined, one.authorization.state)
      for (const one of lasting) same(await store.find(one.authorization.id), one)
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
      same(await store.find(longer.authorization.id), longer)
      equal(await store.find(shortened.authorization.id), undefined)
      equal(
        await store.find(decided.authorization.id),
        undefined,
        'a decided request came back after its code',
      )
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
      equal(await store.find(next.authorization.id), undefined)
      equal(await saveRecord(store, next), true)
      same(await store.find(next.authorization.id), next)
    },
  },
]

function oneMoreFailure(current: Authorization | undefined): TransitionResult<number> {
  if (current?.state !== 'approved') throw new Error(`The record is ${current?.state ?? 'not there'}.`)
  const failures = current.code.failures + 1
  return {
    action: 'save',
    authorization: { ...current, code: { ...current.code, failures } },
    outcome: failures,
  }
}

const raceRules = [
  rule('races: no change is lost when 8 writers commit in parallel, six times over', async (store) => {
    const counter = approvedRecord(inSeconds(600))
    await saveRecord(store, version(counter))
    const { failures } = counter.code
    for (let round = 0; round < 6; round++) {
      const counts = await atOnce(8, () => commit(store, counter.id, oneMoreFailure, secureRandom))
      deepEqual(
        counts.toSorted((a, b) => a - b),
        Array.from({ length: 8 }, (_, n) => failures + round * 8 + n + 1),
      )
    }
    const found = await store.find(counter.id)
    same(found?.authorization, { ...counter, code: { ...counter.code, failures: failures + 48 } })
  }),

  rule('races: a save in parallel with a removal never leaves a record behind', async (store) => {
    const records = Array.from({ length: 20 }, threeVersions)
    await Promise.all(records.map(([first]) => saveRecord(store, first)))
    await Promise.all(
      records.flatMap(([first, second], n) => {
        const acts = [() => saveRecord(store, second, first), () => store.remove(first.authorization.id)]
        return (n % 2 === 0 ? acts : acts.toReversed()).map((act) => act())
      }),
    )
    for (const [first] of records) equal(await store.find(first.authorization.id), undefined)
  }),
]

const creating = 'save without an expected revision'
const replacing = 'save with an expected revision'
const anotherRevision = `${replacing} is refused where the record has another revision, and changes nothing`
// The suite confirms an earlier save after trouble, and before it repeats an answer.
const confirming = 'save with its own revision as the expected one'
const absence = 'confirmAbsent, where a store has it:'

export const authorizationStoreRules = [
  ...rulesOf(actsOf, {
    'find: finds nothing under an id that was never saved': 'find = none',
    [`${creating} creates the record`]: 'save 1 = true; find = 1',
    [`${creating} is refused where there is a record, and overwrites nothing`]:
      'save 1; save 2 = false; find = 1',
    [`${creating} resolves to true when it is repeated, and changes nothing`]:
      'save 1; save 1 = true; find = 1',
    [`${creating} is refused when it is repeated after another writer moved the record on`]:
      'save 1; save 2 1; save 1 = false; find = 2',
    [`${replacing} replaces the record that has this revision`]:
      'save 1; save 2 1 = true; find = 2; save 3 2 = true; find = 3',
    [`${anotherRevision}: a revision that never existed`]: 'save 1; save 2 unknown = false; find = 1',
    [`${anotherRevision}: the right revision in the other letter case`]:
      'save 1; save 2 swapped = false; find = 1',
    [`${anotherRevision}: the beginning of the right revision`]: 'save 1; save 2 cut = false; find = 1',
    [`${anotherRevision}: an empty revision`]: 'save 1; save 2 empty = false; find = 1',
    [`${replacing} is refused where another writer was first, and changes nothing`]:
      'save 1; save 2 1; save 3 1 = false; find = 2',
    [`${replacing} is refused where there never was a record, and creates none`]:
      'save 2 1 = false; find = none',
    [`${replacing} is refused where the record was removed, and does not bring it back`]:
      'save 1; remove; save 2 1 = false; find = none',
    [`${replacing} resolves to true when it is repeated, and changes nothing`]:
      'save 1; save 2 1; save 2 1 = true; find = 2',
    [`${replacing} is refused when it is repeated after another writer moved the record on`]:
      'save 1; save 2 1; save 3 2; save 2 1 = false; find = 3',
    [`${replacing} is refused when it is repeated after the record was removed`]:
      'save 1; save 2 1; remove; save 2 1 = false; find = none',
    [`${confirming} resolves to true where the save was done before, and changes nothing`]:
      'save 1; save 2 1; save 2 2 = true; find = 2',
    [`${confirming} is refused where the save was not done before, and changes nothing`]:
      'save 1 1 = false; find = none; save 1; save 2 2 = false; find = 1',
    [`${confirming} is refused after the record was removed, and does not bring it back`]:
      'save 1; remove; save 1 1 = false; find = none',
    'remove: removes the record, whatever its revision': 'save 1; save 2 1; remove; find = none',
    'remove: may be repeated': 'save 1; remove; remove; find = none',
    'remove: resolves where there never was a record': 'remove',
    [`${absence} resolves to true where there never was a record, and creates none`]:
      'confirmAbsent = true; find = none',
    [`${absence} resolves to true after the record was removed, any number of times`]:
      'save 1; remove; confirmAbsent = true; confirmAbsent = true; find = none',
    [`${absence} resolves to false where there is a record, and changes nothing`]:
      'save 1; save 2 1; confirmPresent = false; find = 2',
    'races: of 50 parallel creations exactly one succeeds, and its record is found': 'saveAtOnce',
    'races: of 50 parallel saves on one revision exactly one succeeds, and its record is found':
      'save 1; saveAtOnce 1',
  }),
  ...findRules,
  ...expiryRules,
  ...raceRules,
]

/** For an `AuthorizationStore`. No two rules use one id, so one database can serve all. */
export const authorizationStoreContract = contractOf(authorizationStoreRules)

export const checkAuthorizationStore = checkOf(authorizationStoreRules)
