import { deepEqual, equal } from 'node:assert/strict'
import type { Authorization } from '../../authorization/authorization'
import { commit } from '../../authorization/commit'
import { save as saving, type TransitionResult } from '../../authorization/step'
import { secureRandom } from '../../protocol/credential'
import type { StoredAuthorization } from '../../stores/authorization-store'
import { same } from '../same'
import { approvedRecord, inSeconds, random22 } from './examples'
import { storeRules } from './store-under-test'
import { findRecord, saveRecord, threeVersions, version } from './version'

/** Versions that each of `count` writers wants stored under one id, told apart by their client. */
export function rivals(count: number, id: string): readonly StoredAuthorization[] {
  return Array.from({ length: count }, (_, writer) =>
    version(approvedRecord(inSeconds(600), { id, clientId: `client ${writer}` })),
  )
}

/** Counts one more failure, as a wrong verifier does, and learns how many there are now. */
export function oneMoreFailure(current: Authorization | undefined): TransitionResult<number> {
  if (current?.state !== 'approved') throw new Error(`The record is ${current?.state ?? 'not there'}.`)
  const failures = current.code.failures + 1
  return saving({ ...current, code: { ...current.code, failures } }, failures)
}

const raceRule = storeRules('races:')

/** What must be so when many act at once. */
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

  raceRule('none of the changes is lost that 8 writers commit in parallel, six times over', async (store) => {
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
