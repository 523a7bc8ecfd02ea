import { deepEqual, equal } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Counters } from '../limits/counters'
import { atOnce, checkOf, contractOf, rulesOf, type UnderTest } from './contract'

export interface CountersUnderTest extends UnderTest {
  readonly counters: Counters
}

const actsOf =
  (odd = '') =>
  ({ counters }: CountersUnderTest) => {
    const key = randomUUID() + odd
    const add = (amount = '1', seconds = '60', other = '') =>
      counters.add(key + other, amount === '-1' ? -1 : 1, Number(seconds))
    return {
      count: async (...words: string[]) => (await add(...words)).count,
      add: async (...words: string[]) => {
        const { count, secondsLeft } = await add(...words)
        return `${count} for ${secondsLeft}`
      },
      use: (seconds = '60', other = '') => counters.useOnce(key + other, Number(seconds)),
      async addAtOnce() {
        const counts = await atOnce(50, () => add())
        const inOrder = Array.from({ length: 50 }, (_, index) => index + 1)
        deepEqual(
          counts.map(({ count }) => count).toSorted((a, b) => a - b),
          inOrder,
        )
      },
      async useAtOnce() {
        const used = await atOnce(50, () => counters.useOnce(key, 60))
        equal(used.filter(Boolean).length, 1)
      },
    }
  }

export const countersRules = [
  ...rulesOf(actsOf(), {
    'add counts each key separately, and returns the seconds that are left':
      'add = 1 for 60; count = 2; count 1 60 :other = 1',
    // At 0 the window has ended.
    'add takes back an addition, and never counts below 0':
      'count; count; count -1 = 1; add -1 = 0 for 0; add -1 = 0 for 0; add 1 90 = 1 for 90',
    'add starts a new count after its seconds, which run from the first addition':
      'count 1 2; wait 1; add 1 2 = 2 for 1; wait 1.1; add 1 2 = 1 for 2',
    'add gives each of 50 parallel additions a count of its own': 'addAtOnce',
    'useOnce accepts a key once': 'use = true; use = false; use = false; use 60 :other = true',
    'useOnce accepts a key in one of 50 parallel calls': 'useAtOnce',
    'useOnce forgets a key after its seconds, and not before':
      'use 2; wait 1; use 2 = false; wait 1.1; use 2 = true',
    'counts and used keys do not affect each other': 'count; use = true; count = 2',
  }),
  ...['__proto__', 'constructor', 'ü:{tag} \u0000'].flatMap((odd) =>
    rulesOf(actsOf(odd), {
      [`a key that contains ${JSON.stringify(odd)} works like any other`]:
        'count = 1; use = true; use = false',
    }),
  ),
]

/** For `Counters`. No two rules use one key. */
export const countersContract = contractOf(countersRules)

export const checkCounters = checkOf(countersRules)
