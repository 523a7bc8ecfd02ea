export { createBearerGuard, type StandaloneGuard, type StandaloneGuardOptions } from '../server/guard'
export type {
  IntrospectionKey,
  IntrospectionSecret,
} from '../resource-server/introspection/introspection-client'
export type { IntrospectionSource } from '../resource-server/introspection/introspection-source'
export type { JwtSource } from '../resource-server/jwt-source'
export type { IssuerKeys, TrustedIssuer } from '../jwt/trusted-issuers'
