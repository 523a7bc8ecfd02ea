export { privateKeyJwt, type PrivateKeyJwtOptions } from '../client-authentication/private-key-jwt'
export {
  signingKeys,
  type GivenKeysOptions,
  type SharedKeysOptions,
  type SigningKeys,
  type SigningKeysOptions,
} from '../jwt/signing-keys/signing-keys'
export type { GivenKey, PrivateSigningKey, RemoteSigningKey } from '../jwt/signing-keys/given-keys'
export {
  manageSigningKeys,
  type KeyManagement,
  type KeyManagementOptions,
  type ListedKey,
} from '../jwt/signing-keys/manage-signing-keys'
export type { KeyRing } from '../jwt/signing-keys/key-ring'
export type { SigningAlgorithm } from '../jwt/signing-keys/signing-algorithm'
export {
  jwtAccessTokenReader,
  jwtAccessTokens,
  type JwtAccessTokensOptions,
} from '../extensions/jwt-access-tokens/jwt-access-tokens'
export type { HostClaims, JwtClaimsGrant } from '../extensions/jwt-access-tokens/access-token-claims'
export type { IssuerKeys } from '../jwt/trusted-issuers'
