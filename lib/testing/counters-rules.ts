import { deepEqual, equal } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Counters } from '../stores/counters'
import { pass, type ContractRule, type UnderTest } from './rule'

/** Counters to be put to the test. */
export interface CountersUnderTest extends UnderTest {
  readonly counters: Counters
}

type Scene = ReturnType<typeof sceneOf>

/** Counters with a key that no other rule uses. */
function sceneOf(underTest: CountersUnderTest, odd: string) {
  const { counters } = underTest
  const key = randomUUID() + odd
  return {
    counters,
    key,
    add: (amount: 1 | -1 = 1, seconds = 60) => counters.add(key, amount, seconds),
    spend: (seconds = 60) => counters.useOnce(key, seconds),
    pass: (seconds: number) => pass(underTest, seconds),
  }
}

function rule(
  title: string,
  run: (scene: Scene) => Promise<void>,
  odd = '',
): ContractRule<CountersUnderTest> {
  return { title, run: (underTest) => run(sceneOf(underTest, odd)) }
}

/** What all `Counters` have to keep. */
export const countersRules: readonly ContractRule<CountersUnderTest>[] = [
  rule('add counts up, each key for itself, and tells the seconds that are left', async (scene) => {
    deepEqual(await scene.add(), { count: 1, secondsLeft: 60 })
    equal((await scene.add()).count, 2)
    equal((await scene.counters.add(`${scene.key}:other`, 1, 60)).count, 1)
  }),

  rule('add takes back what was added, and never counts below 0', async ({ add }) => {
    await add()
    await add()
    equal((await add(-1)).count, 1)
    deepEqual(await add(-1), { count: 0, secondsLeft: 0 })
    deepEqual(await add(-1), { count: 0, secondsLeft: 0 })
    // Nothing is left of the window that was taken back.
    deepEqual(await add(1, 90), { count: 1, secondsLeft: 90 })
  }),

  rule('add begins anew after its seconds, counted from the first addition', async (scene) => {
    await scene.add(1, 2)
    await scene.pass(1)
    deepEqual(await scene.add(1, 2), { count: 2, secondsLeft: 1 })
    await scene.pass(1.1)
    deepEqual(await scene.add(1, 2), { count: 1, secondsLeft: 2 })
  }),

  rule('add gives each of 50 parallel additions a count of its own', async ({ add }) => {
    const counts = await Promise.all(Array.from({ length: 50 }, () => add()))
    deepEqual(
      counts.map(({ count }) => count).toSorted((a, b) => a - b),
      Array.from({ length: 50 }, (_, index) => index + 1),
    )
  }),

  rule('useOnce lets a key be spent once', async ({ counters, key, spend }) => {
    deepEqual([await spend(), await spend(), await spend()], [true, false, false])
    equal(await counters.useOnce(`${key}:other`, 60), true)
  }),

  rule('useOnce lets one of 50 parallel calls spend a key', async ({ spend }) => {
    const spent = await Promise.all(Array.from({ length: 50 }, () => spend()))
    equal(spent.filter(Boolean).length, 1)
  }),

  rule('useOnce forgets a key after its seconds, and not before', async (scene) => {
    await scene.spend(2)
    await scene.pass(1)
    equal(await scene.spend(2), false)
    await scene.pass(1.1)
    equal(await scene.spend(2), true)
  }),

  rule('counts and spent keys are kept apart', async ({ add, spend }) => {
    await add()
    equal(await spend(), true)
    equal((await add()).count, 2)
  }),

  ...['__proto__', 'constructor', 'ü:{tag} \u0000'].map((odd) =>
    rule(`a key that holds ${JSON.stringify(odd)} is like any other`, takesItsKey, odd),
  ),
]

async function takesItsKey({ add, spend }: Scene): Promise<void> {
  equal((await add()).count, 1)
  equal(await spend(), true)
  equal(await spend(), false)
}
