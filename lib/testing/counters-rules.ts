import { deepEqual, equal } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Counters } from '../limits/counters'
import { pass, type ContractRule, type UnderTest } from './contract-rule'

export interface CountersUnderTest extends UnderTest {
  readonly counters: Counters
}

type Scene = ReturnType<typeof sceneOf>

function sceneOf(underTest: CountersUnderTest, odd: string) {
  const { counters } = underTest
  const key = randomUUID() + odd
  return {
    counters,
    key,
    add: (amount: 1 | -1 = 1, seconds = 60) => counters.add(key, amount, seconds),
    useOnce: (seconds = 60) => counters.useOnce(key, seconds),
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

export const countersRules: readonly ContractRule<CountersUnderTest>[] = [
  rule('add counts each key separately, and returns the seconds that are left', async (scene) => {
    deepEqual(await scene.add(), { count: 1, secondsLeft: 60 })
    equal((await scene.add()).count, 2)
    equal((await scene.counters.add(`${scene.key}:other`, 1, 60)).count, 1)
  }),

  rule('add takes back an addition, and never counts below 0', async ({ add }) => {
    await add()
    await add()
    equal((await add(-1)).count, 1)
    deepEqual(await add(-1), { count: 0, secondsLeft: 0 })
    deepEqual(await add(-1), { count: 0, secondsLeft: 0 })
    // At 0 the window has ended.
    deepEqual(await add(1, 90), { count: 1, secondsLeft: 90 })
  }),

  rule('add starts a new count after its seconds, which run from the first addition', async (scene) => {
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

  rule('useOnce accepts a key once', async ({ counters, key, useOnce }) => {
    deepEqual([await useOnce(), await useOnce(), await useOnce()], [true, false, false])
    equal(await counters.useOnce(`${key}:other`, 60), true)
  }),

  rule('useOnce accepts a key in one of 50 parallel calls', async ({ useOnce }) => {
    const used = await Promise.all(Array.from({ length: 50 }, () => useOnce()))
    equal(used.filter(Boolean).length, 1)
  }),

  rule('useOnce forgets a key after its seconds, and not before', async (scene) => {
    await scene.useOnce(2)
    await scene.pass(1)
    equal(await scene.useOnce(2), false)
    await scene.pass(1.1)
    equal(await scene.useOnce(2), true)
  }),

  rule('counts and used keys do not affect each other', async ({ add, useOnce }) => {
    await add()
    equal(await useOnce(), true)
    equal((await add()).count, 2)
  }),

  ...['__proto__', 'constructor', 'ü:{tag} \u0000'].map((odd) =>
    rule(`a key that contains ${JSON.stringify(odd)} works like any other`, takesItsKey, odd),
  ),
]

async function takesItsKey({ add, useOnce }: Scene): Promise<void> {
  equal((await add()).count, 1)
  equal(await useOnce(), true)
  equal(await useOnce(), false)
}
