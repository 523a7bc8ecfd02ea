import { refuseProduction } from './refuse-production'

refuseProduction()

export { approve, type Agent, type ApprovedRequest, type AuthorizationRequest } from './approve'
export { expectRefused, type HttpResponse } from './expect-refused'
export { mintToken } from './mint-token'
export { testClock, type TestClock } from './test-clock'
export type { ReceivedTokenResponse } from './token-response'
export type { MintRequest } from '../testing-door'

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
export type { Open, ContractRule, UnderTest, Verdict } from './rule'
export type { TestRunner } from './suite'
