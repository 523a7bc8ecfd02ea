import { equal } from 'node:assert/strict'
import { setTimeout } from 'node:timers'
import { setTimeout as wait } from 'node:timers/promises'
import { types } from 'node:util'
import { ConfigurationError } from '../primitives/configuration-error'
import { isRecord } from '../primitives/values'
import type { Store } from '../store/store'

export interface ContractRule {
  /** Begins with its subject, such as the name of a function. */
  readonly title: string
  /** Rejects with an `AssertionError` that shows the actual result. */
  run(underTest: StoreUnderTest): Promise<void>
}

export interface StoreUnderTest {
  readonly store: Store
  /** A second store on the same database, such as that of another process. */
  readonly other?: Store
  /**
   * Makes the store believe that this many seconds have passed. Without it, the rules of expiry wait in real time, up
   * to half a minute.
   */
  advance?(seconds: number): void | Promise<void>
  /** Runs after each rule, held or not. */
  close?(): void | Promise<void>
}

/** Opens the store, once for each rule. */
export type Open = () => StoreUnderTest | Promise<StoreUnderTest>

export interface Verdict {
  readonly rule: string
  /** Why the rule, or the store, failed; undefined if the rule holds. */
  readonly problem: Error | undefined
}

/** What a contract needs of a test runner, such as Jest, Vitest, Mocha or `node:test`. Default: the globals. */
export interface TestRunner {
  readonly describe: (title: string, body: () => void) => unknown
  /** @param milliseconds the time limit of the test, for a runner that takes it. */
  readonly it: (title: string, body: () => Promise<void>, milliseconds?: number) => unknown
}

// Seconds for one rule.
const patience = 30
// `keep` ends first, with a clearer message.
const milliseconds = 3 * patience * 1000

/** @throws ConfigurationError without a test runner. */
export const contractOf =
  (rules: readonly ContractRule[]) =>
  (title: string, open: Open, { describe, it }: TestRunner = runnerInScope()): void => {
    describe(title, () => {
      for (const rule of rules) {
        const test = function (this: unknown) {
          // Mocha takes the timeout from inside the test.
          if (isRecord(this) && typeof this['timeout'] === 'function') this['timeout'](milliseconds)
          return keep(rule, open)
        }
        it(rule.title, test, milliseconds)
      }
    })
  }

export const checkOf =
  (rules: readonly ContractRule[]) =>
  async (open: Open): Promise<readonly Verdict[]> => {
    const verdicts: Verdict[] = []
    for (const rule of rules) {
      const problem = await keep(rule, open).then(() => undefined, asError)
      verdicts.push({ rule: rule.title, problem })
    }
    return verdicts
  }

function runnerInScope(): TestRunner {
  const runner: unknown = { describe: Reflect.get(globalThis, 'describe'), it: Reflect.get(globalThis, 'it') }
  if (isTestRunner(runner)) return runner
  const message = 'must be { describe, it } of the test runner, for example from node:test or vitest.'
  throw new ConfigurationError('The contract cannot run:', [{ path: 'runner', message }])
}

const isTestRunner = (value: unknown): value is TestRunner =>
  isRecord(value) && typeof value['describe'] === 'function' && typeof value['it'] === 'function'

async function keep(rule: ContractRule, open: Open): Promise<void> {
  const underTest = await inTime(Promise.resolve().then(open))
  try {
    await inTime(rule.run(underTest))
  } finally {
    await underTest.close?.()
  }
}

function inTime<T>(act: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error(`The store took more than ${patience} seconds.`))
    const timer = setTimeout(late, patience * 1000)
    void act.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

// Not `instanceof`: Jest's realm has another Error than node:assert.
const asError = (reason: unknown): Error => (types.isNativeError(reason) ? reason : new Error(String(reason)))

export async function pass(underTest: StoreUnderTest, seconds: number): Promise<void> {
  // A timer may fire a part of a millisecond early.
  if (underTest.advance === undefined) await wait(seconds * 1000 + 5)
  else await underTest.advance(seconds)
}

type Acts = Readonly<Record<string, (...words: string[]) => Result | Promise<Result>>>
type Result = string | number | boolean | void | readonly (string | void)[]

// Steps with `; ` between: an act, its words, and after ` = ` its result. `*` is the odd name.
export const rulesOf = (
  actsOf: (underTest: StoreUnderTest) => Acts,
  rules: Readonly<Record<string, string>>,
  odd = '*',
): readonly ContractRule[] =>
  Object.entries(rules).map(([title, steps]) => ({
    title,
    async run(underTest) {
      const acts: Acts = { wait: (seconds) => pass(underTest, Number(seconds)), ...actsOf(underTest) }
      for (const step of steps.split('; ')) await take(step, acts, (word) => word.replace('*', () => odd))
    },
  }))

async function take(step: string, acts: Acts, named: (word: string) => string): Promise<void> {
  const [act = '', expected] = step.split(' = ')
  const [name = '', ...words] = act.split(' ')
  const perform = acts[name]
  if (perform === undefined) throw new Error(`No act has the name ${name}.`)
  const result = await perform(...words.map(named))
  if (expected !== undefined) equal(`${act} = ${shown(result)}`, `${act} = ${named(expected)}`)
}

const shown = (result: Result): string =>
  typeof result === 'object' ? result.join(' ') || 'none' : String(result ?? 'none')
