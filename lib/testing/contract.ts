import { authorizationStoreRules, type StoreUnderTest } from './authorization-store/rules'
import { clientRegistryRules, type ClientsUnderTest } from './client-registry/rules'
import { countersRules, type CountersUnderTest } from './counters-rules'
import { check, type Open, type Verdict } from './rule'
import { suite, type TestRunner } from './suite'

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

/** The same for `Counters`. No two rules use the same key. @throws ConfigurationError where there is no runner. */
export function countersContract(title: string, open: Open<CountersUnderTest>, runner?: TestRunner): void {
  suite(title, countersRules, open, runner)
}

/**
 * The same for a `ClientRegistry`, which must be empty when it is opened.
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
