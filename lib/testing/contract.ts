import { ConfigurationError, isRecord } from '../primitives/options-reader'
import { additionRules, changeRules, type ClientsUnderTest } from './client-registry-rules'
import { authorizationIndexRules, type IndexUnderTest } from './authorization-index-rules'
import { consentStoreRules, type ConsentsUnderTest } from './consent-store-rules'
import { countersRules, type CountersUnderTest } from './counters-rules'
import { dynamicClientStoreRules, type DynamicClientsUnderTest } from './dynamic-client-rules'
import { keyStoreRules, type KeyStoreUnderTest } from './key-store-rules'
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
import {
  check,
  type ContractRule,
  keep,
  type Open,
  patience,
  type UnderTest,
  type Verdict,
} from './contract-rule'

/** The functions of a test runner that a contract needs. Jest, Vitest, Mocha and `node:test` have them. */
export interface TestRunner {
  readonly describe: (title: string, body: () => void) => unknown
  /** @param milliseconds the time that the test may take, for a runner with such a parameter. */
  readonly it: (title: string, body: () => Promise<void>, milliseconds?: number) => unknown
}

/** Defines a group of tests, one test for each rule. */
function suite<Subject extends UnderTest>(
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
      // The runner waits longer than `keep`, which bounds opening and running by itself, with a clearer message.
      it(rule.title, test, milliseconds)
    }
  })
}

const milliseconds = 3 * patience * 1000

// Mocha takes the timeout from inside the test.
function allowTime(context: unknown): void {
  if (isRecord(context) && typeof context['timeout'] === 'function') context['timeout'](milliseconds)
}

function runnerInScope(): TestRunner {
  const runner: unknown = { describe: Reflect.get(globalThis, 'describe'), it: Reflect.get(globalThis, 'it') }
  if (isTestRunner(runner)) return runner
  throw new ConfigurationError('The contract cannot run:', [
    {
      path: 'runner',
      message: 'must be { describe, it } of the test runner, for example from node:test or vitest.',
    },
  ])
}

function isTestRunner(value: unknown): value is TestRunner {
  return isRecord(value) && typeof value['describe'] === 'function' && typeof value['it'] === 'function'
}

export type { StoreUnderTest } from './record-rules'

/** The rules of every `AuthorizationStore`. */
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

/** The rules of every `ClientRegistry`. */
export const clientRegistryRules: readonly ContractRule<ClientsUnderTest>[] = [
  ...additionRules,
  ...changeRules,
]

/**
 * Defines a group of tests, one for each rule of an `AuthorizationStore`. No two rules use the same id, so one
 * database can serve all of them.
 *
 * @param open opens the store under test; runs before each test.
 * @param runner the functions of the test runner. Default: the globals `describe` and `it`.
 * @throws ConfigurationError if there is no test runner.
 */
export function authorizationStoreContract(
  title: string,
  open: Open<StoreUnderTest>,
  runner?: TestRunner,
): void {
  suite(title, authorizationStoreRules, open, runner)
}

/**
 * Defines a group of tests, one for each rule of `Counters`. No two rules use the same key.
 *
 * @param open opens the counters under test; runs before each test.
 * @param runner the functions of the test runner. Default: the globals `describe` and `it`.
 * @throws ConfigurationError if there is no test runner.
 */
export function countersContract(title: string, open: Open<CountersUnderTest>, runner?: TestRunner): void {
  suite(title, countersRules, open, runner)
}

/**
 * Defines a group of tests, one for each rule of a `ClientRegistry`.
 *
 * @param open opens the registry under test, which must be empty; runs before each test.
 * @param runner the functions of the test runner. Default: the globals `describe` and `it`.
 * @throws ConfigurationError if there is no test runner.
 */
export function clientRegistryContract(
  title: string,
  open: Open<ClientsUnderTest>,
  runner?: TestRunner,
): void {
  suite(title, clientRegistryRules, open, runner)
}

