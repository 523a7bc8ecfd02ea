import type { Request } from 'express'
import type { ResourceReference } from '../endpoints/protected-resource-metadata'
import { type ImpliedScopes, withImplied } from '../protocol/scope'
import type { GuardedAccess } from '../resource-server/admit'

/**
 * The access of a request as the TypeScript SDK of the Model Context Protocol reads it from `request.auth`.
 * The SDK declares that member of Express' request.
 */
export interface AuthInfo {
  /** Whoever has the token can use it: never log this object. */
  token: string
  clientId: string
  /** Includes every scope that the option `implies` adds. */
  scopes: string[]
  /** Seconds since the epoch. */
  expiresAt: number
  /** The resource of the guard (RFC 8707). Missing without the option `resources`. */
  resource?: URL
  /** The URL of the metadata of the resource (RFC 9728). Missing if it has none. */
  resourceMetadataUrl?: string
  /**
   * All other members of `req.oauth`: `subject`, `authorizationId`, claims of a JWT, members of extensions.
   */
  extra: Record<string, unknown>
}

interface AuthInfoContext {
  readonly implied: ImpliedScopes | undefined
  readonly resource: ResourceReference | undefined
}

/** Each request gets its own object: the SDK lets hosts change it. */
export function setAuthInfo(
  request: Request,
  token: string,
  access: GuardedAccess,
  { implied, resource }: AuthInfoContext,
): void {
  const { clientId, scope, expiresAt, tokenType: _, ...extra } = access
  const auth: AuthInfo = {
    token,
    clientId,
    scopes: [...withImplied(scope, implied)],
    expiresAt,
    ...(resource === undefined ? {} : { resource: new URL(resource.uri) }),
    ...(resource?.metadataUrl === undefined ? {} : { resourceMetadataUrl: resource.metadataUrl }),
    extra,
  }
  // The SDK declares a wider type.
  Object.assign(request, { auth })
}
