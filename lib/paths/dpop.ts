export { dpop, type BaseUrl, type DpopNonceOptions, type DpopOptions } from '../dpop/dpop'
export type { JwsAlgorithm as DpopAlgorithm } from '../jwt/verify-jwt'
