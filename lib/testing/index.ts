// The test kit issues tokens without an approval.
if (process.env['NODE_ENV'] === 'production')
  throw new Error(
    'express-authorization-server/testing does not load if NODE_ENV is production, because it issues tokens without an approval. Import it only from tests, and run tests with another NODE_ENV.',
  )

export { approve, type Agent, type ApprovedRequest, type AuthorizationRequest } from './approve'
export { expectRefused } from './expect-refused'
export type { HttpResponse } from './refusals'
export { mintToken } from './mint-token'
export { testClock, type TestClock } from './mint-token'
export type { ReceivedTokenResponse } from './approve'
export type { MintRequest } from '../protocol/test-door'

export {
  authorizationIndexContract,
  authorizationIndexRules,
  authorizationStoreContract,
  checkAuthorizationIndex,
  checkAuthorizationStore,
  checkClientRegistry,
  checkConsentStore,
  checkCounters,
  checkDynamicClientStore,
  checkKeyStore,
  clientRegistryContract,
  consentStoreContract,
  countersContract,
  dynamicClientStoreContract,
  keyStoreContract,
} from './contract'
export { authorizationStoreRules, type StoreUnderTest } from './contract'
export { clientRegistryRules, type ClientsUnderTest } from './contract'
export { dynamicClientStoreRules, type DynamicClientsUnderTest } from './dynamic-client-rules'
export type { IndexUnderTest } from './authorization-index-rules'
export { consentStoreRules, type ConsentsUnderTest } from './consent-store-rules'
export { keyStoreRules, type KeyStoreUnderTest } from './key-store-rules'
export { countersRules, type CountersUnderTest } from './counters-rules'
export type { Open, ContractRule, UnderTest, Verdict } from './contract-rule'
export type { TestRunner } from './contract'
