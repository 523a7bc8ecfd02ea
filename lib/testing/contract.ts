import { equal } from 'node:assert/strict'
import { setTimeout } from 'node:timers'
import { setTimeout as wait } from 'node:timers/promises'
import { types } from 'node:util'
import { ConfigurationError } from '../primitives/configuration-error'
import { isRecord } from '../primitives/values'

export interface ContractRule<Subject> {
  /** Begins with its subject, such as the name of a function. */
  readonly title: string
  /** Rejects with an `AssertionError` that shows the actual result. */
  run(subject: Subject): Promise<void>
}

export interface UnderTest {
  /**
   * Makes the store believe that this many seconds have passed. Without it, the rules of expiry wait in real
   * time, up to half a minute for a contract.
   */
  advance?(seconds: number): void | Promise<void>
  /** Runs after each rule, held or not. */
  close?(): void | Promise<void>
}

/** Opens the store, once for each rule. */
export type Open<Subject extends UnderTest> = () => Subject | Promise<Subject>

export interface Verdict {
  readonly rule: string
  /** Why the rule, or the store, failed; undefined if the rule holds. */
  readonly problem: Error | undefined
}

/** What a contract needs of a test runner: Jest, Vitest, Mocha and `node:test` have it. Default: the globals. */
export interface TestRunner {
  readonly describe: (title: string, body: () => void) => unknown
  /** @param milliseconds the time limit of the test, for a runner that takes it. */
  readonly it: (title: string, body: () => Promise<void>, milliseconds?: number) => unknown
}

/**
 * A test for each rule.
 *
 * @throws ConfigurationError without a test runner.
 */
type Contract<Subject extends UnderTest> = (title: string, open: Open<Subject>, runner?: TestRunner) => void

/** A contract without a test runner. Never rejects: see {@link Verdict}. */
type Check<Subject extends UnderTest> = (open: Open<Subject>) => Promise<readonly Verdict[]>

/** Seconds for one rule: a store that never answers must not delay the others. */
const patience = 30
// Longer than `keep`, whose own bound has a clearer message.
const milliseconds = 3 * patience * 1000

export const contractOf =
  <Subject extends UnderTest>(rules: readonly ContractRule<Subject>[]): Contract<Subject> =>
  (title, open, { describe, it } = runnerInScope()) => {
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
  <Subject extends UnderTest>(rules: readonly ContractRule<Subject>[]): Check<Subject> =>
  async (open) => {
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

async function keep<Subject extends UnderTest>(
  rule: ContractRule<Subject>,
  open: Open<Subject>,
): Promise<void> {
  const subject = await inTime(Promise.resolve().then(open))
  try {
    await inTime(rule.run(subject))
  } finally {
    await subject.close?.()
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

export async function pass(underTest: UnderTest, seconds: number): Promise<void> {
  // A timer may fire a part of a millisecond early.
  if (underTest.advance === undefined) await wait(seconds * 1000 + 5)
  else await underTest.advance(seconds)
}

type Acts = Readonly<Record<string, (...words: string[]) => Result | Promise<Result>>>
type Result = string | number | boolean | void | readonly (string | void)[]

/** By their titles: steps with `; ` between, each an act, its words, and after ` = ` its result. `*` is the odd name. */
export const rulesOf = <Subject extends UnderTest>(
  actsOf: (subject: Subject) => Acts,
  rules: Readonly<Record<string, string>>,
  odd = '*',
): readonly ContractRule<Subject>[] =>
  Object.entries(rules).map(([title, steps]) => ({
    title,
    async run(subject) {
      const acts: Acts = { wait: (seconds) => pass(subject, Number(seconds)), ...actsOf(subject) }
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

export function labelled<T>(make: (label: string) => T): (label: string) => T {
  const made = new Map<string, T>()
  return (label) => {
    const value = made.get(label) ?? make(label)
    made.set(label, value)
    return value
  }
}

export const atOnce = <T>(count: number, act: (number: number) => Promise<T>): Promise<readonly T[]> =>
  Promise.all(Array.from({ length: count }, (_, number) => act(number)))
