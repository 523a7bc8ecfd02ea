export { dpop } from '../dpop/dpop'
export type { DpopNonceOptions, DpopOptions } from '../dpop/dpop-options'
export type { DpopAlgorithm } from '../dpop/proof-key'
export type { BaseUrl } from '../dpop/proof-check'
