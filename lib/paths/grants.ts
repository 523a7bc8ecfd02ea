export {
  password,
  type NormalizeName,
  type PasswordLimits,
  type PasswordOptions,
  type VerifyPassword,
} from '../token-endpoint/grant-types/password/password'
export {
  bcryptPasswords,
  hashPassword,
  type FindPasswordOwner,
  type PasswordOwner,
} from '../token-endpoint/grant-types/password/bcrypt-passwords'
export type { Assertion, OwnerOfAssertion } from '../token-endpoint/grant-types/assertion'
export { jwtBearer, type JwtBearerOptions } from '../token-endpoint/grant-types/jwt-bearer'
export type { PlainIssuer, TrustedIssuer } from '../jwt/trusted-issuers'
export {
  tokenExchange,
  type ExchangeApproval,
  type ExchangePolicy,
  type ExchangeRequest,
  type TokenExchangeOptions,
} from '../token-endpoint/grant-types/token-exchange/token-exchange'
export type {
  SecurityToken,
  SecurityTokenClaims,
  VerifySecurityToken,
} from '../token-endpoint/grant-types/token-exchange/security-token'
