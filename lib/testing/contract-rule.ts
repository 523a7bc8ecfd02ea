import { deepEqual } from 'node:assert/strict'
import { setTimeout } from 'node:timers'
import { setTimeout as wait } from 'node:timers/promises'
import { types } from 'node:util'

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

/** Seconds for one rule: a store that never answers must not delay the others. */
export const patience = 30

export async function pass(underTest: UnderTest, seconds: number): Promise<void> {
  // A timer may fire a part of a millisecond early.
  if (underTest.advance === undefined) await wait(seconds * 1000 + 5)
  else await underTest.advance(seconds)
}

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

// Not `instanceof`: Jest's realm has another Error than node:assert.
const asError = (reason: unknown): Error => (types.isNativeError(reason) ? reason : new Error(String(reason)))

/** Equal as JSON: an undefined member equals a missing one. */
export function same(found: unknown, expected: unknown): void {
  deepEqual(plain(found), plain(expected))
}

function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}
