import { deepEqual } from 'node:assert/strict'
import { setTimeout } from 'node:timers'
import { setTimeout as wait } from 'node:timers/promises'
import { types } from 'node:util'

/** One rule of a contract. */
export interface ContractRule<Subject> {
  /** What must hold. Begins with what the rule is about, such as the name of a function. */
  readonly title: string
  /** Rejects if the rule does not hold, with an `AssertionError` that shows the actual result. */
  run(subject: Subject): Promise<void>
}

/** What only the author of a store can do with the store. */
export interface UnderTest {
  /**
   * Makes the store believe that this many seconds have passed. Without this function, the rules of expiry wait for
   * the real clock, up to half a minute for a whole contract.
   */
  advance?(seconds: number): void | Promise<void>
  /** Closes the store. Runs after each rule, whether the rule held or not. */
  close?(): void | Promise<void>
}

/** Opens the store for one rule. Runs once for each rule. */
export type Open<Subject extends UnderTest> = () => Subject | Promise<Subject>

/** The result of one rule. */
export interface Verdict {
  /** The title of the rule. */
  readonly rule: string
  /** The reason why the rule does not hold; undefined if it holds. */
  readonly problem: Error | undefined
}

/** Seconds that one rule may take. A store that never answers must not delay the other rules. */
export const patience = 30

/** Lets seconds pass for a store: by its function `advance`, or by real time. */
export async function pass(underTest: UnderTest, seconds: number): Promise<void> {
  // A timer may fire a part of a millisecond early.
  if (underTest.advance === undefined) await wait(seconds * 1000 + 5)
  else await underTest.advance(seconds)
}

/** Opens a store, runs one rule on it, and closes the store. */
export async function keep<Subject extends UnderTest>(
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

/** Runs every rule in order, without a test runner. */
export async function check<Subject extends UnderTest>(
  rules: readonly ContractRule<Subject>[],
  open: Open<Subject>,
): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = []
  for (const rule of rules) {
    const problem = await keep(rule, open).then(() => undefined, asError)
    verdicts.push({ rule: rule.title, problem })
  }
  return verdicts
}

function inTime<T>(act: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error(`The store took more than ${patience} seconds.`))
    const timer = setTimeout(late, patience * 1000)
    void act.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

// Not `instanceof`: Jest runs tests in a realm of their own, whose Error is not the one of node:assert.
const asError = (reason: unknown): Error => (types.isNativeError(reason) ? reason : new Error(String(reason)))

/** Asserts that two values are equal as JSON. A member that is undefined equals a missing member. */
export function same(found: unknown, expected: unknown): void {
  deepEqual(plain(found), plain(expected))
}

function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}