/**
 * Defines a group of tests, one for each rule of a `DynamicClientStore`.
 *
 * @param open opens the store under test, which must be empty; runs before each test.
 * @param runner the functions of the test runner. Default: the globals `describe` and `it`.
 * @throws ConfigurationError if there is no test runner.
 */
export function dynamicClientStoreContract(
  title: string,
  open: Open<DynamicClientsUnderTest>,
  runner?: TestRunner,
): void {
  suite(title, dynamicClientStoreRules, open, runner)
}

/**
 * Defines a group of tests, one for each rule of a `KeyStore`. No two rules use the same name.
 *
 * @param open opens the store under test; runs before each test.
 * @param runner the functions of the test runner. Default: the globals `describe` and `it`.
 * @throws ConfigurationError if there is no test runner.
 */
export function keyStoreContract(title: string, open: Open<KeyStoreUnderTest>, runner?: TestRunner): void {
  suite(title, keyStoreRules, open, runner)
}

/**
 * Defines a group of tests, one for each rule of an `AuthorizationIndex`. No two rules use the same owner.
 *
 * @param open opens the index under test; runs before each test.
 * @param runner the functions of the test runner. Default: the globals `describe` and `it`.
 * @throws ConfigurationError if there is no test runner.
 */
export function authorizationIndexContract(
  title: string,
  open: Open<IndexUnderTest>,
  runner?: TestRunner,
): void {
  suite(title, authorizationIndexRules, open, runner)
}

/**
 * Defines a group of tests, one for each rule of a `ConsentStore`. No two rules use the same owner.
 *
 * @param open opens the store under test; runs before each test.
 * @param runner the functions of the test runner. Default: the globals `describe` and `it`.
 * @throws ConfigurationError if there is no test runner.
 */
export function consentStoreContract(
  title: string,
  open: Open<ConsentsUnderTest>,
  runner?: TestRunner,
): void {
  suite(title, consentStoreRules, open, runner)
}

/**
 * Runs every rule of {@link authorizationStoreContract} in order, without a test runner. Never rejects: the verdicts
 * contain the errors.
 */
export function checkAuthorizationStore(open: Open<StoreUnderTest>): Promise<readonly Verdict[]> {
  return check(authorizationStoreRules, open)
}

/**
 * Runs every rule of {@link countersContract} in order, without a test runner. Never rejects: the verdicts contain
 * the errors.
 */
export function checkCounters(open: Open<CountersUnderTest>): Promise<readonly Verdict[]> {
  return check(countersRules, open)
}

/**
 * Runs every rule of {@link clientRegistryContract} in order, without a test runner. Never rejects: the verdicts
 * contain the errors.
 */
export function checkClientRegistry(open: Open<ClientsUnderTest>): Promise<readonly Verdict[]> {
  return check(clientRegistryRules, open)
}

/**
 * Runs every rule of {@link dynamicClientStoreContract} in order, without a test runner. Never rejects: the verdicts
 * contain the errors.
 */
export function checkDynamicClientStore(open: Open<DynamicClientsUnderTest>): Promise<readonly Verdict[]> {
  return check(dynamicClientStoreRules, open)
}

/**
 * Runs every rule of {@link keyStoreContract} in order, without a test runner. Never rejects: the verdicts contain the
 * errors.
 */
export function checkKeyStore(open: Open<KeyStoreUnderTest>): Promise<readonly Verdict[]> {
  return check(keyStoreRules, open)
}

/**
 * Runs every rule of {@link authorizationIndexContract} in order, without a test runner. Never rejects: the verdicts
 * contain the errors.
 */
export function checkAuthorizationIndex(open: Open<IndexUnderTest>): Promise<readonly Verdict[]> {
  return check(authorizationIndexRules, open)
}

/**
 * Runs every rule of {@link consentStoreContract} in order, without a test runner. Never rejects: the verdicts contain
 * the errors.
 */
export function checkConsentStore(open: Open<ConsentsUnderTest>): Promise<readonly Verdict[]> {
  return check(consentStoreRules, open)
}
