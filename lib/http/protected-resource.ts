import type { RequestHandler } from 'express'
import { type Field, rootPlace } from '../primitives/schema'
import type { TokenType } from '../protocol/token-type'
import type { AllowedOrigins } from './cors'
import type { ExtensionMetadata } from '../protocol/extension-metadata'
import {
  addedMembers,
  metadataUrlOf,
  protectedResourceMetadata,
  type ProtectedResourceMembers,
  wellKnownOfResources,
} from '../endpoints/protected-resource-metadata'
import {
  aResourceOf,
  bareResource,
  type Resource,
  type Resources,
} from '../extensions/resource-indicators/resources'
import { metadataDocument, missingMetadata, noteMetadata } from './metadata-document'
import { mountedUncalled } from './router'

/**
 * Makes the middleware that serves the metadata of a protected resource (RFC 9728): mount it at the root of
 * the host.
 *
 * @param resource the URI of the resource. Default: the default resource.
 * @param members further members of the metadata.
 * @throws ConfigurationError if there is no such resource, or if a member is wrong.
 */
export type ProtectedResourcePart = (resource?: string, members?: ProtectedResourceMembers) => RequestHandler

interface ResourceSettings {
  readonly issuer: string
  /** Default: that one. */
  readonly issuers?: readonly string[]
  readonly resources: Resources | undefined
  readonly cors: AllowedOrigins
  readonly tokenTypes: readonly TokenType[]
}

export function protectedResource({
  issuer,
  issuers = [issuer],
  resources,
  cors,
  tokenTypes,
}: ResourceSettings): ProtectedResourcePart {
  const servedResource = resourceWithMetadata(resources)
  const ofTypes: ExtensionMetadata = Object.assign({}, ...tokenTypes.map((type) => type.resourceMetadata))
  return (uri?: string, members: ProtectedResourceMembers = {}, ...more: readonly unknown[]) => {
    // Express calls a mounted function with three arguments.
    if (more.length > 0) throw mountedUncalled('protectedResource', 'protectedResource()')
    const at = rootPlace(undefined)
    const offer = { issuers, ...servedResource(uri, at, 'resource'), ofTypes }
    const added = addedMembers(offer.scopes)(members, at, 'members')
    at.throwIssues('oauth.protectedResource() cannot work:')
    return documentAt(
      metadataUrlOf(offer.uri),
      metadataDocument(protectedResourceMetadata(offer, added), () => {}, cors),
      missingMetadata([wellKnownOfResources], cors),
    )
  }
}

const resourcesExpectation =
  "needs the option resources, such as { 'https://api.example.com/mcp': { scopes: ['notes:read'] } }."

const resourceWithMetadata =
  (resources: Resources | undefined): Field<Resource> =>
  (given, at, name) => {
    if (resources === undefined) at.wrong(name, resourcesExpectation)
    const found = resources && aResourceOf(resources)(given, at, name)
    if (found !== undefined && metadataUrlOf(found.uri) === undefined)
      at.wrong(
        name,
        `is ${found.uri}: only a resource at https, or at http on a loopback host, has metadata.`,
      )
    return found ?? bareResource('')
  }

/** Other paths and queries mean other resources. */
function documentAt(url: URL | undefined, document: RequestHandler, missing: RequestHandler): RequestHandler {
  if (url !== undefined) noteMetadata([url.pathname])
  return (request, response, next) => {
    const isAsked =
      request.baseUrl + request.path === url?.pathname && queryOf(request.url) === url.search.slice(1)
    return (isAsked ? document : missing)(request, response, next)
  }
}

function queryOf(url: string): string {
  const start = url.indexOf('?')
  return start === -1 ? '' : url.slice(start + 1)
}
