export {
  type NormalizeName,
  password,
  type PasswordLimits,
  type PasswordOptions,
  type VerifyPassword,
} from '../token-endpoint/grant-types/password/password'
export * from '../token-endpoint/grant-types/password/bcrypt-passwords'
export type { Assertion, OwnerOfAssertion } from '../token-endpoint/grant-types/assertion'
export * from '../token-endpoint/grant-types/jwt-bearer'
export type { PlainIssuer, TrustedIssuer } from '../jwt/trusted-issuers'
export * from '../token-endpoint/grant-types/token-exchange/token-exchange'
export type {
  SecurityToken,
  SecurityTokenClaims,
  VerifySecurityToken,
} from '../token-endpoint/grant-types/token-exchange/security-token'
