export {
  authorizationStoreContract,
  checkAuthorizationStore,
  checkClientRegistry,
  checkCounters,
  clientRegistryContract,
  countersContract,
} from './contract'
export { authorizationStoreRules, type StoreUnderTest } from './authorization-store/rules'
export { clientRegistryRules, type ClientsUnderTest } from './client-registry/rules'
export { countersRules, type CountersUnderTest } from './counters-rules'
export type { Open, Rule, UnderTest, Verdict } from './rule'
export type { TestRunner } from './suite'
