import { deepEqual, equal } from 'node:assert/strict'
import type { Authorization } from '../authorization/authorization'
import { commit } from '../authorization/commit'
import type { TransitionResult } from '../authorization/transition'
import { secureRandom } from '../protocol/credential'
import type { StoredAuthorization } from '../authorization/store'
import {
  approvedRecord,
  findRecord,
  inSeconds,
  random22,
  saveRecord,
  swapCase,
  threeVersions,
  version,
} from './example-records'
import { storeRules } from './record-rules'
import { same } from './contract-rule'

/** `clientId` tells the writers apart. */
function rivals(count: number, id: string): readonly StoredAuthorization[] {
  return Array.from({ length: count }, (_, writer) =>
    version(approvedRecord(inSeconds(600), { id, clientId: `client ${writer}` })),
  )
}

export function oneMoreFailure(current: Authorization | undefined): TransitionResult<number> {
  if (current?.state !== 'approved') throw new Error(`The record is ${current?.state ?? 'not there'}.`)
  const failures = current.code.failures + 1
  return {
    action: 'save',
    authorization: { ...current, code: { ...current.code, failures } },
    outcome: failures,
  }
}

const raceRule = storeRules('races:')

export const raceRules = [
  raceRule('of 50 parallel creations exactly one succeeds, and its record is found', async (store) => {
    const id = random22()
    const attempts = rivals(50, id)
    const successes = await Promise.all(attempts.map((attempt) => saveRecord(store, attempt)))
    const winners = attempts.filter((_, writer) => successes[writer])
    equal(winners.length, 1)
    same(await store.find(id), winners[0])
  }),

  raceRule(
    'of 50 parallel saves on one revision exactly one succeeds, and its record is found',
    async (store) => {
      const [first] = threeVersions()
      await saveRecord(store, first)
      const attempts = rivals(50, first.authorization.id)
      const successes = await Promise.all(attempts.map((attempt) => saveRecord(store, attempt, first)))
      const winners = attempts.filter((_, writer) => successes[writer])
      equal(winners.length, 1)
      same(await findRecord(store, first), winners[0])
    },
  ),

  raceRule('no change is lost when 8 writers commit in parallel, six times over', async (store) => {
    const counter = approvedRecord(inSeconds(600))
    await saveRecord(store, version(counter))
    const before = counter.code.failures
    for (let round = 0; round < 6; round++) {
      const counts = await Promise.all(
        Array.from({ length: 8 }, () => commit(store, counter.id, oneMoreFailure, secureRandom)),
      )
      const expected = Array.from({ length: 8 }, (_, n) => before + round * 8 + n + 1)
      deepEqual(
        counts.toSorted((a, b) => a - b),
        expected,
      )
    }
    const found = await store.find(counter.id)
    same(found?.authorization, { ...counter, code: { ...counter.code, failures: before + 48 } })
  }),

  raceRule('a save in parallel with a removal never leaves a record behind', async (store) => {
    const records = Array.from({ length: 20 }, threeVersions)
    await Promise.all(records.map(([first]) => saveRecord(store, first)))
    await Promise.all(
      records.flatMap(([first, second], n) => {
        const acts = [() => saveRecord(store, second, first), () => store.remove(first.authorization.id)]
        return (n % 2 === 0 ? acts : acts.toReversed()).map((act) => act())
      }),
    )
    const left = await Promise.all(records.map(([first]) => findRecord(store, first)))
    same(
      left.filter((found) => found !== undefined),
      [],
    )
  }),
]

const replacementRule = storeRules('save with an expected revision')

const wrongRevisions: readonly (readonly [which: string, wrong: (right: string) => string])[] = [
  ['a revision that never existed', random22],
  ['the right revision in the other letter case', swapCase],
  ['the beginning of the right revision', (right) => right.slice(0, -1)],
  ['an empty revision', () => ''],
]

export const replacementRules = [
  replacementRule('replaces the record that has this revision', async (store) => {
    const [first, second, third] = threeVersions()
    await saveRecord(store, first)
    equal(await saveRecord(store, second, first), true)
    same(await findRecord(store, first), second)
    equal(await saveRecord(store, third, second), true)
    same(await findRecord(store, first), third)
  }),

  ...wrongRevisions.map(([which, wrong]) =>
    replacementRule(
      `is refused where the record has another revision, and changes nothing: ${which}`,
      async (store) => {
        const [first, second] = threeVersions()
        await saveRecord(store, first)
        equal(await store.save(second.authorization, second.revision, wrong(first.revision)), false)
        same(await findRecord(store, first), first)
      },
    ),
  ),

  replacementRule('is refused where another writer was first, and changes nothing', async (store) => {
    const [first, second, third] = threeVersions()
    await saveRecord(store, first)
    await saveRecord(store, second, first)
    equal(await saveRecord(store, third, first), false)
    same(await findRecord(store, first), second)
  }),

  replacementRule('is refused where there never was a record, and creates none', async (store) => {
    const [first, second] = threeVersions()
    equal(await saveRecord(store, second, first), false)
    equal(await findRecord(store, first), undefined)
  }),

  replacementRule('is refused where the record was removed, and does not bring it back', async (store) => {
    const [first, second] = threeVersions()
    await saveRecord(store, first)
    await store.remove(first.authorization.id)
    equal(await saveRecord(store, second, first), false)
    equal(await findRecord(store, first), undefined)
  }),

  replacementRule('resolves to true when it is repeated, and changes nothing', async (store) => {
    const [first, second] = threeVersions()
    await saveRecord(store, first)
    await saveRecord(store, second, first)
    equal(await saveRecord(store, second, first), true)
    same(await findRecord(store, first), second)
  }),

  replacementRule(
    'is refused when it is repeated after another writer moved the record on',
    async (store) => {
      const [first, second, third] = threeVersions()
      await saveRecord(store, first)
      await saveRecord(store, second, first)
      await saveRecord(store, third, second)
      equal(await saveRecord(store, second, first), false)
      same(await findRecord(store, first), third)
    },
  ),

  replacementRule('is refused when it is repeated after the record was removed', async (store) => {
    const [first, second] = threeVersions()
    await saveRecord(store, first)
    await saveRecord(store, second, first)
    await store.remove(first.authorization.id)
    equal(await saveRecord(store, second, first), false)
    equal(await findRecord(store, first), undefined)
  }),
]
