export { createAuthorizationServer, type AuthorizationServer } from './server/authorization-server'
export { createBearerGuard, type RemoteGuard, type RemoteGuardOptions } from './server/bearer-guard'
export {
  createJwtBearerGuard,
  type JwtBearerGuard,
  type JwtBearerGuardOptions,
} from './server/jwt-bearer-guard'
export { createSecureServer, createServer } from './node-http/create-server'
export type { AuthorizationServerOptions } from './config/options'
export type { CorsOption, CorsOrigins } from './cors/cors'
export type { RateLimitOptions } from './http/network-limit'
export type { StandaloneGuardOptions } from './server/bearer-guard'
export type { Lifecycle } from './server/lifecycle'

export type { Client, ClientRegistration } from './protocol/client'
export type { ServerCapabilities } from './protocol/parse-client'
export {
  generateClientSecret,
  hashClientSecret,
  type GeneratedClientSecret,
} from './client-authentication/client-secret'
export type {
  AuthenticatingServer,
  PresentedCredential,
  ClientAuthenticationMethod,
  ClientCertificate,
  CredentialSources,
  Verification,
  Throttle,
} from './client-authentication/method'
export { privateKeyJwt, type PrivateKeyJwtOptions } from './client-authentication/private-key-jwt'
export type { DocumentFetch, FetchedDocument } from './document-fetch/document-fetch'
export type { ClientAuthenticationLimits } from './client-authentication/credential-throttle'
export type { Approval, RedirectMethod, ResponseType } from './authorization-endpoint/response-types'
export { implicit, type ImplicitOptions } from './authorization-endpoint/response-types'
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
} from './token-endpoint/grant-types/password/password'
export type { IssueLimitOptions } from './rate-limit/issue-limits'
export type { Limit, LimitOption } from './rate-limit/limit'
export type { Assertion, OwnerOfAssertion } from './token-endpoint/grant-types/assertion'
export { jwtBearer, type JwtBearerOptions } from './token-endpoint/grant-types/jwt-bearer/jwt-bearer'
export type { IdentityAssertionOptions } from './token-endpoint/grant-types/jwt-bearer/id-jag'
export type { TrustedIssuer } from './token-endpoint/grant-types/jwt-bearer/jwt-assertion'
export { tokenExchange } from './token-endpoint/grant-types/token-exchange/token-exchange'
export type { TokenExchangeOptions } from './token-endpoint/grant-types/token-exchange/token-exchange'
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
export type { SamlIssuer } from './token-endpoint/grant-types/saml2-bearer/saml2-bearer'
export { approveWithAccessToken, approveWithCode } from './authorization/decision'
export type { IssueContext, Lifetimes } from './authorization/transition'
export { issueAccessToken, type Issuance, type Issued } from './authorization/issue'
export type { DirectAuthorization } from './authorization/issue'
export type { OneTimeUse } from './authorization/one-time-use'
export { ConfigurationError, type ConfigurationIssue } from './protocol/configuration'
export type { ResourceOwner } from './protocol/resource-owner'

export type { AuthorizationStore, StoredAuthorization } from './stores/authorization-store'
export type { StoreWarning } from './stores/authorization-store'
export { metadataDocuments, type MetadataDocumentsOptions } from './client-id-metadata/metadata-documents'
export type { ClientSource, ClientSourceServer, OpenClients, RegisteredClients } from './stores/client-source'
export type { SharedCache } from './stores/shared-cache'
export type { FindClient } from './protocol/client'
export type { ClientRegistry } from './stores/client-store'
export type { ClientStore } from './stores/client-store'
export type { DynamicClient, DynamicClientStore } from './stores/dynamic-client-store'
export type { Count, Counters } from './stores/counters'
export { memoryCounters, type MemoryCountersOptions } from './stores/memory-counters'
export { memoryStore, type MemoryStore, type MemoryStoreOptions } from './stores/memory-store'
export { memoryClients, type MemoryClientsOptions } from './stores/memory-clients'
export { memoryDynamicClients, type MemoryDynamicClientsOptions } from './stores/memory-dynamic-clients'
export { redisStore, type RedisStore, type RedisStoreOptions } from './stores/redis/redis-store'
export type { PipelinedCommands, RedisCommands } from './stores/redis/commands'
export type { ReplicaWait } from './stores/redis/replicas'
export {
  expiryOf,
  type Active,
  type Approved,
  type Authorization,
  type Pending,
  type RequestedAuthorization,
} from './authorization/authorization'
export { decodeAuthorization } from './authorization/codec'
export { encodeAuthorization } from './authorization/codec'

export type { ClientRegistrar } from './registration/client-registrar'
export { dropOldClientSecrets, rotateClientSecret } from './registration/client-secrets'
export { disableClient, enableClient } from './registration/change-registration'
export { registerClient, type ClientMetadata, type IssuedCredentials } from './registration/register-client'

export type { FoundAccess } from './authorization/lookup'
export type { Access } from './authorization/lookup'
export type { ClientStrategy } from './passport/strategies'
export type { GuardedAccess, JwtAccess } from './resource-server/admit'
export type { AuthInfo } from './http/auth-info'
export type { BearerGuard, BearerGuardOptions } from './http/bearer-guard'
export type { GuardDefaults } from './http/guard-defaults'
export type { ProtectedResourcePart } from './http/protected-resource'
export type { ProtectedResourceMembers } from './protected-resource-metadata/protected-resource-metadata'
export type { ChallengeOptions } from './resource-server/challenge'
export type {
  AuditEvent,
  AuditEvents,
  AuthorizationServerEvents,
  EventOrigin,
  FailureEvent,
  GrantEvent,
  RefusalEvent,
  ThrottleEvent,
} from './audit/events'
export type { PriorConsentQuestion } from './authorization-endpoint/authorize'
export type { ConsentView } from './http/pages/consent-page'
export type { ErrorView } from './http/pages/pages'

export type { AuthenticationMethodDescription } from './protocol/client'
export type {
  Endpoint,
  EndpointAnswer,
  EndpointAnswering,
  EndpointDescription,
  EndpointMethod,
  EndpointRequest,
} from './protocol/endpoint'
export type { ExtensionData, ExtensionMetadata, Json } from './protocol/extension'
export type {
  ConsentFact,
  ConsentTerms,
  ExchangedToken,
  Extension,
  ExtensionAuthorizationRequest,
  ExtensionConsentRequest,
  ExtensionRequest,
  ExtensionResourceRequest,
  ExtensionTokenRequest,
  KeptData,
  TokenRestriction,
} from './protocol/extension'
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
export { grantableScope } from './protocol/scope'
export type { Parameters } from './protocol/parameters'
export type { ScopeImplications } from './protocol/implied-scope'
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
export { mcp, type McpOptions, type McpServerOptions } from './mcp/mcp'
export { mac } from './token-types/mac'
export type { MacOptions } from './token-types/mac'
export type { MacAlgorithm } from './token-types/mac'
export type { DynamicRegistrationOptions, VerifyInitialAccessToken } from './dynamic-registration/options'
export type { PkceRequirement } from './extensions/pkce'
export type { RedirectUriRule } from './protocol/redirect-uri'
export type { ResourceOptions } from './resource-indicators/resources'
export type { Scope } from './protocol/scope'
