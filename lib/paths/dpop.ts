export * from '../dpop/dpop'
export type { JwsAlgorithm as DpopAlgorithm } from '../jwt/verify-jwt'
