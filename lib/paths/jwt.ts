export { privateKeyJwt, type PrivateKeyJwtOptions } from '../client-authentication/private-key-jwt'
export {
  manageSigningKeys,
  signingKeys,
  type GivenKeysOptions,
  type KeyManagement,
  type KeyManagementOptions,
  type ListedKey,
  type SharedKeysOptions,
  type SigningKeys,
  type SigningKeysOptions,
} from '../jwt/signing-keys/signing-keys'
export type {
  GivenKey,
  PrivateSigningKey,
  RemoteSigningKey,
  SigningAlgorithm,
} from '../jwt/signing-keys/signing-key'
export type { KeyRing } from '../jwt/signing-keys/key-ring'
export {
  jwtAccessTokenReader,
  jwtAccessTokens,
  type JwtAccessTokensOptions,
} from '../extensions/jwt-access-tokens/jwt-access-tokens'
export type { HostClaims, JwtClaimsGrant } from '../extensions/jwt-access-tokens/access-token-claims'
export type { IssuerKeys } from '../jwt/trusted-issuers'
