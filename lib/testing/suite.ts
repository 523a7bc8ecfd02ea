import { ConfigurationError, isRecord } from '../protocol/configuration'
import { keep, patience, type Open, type ContractRule, type UnderTest } from './rule'

/** What a contract needs of a test runner: Jest, Vitest, Mocha and `node:test` have it. */
export interface TestRunner {
  readonly describe: (title: string, body: () => void) => unknown
  /** @param milliseconds how long the test may take, where the runner takes it so. */
  readonly it: (title: string, body: () => Promise<void>, milliseconds?: number) => unknown
}

/** Makes a group of tests, one for each rule. */
export function suite<Subject extends UnderTest>(
  title: string,
  rules: readonly ContractRule<Subject>[],
  open: Open<Subject>,
  { describe, it }: TestRunner = runnerInScope(),
): void {
  describe(title, () => {
    for (const rule of rules) {
      const test = function (this: unknown) {
        allowTime(this)
        return keep(rule, open)
      }
      // Opening, running and closing end by themselves, each in its time, and tell more than a runner would.
      it(rule.title, test, milliseconds)
    }
  })
}

const milliseconds = 3 * patience * 1000

// Mocha takes it from inside the test.
function allowTime(context: unknown): void {
  if (isRecord(context) && typeof context['timeout'] === 'function') context['timeout'](milliseconds)
}

function runnerInScope(): TestRunner {
  const runner: unknown = { describe: Reflect.get(globalThis, 'describe'), it: Reflect.get(globalThis, 'it') }
  if (isTestRunner(runner)) return runner
  throw new ConfigurationError('The contract cannot run:', [
    {
      path: 'runner',
      message: "must be { describe, it } of the test runner, as node:test or 'vitest' has them.",
    },
  ])
}

function isTestRunner(value: unknown): value is TestRunner {
  return isRecord(value) && typeof value['describe'] === 'function' && typeof value['it'] === 'function'
}
