export { dpop } from '../dpop/dpop'
export type { DpopNonceOptions, DpopOptions } from '../dpop/dpop-options'
export type { JwsAlgorithm as DpopAlgorithm } from '../jwt/verify-jwt'
export type { BaseUrl } from '../dpop/proof-check'
