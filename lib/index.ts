export { createAuthorizationServer, type AuthorizationServer } from './server/authorization-server'
export { createSecureServer, createServer } from './http/create-server'
export type * from './config/options'
export type { LifetimeOptions } from './authorization/lifetimes'
export type * from './doors/plug-in'
export type { CorsOption, CorsOrigins } from './http/cors'
export type { AuthorizationsOptions } from './connected-applications/authorizations-options'
export type { Lifecycle } from './server/lifecycle'
export type {
  AuthorizationList,
  ListedAuthorization,
  OwnerAuthorizations,
  Revoked,
} from './connected-applications/owner-authorizations'
export type { Client, ClientRegistration, FindClient, HostClientMembers } from './protocol/client'
export type { ClientMember, ClientStatement } from './protocol/client'
export {
  generateClientSecret,
  hashClientSecret,
  type GeneratedClientSecret,
  type VerifyDigest,
} from './client-authentication/client-secret'
export type { ClientAuthenticationMethod } from './client-authentication/method'
export type { SingleUse } from './protocol/single-use'
export type { DocumentFetch, DocumentInquiry } from './clients/document-fetch/document-fetch'
export type { FetchedDocument } from './clients/document-fetch/request-document'
export type { ClientAuthenticationLimits } from './client-authentication/credential-throttle'
export type { ResponseMode } from './protocol/response-types'
export {
  type Approval,
  type ResponseType,
  implicit,
  type ImplicitOptions,
} from './authorization/response-types'
export {
  mayRefresh,
  type DirectGrant,
  type GrantType,
  type GrantResult,
  type TokenRequest,
} from './authorization/grant-type'
export type { IssueLimitOptions } from './limits/shares'
export type { Limit, LimitOption, RateLimitOptions } from './limits/limit'
export { approveWithAccessToken, approveWithCode } from './authorization/requested'
export {
  authorizationIdOf,
  openRequest,
  type OpenChoices,
  type RequestProposal,
} from './authorization/requested'
export { pollAuthorization, type Poll } from './authorization/redeem'
export type { IssueContext, RecordContext, Transition, TransitionResult } from './authorization/transition'
export { issueAccessToken, type Issuance, type Issued, type DirectAuthorization } from './authorization/issue'
export type { OneTimeUse } from './authorization/authorization'
export { ConfigurationError, type ConfigurationIssue } from './primitives/configuration-error'
export type { Login, LoginRequest, ResourceOwner } from './protocol/resource-owner'
export type { AuthorizationStore, StoredAuthorization } from './authorization/store'
export type { OwnerEntry } from './authorization/owners'
export type { ListedConsent } from './authorization/remembered-consent'
export { markSeconds } from './store/store'
export type { Count, Store, StoredValue, StoreWarning, WriteTerms } from './store/store'
export type { RegisteredClients } from './clients/open-clients'
export type { Counters } from './limits/counters'
export { memoryStore, type MemoryStoreOptions } from './store/memory-store'
export {
  expiryOf,
  type Active,
  type Approved,
  type Authorization,
  type Requested,
  type RequestedAuthorization,
} from './authorization/authorization'
export { decodeAuthorization, encodeAuthorization } from './authorization/codec'
export type { Access } from './authorization/lookup'
export type { ClientStrategy } from './client-authentication/strategies'
export type { ClaimsAccess, GuardedAccess } from './resource-server/admit'
export type { AuthInfo, BearerGuard, BearerGuardOptions, GuardDefaults } from './http/bearer-guard'
export type { ProtectedResourcePart } from './http/metadata-document'
export type { ProtectedResourceMembers } from './endpoints/protected-resource-metadata'
export type * from './audit/events'
export type { Choice, PriorConsentQuestion } from './authorization-endpoint/visit'
export type { RefreshedGrant, StillAllowed } from './extensions/choices'
export type { OwnerAnswer, OwnerQuestion } from './protocol/owner-question'
export type { ConnectedApplication, ConnectedView } from './pages/connected-page'
export type { ConsentView } from './pages/consent-page'
export type { ErrorView } from './pages/pages'
export { html, pageDocument, type Html, type PageView } from './pages/html'
export type { PageOptions } from './pages/page-options'
export type { PageLanguage, PageLocale, PageTexts } from './pages/texts/locale'
export type { Text } from './protocol/localized-text'
export type { Endpoint, EndpointResponse, EndpointRequest } from './protocol/endpoint'
export type { PageEndpoint, PageRequest, PageResponse } from './doors/page-endpoint'
export type { KeptData } from './protocol/extension-data'
export type { Json } from './protocol/json'
export type * from './protocol/extension'
export { OAuthError, Throttled, type OAuthErrorCode, type OAuthErrorOptions } from './protocol/oauth-error'
export * from './protocol/host-errors'
export type { Reason } from './protocol/refusals'
export { grantableScope } from './protocol/scope'
export type { Parameters } from './protocol/parameters'
export type { Scope, ScopeImplications, ScopeOptions, ScopeWeight } from './protocol/scope'
export type {
  AccessTokenClaims,
  AccessTokenFormat,
  AccessTokenReader,
  TokenReference,
} from './protocol/access-token-format'
export type { ClientCertificate, ResourceRequest, TokenCheck, TokenType } from './protocol/token-type'
export { stepUp, type StepUpOptions } from './extensions/step-up'
export type { PkceRequirement } from './extensions/pkce'
export type { RedirectUriRule } from './protocol/redirect-uri'
export type { ResourceOptions } from './extensions/resource-indicators/resources'
export type { Sender } from './protocol/sender'
