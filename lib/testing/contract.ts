import { ConfigurationError, isRecord } from '../protocol/configuration'
import { additionRules, changeRules, type ClientsUnderTest } from './client-registry-rules'
import { countersRules, type CountersUnderTest } from './counters-rules'
import { raceRules, replacementRules } from './race-rules'
import {
  absenceRules,
  confirmationRules,
  creationRules,
  expiryRules,
  findRules,
  removeRules,
  type StoreUnderTest,
} from './record-rules'
import { check, type ContractRule, keep, type Open, patience, type UnderTest, type Verdict } from './rule'

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

export type { StoreUnderTest } from './record-rules'

/** What every `AuthorizationStore` has to keep. */
export const authorizationStoreRules: readonly ContractRule<StoreUnderTest>[] = [
  ...findRules,
  ...creationRules,
  ...replacementRules,
  ...confirmationRules,
  ...removeRules,
  ...absenceRules,
  ...expiryRules,
  ...raceRules,
]

export type { ClientsUnderTest } from './client-registry-rules'

/** What every `ClientRegistry` has to keep. */
export const clientRegistryRules: readonly ContractRule<ClientsUnderTest>[] = [
  ...additionRules,
  ...changeRules,
]

/**
 * What every `AuthorizationStore` has to keep, as a group of tests. No two rules use the same id, so one database may
 * serve them all.
 *
 * @param open called before each test.
 * @param runner the functions of the test runner. Default: the globals `describe` and `it`.
 * @throws ConfigurationError where there is no runner.
 */
export function authorizationStoreContract(
  title: string,
  open: Open<StoreUnderTest>,
  runner?: TestRunner,
): void {
  suite(title, authorizationStoreRules, open, runner)
}

/** Defines a test for each rule of `Counters`. No two rules use the same key. @throws ConfigurationError where there is no runner. */
export function countersContract(title: string, open: Open<CountersUnderTest>, runner?: TestRunner): void {
  suite(title, countersRules, open, runner)
}

/**
 * Defines a test for each rule of a `ClientRegistry`, which must be empty when it is opened.
 *
 * @throws ConfigurationError where there is no runner.
 */
export function clientRegistryContract(
  title: string,
  open: Open<ClientsUnderTest>,
  runner?: TestRunner,
): void {
  suite(title, clientRegistryRules, open, runner)
}

/** Runs every rule of {@link authorizationStoreContract} without a test runner, in order. Never rejects. */
export function checkAuthorizationStore(open: Open<StoreUnderTest>): Promise<readonly Verdict[]> {
  return check(authorizationStoreRules, open)
}

/** Runs every rule of {@link countersContract} without a test runner, in order. Never rejects. */
export function checkCounters(open: Open<CountersUnderTest>): Promise<readonly Verdict[]> {
  return check(countersRules, open)
}

/** Runs every rule of {@link clientRegistryContract} without a test runner, in order. Never rejects. */
export function checkClientRegistry(open: Open<ClientsUnderTest>): Promise<readonly Verdict[]> {
  return check(clientRegistryRules, open)
}
