import { ConfigurationError } from '../primitives/configuration-error'
import { isRecord } from '../primitives/values'
import { additionRules, changeRules, type ClientsUnderTest, useRules } from './client-registry-rules'
import { indexEntryRules, type IndexUnderTest } from './authorization-index-rules'
import { clientMarkRules } from './client-mark-rules'
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

/** What a contract needs of a test runner: Jest, Vitest, Mocha and `node:test` have it. Default: the globals. */
export interface TestRunner {
  readonly describe: (title: string, body: () => void) => unknown
  /** @param milliseconds the time limit of the test, for a runner that takes it. */
  readonly it: (title: string, body: () => Promise<void>, milliseconds?: number) => unknown
}

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
      // Longer than `keep`, whose own bound has a clearer message.
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

export const authorizationIndexRules: readonly ContractRule<IndexUnderTest>[] = [
  ...indexEntryRules,
  ...clientMarkRules,
]

export type { ClientsUnderTest } from './client-registry-rules'

export const clientRegistryRules: readonly ContractRule<ClientsUnderTest>[] = [
  ...additionRules,
  ...changeRules,
  ...useRules,
]

/**
 * A test for each rule of an `AuthorizationStore`. No two rules use one id, so one database can serve all.
 *
 * @throws ConfigurationError without a test runner.
 */
export function authorizationStoreContract(
  title: string,
  open: Open<StoreUnderTest>,
  runner?: TestRunner,
): void {
  suite(title, authorizationStoreRules, open, runner)
}

/**
 * A test for each rule of `Counters`. No two rules use one key.
 *
 * @throws ConfigurationError without a test runner.
 */
export function countersContract(title: string, open: Open<CountersUnderTest>, runner?: TestRunner): void {
  suite(title, countersRules, open, runner)
}

/**
 * A test for each rule of a `ClientRegistry`, each with an empty registry.
 *
 * @throws ConfigurationError without a test runner.
 */
export function clientRegistryContract(
  title: string,
  open: Open<ClientsUnderTest>,
  runner?: TestRunner,
): void {
  suite(title, clientRegistryRules, open, runner)
}

/**
 * A test for each rule of a `DynamicClientStore`, each with an empty store.
 *
 * @throws ConfigurationError without a test runner.
 */
export function dynamicClientStoreContract(
  title: string,
  open: Open<DynamicClientsUnderTest>,
  runner?: TestRunner,
): void {
  suite(title, dynamicClientStoreRules, open, runner)
}

/**
 * A test for each rule of a `KeyStore`. No two rules use one name.
 *
 * @throws ConfigurationError without a test runner.
 */
export function keyStoreContract(title: string, open: Open<KeyStoreUnderTest>, runner?: TestRunner): void {
  suite(title, keyStoreRules, open, runner)
}

/**
 * A test for each rule of an `AuthorizationIndex`. No two rules use one owner.
 *
 * @throws ConfigurationError without a test runner.
 */
export function authorizationIndexContract(
  title: string,
  open: Open<IndexUnderTest>,
  runner?: TestRunner,
): void {
  suite(title, authorizationIndexRules, open, runner)
}

/**
 * A test for each rule of a `ConsentStore`. No two rules use one owner.
 *
 * @throws ConfigurationError without a test runner.
 */
export function consentStoreContract(
  title: string,
  open: Open<ConsentsUnderTest>,
  runner?: TestRunner,
): void {
  suite(title, consentStoreRules, open, runner)
}

/** {@link authorizationStoreContract} without a test runner. Never rejects: see {@link Verdict}. */
export function checkAuthorizationStore(open: Open<StoreUnderTest>): Promise<readonly Verdict[]> {
  return check(authorizationStoreRules, open)
}

/** {@link countersContract} without a test runner. Never rejects. */
export function checkCounters(open: Open<CountersUnderTest>): Promise<readonly Verdict[]> {
  return check(countersRules, open)
}

/** {@link clientRegistryContract} without a test runner. Never rejects. */
export function checkClientRegistry(open: Open<ClientsUnderTest>): Promise<readonly Verdict[]> {
  return check(clientRegistryRules, open)
}

/** {@link dynamicClientStoreContract} without a test runner. Never rejects. */
export function checkDynamicClientStore(open: Open<DynamicClientsUnderTest>): Promise<readonly Verdict[]> {
  return check(dynamicClientStoreRules, open)
}

/** {@link keyStoreContract} without a test runner. Never rejects. */
export function checkKeyStore(open: Open<KeyStoreUnderTest>): Promise<readonly Verdict[]> {
  return check(keyStoreRules, open)
}

/** {@link authorizationIndexContract} without a test runner. Never rejects. */
export function checkAuthorizationIndex(open: Open<IndexUnderTest>): Promise<readonly Verdict[]> {
  return check(authorizationIndexRules, open)
}

/** {@link consentStoreContract} without a test runner. Never rejects. */
export function checkConsentStore(open: Open<ConsentsUnderTest>): Promise<readonly Verdict[]> {
  return check(consentStoreRules, open)
}
