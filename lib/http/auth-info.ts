import type { Request } from 'express'
import type { ResourceReference } from '../endpoints/protected-resource-metadata'
import { type ImpliedScopes, withImplied } from '../protocol/implied-scope'
import type { GuardedAccess } from '../resource-server/admit'

/**
 * The access of a request in the form that the TypeScript SDK of the Model Context Protocol reads from `request.auth`.
 * The SDK declares `auth` of Express' request itself, so this package does not.
 */
export interface AuthInfo {
  /** The access token. Whoever has it can use it, so never log this object. */
  token: string
  /** The client of the token. */
  clientId: string
  /** The scope of the token, with every scope that it implies by the option `implies`. */
  scopes: string[]
  /** Seconds since the epoch. */
  expiresAt: number
  /** The resource that the guard protects (RFC 8707). Missing if the host has configured no resources. */
  resource?: URL
  /** The URL of the metadata of this resource (RFC 9728). Missing if the resource has none. */
  resourceMetadataUrl?: string
  /** Every other member of `req.oauth`: `subject`, `authorizationId`, the claims of a JWT, members of extensions. */
  extra: Record<string, unknown>
}

/** The parts of an {@link AuthInfo} that are equal for every request at one guard. */
interface AuthInfoContext {
  readonly implied: ImpliedScopes | undefined
  /** Undefined if the host has configured no resources. */
  readonly resource: ResourceReference | undefined
}

/** Sets `request.auth`. Each request gets an object of its own, because the SDK lets hosts change it. */
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
  // A host that imports the SDK has its type for this member, which is wider.
  Object.assign(request, { auth })
}
