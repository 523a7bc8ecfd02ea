export { createAuthorizationServer, type AuthorizationServer } from './authorization-server'
export { createBearerGuard, type RemoteGuard, type RemoteGuardOptions } from './create-bearer-guard'
export {
  createJwtBearerGuard,
  type JwtBearerGuard,
  type JwtBearerGuardOptions,
} from './create-jwt-bearer-guard'
export { createSecureServer, createServer } from './express/create-server'
export type { AuthorizationServerOptions } from './options'
export type { RateLimitOptions } from './resolve-rate-limit'
export type { StandaloneGuardOptions } from './wire-guard'
export type { Lifecycle } from './wire-lifecycle'

export type { Client, ClientRegistration } from './protocol/client'
export type { ServerCapabilities } from './protocol/parse-client'
export {
  generateClientSecret,
  hashClientSecret,
  type GeneratedClientSecret,
} from './client-authentication/client-secret'
export type {
  PresentedCredential,
  ClientAuthenticationMethod,
  ClientCertificate,
  CredentialSources,
  Verification,
  Throttle,
} from './client-authentication/method'
export type { ClientAuthenticationLimits } from './client-authentication/limit-options'
export type { Approval, RedirectMethod, ResponseType } from './authorization-endpoint/response-type'
export { implicit, type ImplicitOptions } from './authorization-endpoint/response-types/implicit'
export {
  mayRefresh,
  type DirectGrant,
  type GrantType,
  type GrantResult,
  type TokenRequest,
} from './token-endpoint/grant-type'
export { password } from './token-endpoint/grant-types/password/password'
export {
  bcryptPasswords,
  hashPassword,
  type FindPasswordOwner,
  type PasswordOwner,
} from './token-endpoint/grant-types/password/bcrypt-passwords'
export type {
  NormalizeName,
  PasswordLimits,
  PasswordOptions,
  VerifyPassword,
} from './token-endpoint/grant-types/password/password-options'
export type { IssueLimitOptions } from './attempts/issue-limits'
export type { Limit, LimitOption } from './attempts/limit'
export type { Assertion, OwnerOfAssertion } from './token-endpoint/grant-types/assertion/assertion'
export { jwtBearer, type JwtBearerOptions } from './token-endpoint/grant-types/jwt-bearer/jwt-bearer'
export type { TrustedIssuer } from './token-endpoint/grant-types/jwt-bearer/trusted-issuer'
export { tokenExchange } from './token-endpoint/grant-types/token-exchange/token-exchange'
export type { TokenExchangeOptions } from './token-endpoint/grant-types/token-exchange/token-exchange-options'
export type {
  ExchangeApproval,
  ExchangePolicy,
  ExchangeRequest,
} from './token-endpoint/grant-types/token-exchange/policy'
export type {
  SecurityToken,
  SecurityTokenClaims,
  VerifySecurityToken,
} from './token-endpoint/grant-types/token-exchange/security-token'
export { saml2Bearer, type Saml2BearerOptions } from './token-endpoint/grant-types/saml2-bearer/saml2-bearer'
export type { SamlIssuer } from './token-endpoint/grant-types/saml2-bearer/trusted-issuers'
export { approveWithAccessToken, approveWithCode } from './authorization/answer'
export type { IssueContext, Lifetimes } from './authorization/circumstances'
export { issueAccessToken, type Issuance, type Issued } from './authorization/issue'
export type { DirectAuthorization } from './authorization/issue-directly'
export type { OneTimeUse } from './authorization/one-time-use'
export { ConfigurationError, type ConfigurationIssue } from './protocol/configuration'
export type { ResourceOwner } from './protocol/resource-owner'

export type { AuthorizationStore, StoredAuthorization } from './stores/authorization-store'
export type { StoreWarning } from './stores/caution'
export type { ClientRegistry } from './stores/client-registry'
export type { ClientStore } from './stores/client-store'
export type { Count, Counters } from './stores/counters'
export { memoryCounters, type MemoryCountersOptions } from './stores/memory-counters'
export { memoryStore, type MemoryStore, type MemoryStoreOptions } from './stores/memory-store'
export { memoryClients, type MemoryClientsOptions } from './stores/memory-clients'
export { redisStore, type RedisStore, type RedisStoreOptions } from './stores/redis-store'
export type { PipelinedCommands, RedisCommands } from './stores/redis-commands'
export type { ReplicaWait } from './stores/redis-replicas'
export {
  expiryOf,
  type Active,
  type Approved,
  type Authorization,
  type Pending,
  type RequestedAuthorization,
} from './authorization/authorization'
export { decodeAuthorization } from './authorization/decode-authorization'
export { encodeAuthorization } from './authorization/encode-authorization'

export type { ClientRegistrar } from './registration/client-registrar'
export { dropOldClientSecrets, rotateClientSecret } from './registration/client-secrets'
export { disableClient, enableClient } from './registration/disable-client'
export { registerClient, type ClientMetadata, type IssuedCredentials } from './registration/register-client'

export type { FoundAccess } from './authorization/find-access'
export type { Access } from './authorization/present-access-token'
export type { ClientStrategy } from './passport/client-strategy'
export type { GuardedAccess, JwtAccess } from './protected-resource/guarded-access'
export type { BearerGuard, BearerGuardOptions } from './express/bearer-guard'
export type {
  AuditEvent,
  AuditEvents,
  AuthorizationServerEvents,
  EventOrigin,
  FailureEvent,
  GrantEvent,
  RefusalEvent,
  ThrottleEvent,
} from './express/events'
export type { PriorConsentQuestion } from './authorization-endpoint/known-approval'
export type { ConsentView } from './express/pages/consent-page'
export type { ErrorView } from './express/pages/error-page'

export type { AuthenticationMethodDescription } from './protocol/authentication-method'
export type { ExtensionData, Json } from './protocol/bindings'
export type { ExtensionAuthorizationRequest, Extension, ExtensionRequest } from './protocol/extension'
export { OAuthError, Throttled, type OAuthErrorCode } from './protocol/oauth-error'
export {
  accessDenied,
  invalidClient,
  invalidGrant,
  invalidRequest,
  invalidScope,
  invalidTarget,
  serverError,
  temporarilyUnavailable,
  tooManyAttempts,
  unauthorizedClient,
} from './protocol/host-errors'
export { reasons, type Reason } from './protocol/reasons'
export { grantableScope } from './protocol/grantable-scope'
export type { Parameters } from './protocol/parameters'
export type { ResponseTypeDescription } from './protocol/response-type'
export type {
  IssueMoment,
  PresentedToken,
  ResourceRequest,
  TokenCheck,
  TokenIssue,
  TokenProperties,
  TokenType,
  TokenTypes,
} from './protocol/token-type'
export { mac } from './token-types/mac/mac'
export type { MacOptions } from './token-types/mac/mac-options'
export type { MacAlgorithm } from './token-types/mac/algorithm'
export type { PkceRequirement } from './extensions/pkce'
export type { Scope } from './protocol/scope'
