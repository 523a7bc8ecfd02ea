import type { Authorization } from '../../../lib/authorization/authorization'
import { commit } from '../../../lib/authorization/commit'
import { save as saving, type Step } from '../../../lib/authorization/step'
import { secureRandom } from '../../../lib/protocol/credential'
import type { AuthorizationStore, StoredAuthorization } from '../../../lib/stores/authorization-store'
import { approved, inSeconds, random22 } from './examples'
import { find, save, threeVersions, version } from './version'

/** Versions that each of `count` writers wants stored under one id, told apart by their client. */
export function rivals(count: number, id: string): readonly StoredAuthorization[] {
  return Array.from({ length: count }, (_, writer) =>
    version(approved(inSeconds(600), { id, clientId: `client ${writer}` })),
  )
}

/** Counts one more failure, as a wrong verifier does, and learns how many there are now. */
export function oneMoreFailure(current: Authorization | undefined): Step<number> {
  if (current?.state !== 'approved') throw new Error(`The record is ${current?.state ?? 'not there'}.`)
  const failures = current.code.failures + 1
  return saving({ ...current, code: { ...current.code, failures } }, failures)
}

export function raceRules(store: () => AuthorizationStore): void {
  it('of 50 parallel creations exactly one succeeds, and its record is found', async () => {
    const id = random22()
    const attempts = rivals(50, id)
    const successes = await Promise.all(attempts.map((attempt) => save(store(), attempt)))
    const winners = attempts.filter((_, writer) => successes[writer])
    expect(winners).toHaveLength(1)
    expect(await store().find(id)).toEqual(winners[0])
  })

  it('of 50 parallel saves on one revision exactly one succeeds, and its record is found', async () => {
    const [first] = threeVersions()
    await save(store(), first)
    const attempts = rivals(50, first.authorization.id)
    const successes = await Promise.all(attempts.map((attempt) => save(store(), attempt, first)))
    const winners = attempts.filter((_, writer) => successes[writer])
    expect(winners).toHaveLength(1)
    expect(await find(store(), first)).toEqual(winners[0])
  })

  it('loses none of the changes that 8 writers commit in parallel, six times over', async () => {
    const counter = approved(inSeconds(600))
    await save(store(), version(counter))
    const before = counter.code.failures
    for (let round = 0; round < 6; round++) {
      const counts = await Promise.all(
        Array.from({ length: 8 }, () => commit(store(), counter.id, oneMoreFailure, secureRandom)),
      )
      const expected = Array.from({ length: 8 }, (_, n) => before + round * 8 + n + 1)
      expect(counts.toSorted((a, b) => a - b)).toEqual(expected)
    }
    const found = await store().find(counter.id)
    expect(found?.authorization).toEqual({ ...counter, code: { ...counter.code, failures: before + 48 } })
  })

  it('a save in parallel with a removal never leaves a record behind', async () => {
    const records = Array.from({ length: 20 }, threeVersions)
    await Promise.all(records.map(([first]) => save(store(), first)))
    await Promise.all(
      records.flatMap(([first, second], n) => {
        const acts = [() => save(store(), second, first), () => store().remove(first.authorization.id)]
        return (n % 2 === 0 ? acts : acts.toReversed()).map((act) => act())
      }),
    )
    const left = await Promise.all(records.map(([first]) => find(store(), first)))
    expect(left.filter((found) => found !== undefined)).toEqual([])
  })
}
