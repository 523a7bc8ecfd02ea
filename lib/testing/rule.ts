import { deepEqual } from 'node:assert/strict'
import { setTimeout } from 'node:timers'
import { setTimeout as wait } from 'node:timers/promises'
import { types } from 'node:util'

/** One rule of a contract. */
export interface ContractRule<Subject> {
  /** What must be so, beginning with what it is about. */
  readonly title: string
  /** Rejects, with an `AssertionError` that shows what came instead, where it is not so. */
  run(subject: Subject): Promise<void>
}

/** What only whoever wrote a store can do with it. */
export interface UnderTest {
  /**
   * Makes the store believe that so many seconds have passed. Without it the rules of expiry wait for the clock, some
   * 20 seconds for a whole contract.
   */
  advance?(seconds: number): void | Promise<void>
  /** Called when a rule is through, kept or not. */
  close?(): void | Promise<void>
}

/** Opens what a rule is run on: called for each rule anew. */
export type Open<Subject extends UnderTest> = () => Subject | Promise<Subject>

/** How a rule went. */
export interface Verdict {
  /** Its title. */
  readonly rule: string
  /** Why it was not kept; undefined where it was. */
  readonly problem: Error | undefined
}

/** Seconds that one rule may take; a store that never answers must not hold up the others. */
export const patience = 30

/** Lets seconds pass for a store: by its own word, or by the clock on the wall. */
export async function pass(underTest: UnderTest, seconds: number): Promise<void> {
  // A timer may be early by a part of a millisecond.
  if (underTest.advance === undefined) await wait(seconds * 1000 + 5)
  else await underTest.advance(seconds)
}

/** Runs one rule on a store that was opened for it. */
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

/** Runs every rule, one after the other, without a test runner. */
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
    const late = () => reject(new Error(`It took more than ${patience} seconds.`))
    const timer = setTimeout(late, patience * 1000)
    void act.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

// Not `instanceof`: Jest runs tests in a realm of their own, with another Error than node:assert has.
const asError = (reason: unknown): Error => (types.isNativeError(reason) ? reason : new Error(String(reason)))

/** Fails unless both say the same as JSON: a member that is undefined may as well be missing. */
export function same(found: unknown, expected: unknown): void {
  deepEqual(plain(found), plain(expected))
}

function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}
