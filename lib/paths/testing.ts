// The test kit issues tokens without an approval.
if (process.env['NODE_ENV'] === 'production')
  throw new Error(
    'express-authorization-server/testing does not load if NODE_ENV is production, because it issues tokens without an approval. Import it only from tests, and run tests with another NODE_ENV.',
  )

export {
  approve,
  type Agent,
  type ApprovedRequest,
  type AuthorizationRequest,
  mintToken,
  type ReceivedTokenResponse,
  testClock,
  type TestClock,
} from '../testing/tokens'
export { expectRefused } from '../testing/expect-refused'
export type { HttpResponse } from '../testing/expect-refused'
export type { MintRequest } from '../protocol/test-door'

export { checkStore, storeContract, storeRules } from '../testing/store-rules'
export type { Open, ContractRule, StoreUnderTest, TestRunner, Verdict } from '../testing/contract'
