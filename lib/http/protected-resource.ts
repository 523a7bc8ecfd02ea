import type { RequestHandler } from 'express'
import { OptionsReader } from '../primitives/options-reader'
import { isText } from '../primitives/values'
import type { TokenType } from '../protocol/token-type'
import type { AllowedOrigins } from './cors'
import type { ExtensionMetadata } from '../protocol/extension-metadata'
import {
  metadataUrlOf,
  protectedResourceMetadata,
  type ProtectedResourceMembers,
  readMembers,
  wellKnownOfResources,
} from '../endpoints/protected-resource-metadata'
import { bareResource, type Resource, type Resources } from '../extensions/resource-indicators/resources'
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
  readonly resources: Resources | undefined
  readonly cors: AllowedOrigins
  readonly tokenTypes: readonly TokenType[]
}

export function protectedResource(
  { issuer, resources, cors, tokenTypes }: ResourceSettings,
  cure: string,
  onMade?: () => void,
): ProtectedResourcePart {
  const ofTypes: ExtensionMetadata = Object.assign({}, ...tokenTypes.map((type) => type.resourceMetadata))
  return (uri?: string, members: ProtectedResourceMembers = {}, ...more: readonly unknown[]) => {
    // Express calls a mounted function with three arguments.
    if (more.length > 0) throw mountedUncalled('protectedResource', 'protectedResource()')
    const reading = new OptionsReader({ resource: uri, members }, '')
    const offer = { issuer, ...resourceOf(reading, resources, cure), ofTypes }
    const added = readMembers(reading, offer)
    reading.throwIssues('oauth.protectedResource() cannot work:')
    onMade?.()
    return documentAt(
      metadataUrlOf(offer.uri),
      metadataDocument(protectedResourceMetadata(offer, added), () => {}, cors),
      missingMetadata([wellKnownOfResources], cors),
    )
  }
}

/** The rest of a sentence. */
export const resourcesExpectation =
  "needs the option resources, such as { 'https://api.example.com/mcp': { scopes: ['notes:read'] } }."

function resourceOf(reading: OptionsReader, resources: Resources | undefined, cure: string): Resource {
  const key = 'resource'
  const given = reading.take(key)
  const known = resources?.all.map(({ uri }) => uri).join(', ')
  const found =
    given === undefined ? resources?.defaultResource : isText(given) ? resources?.find(given) : undefined
  if (resources === undefined) reading.wrong(key, cure)
  else if (found === undefined) reading.wrong(key, `must be one of ${known}.`)
  else if (metadataUrlOf(found.uri) === undefined)
    reading.wrong(
      key,
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
