import type { RequestHandler } from 'express'
import type { AllowedOrigins } from '../cors/cors'
import { isText, OptionsReader } from '../protocol/configuration'
import {
  metadataUrlOf,
  protectedResourceMetadata,
  type ProtectedResourceMembers,
  readMembers,
} from '../protected-resource-metadata/protected-resource-metadata'
import { bareResource, type Resource, type Resources } from '../resource-indicators/resources'
import { metadataDocument } from './metadata'
import { mountedUncalled } from './router'

/**
 * Makes the middleware that serves the metadata of a protected resource (RFC 9728): mount it at the root of the host.
 *
 * @param resource the URI of the resource. Default: the default resource.
 * @param members further members of the metadata.
 * @throws ConfigurationError if there is no such resource, or if a member is wrong.
 */
export type ProtectedResourcePart = (resource?: string, members?: ProtectedResourceMembers) => RequestHandler

/** The parts that the documents of one server share. */
export interface ProtectedResourceHttp {
  readonly issuer: string
  /** The resources that have documents; undefined if the host names none. */
  readonly resources: Resources | undefined
  /** The origins whose scripts may read the documents. */
  readonly cors: AllowedOrigins
  /** What is missing without resources, as the rest of a sentence. */
  readonly cure: string
  /** Runs when the host makes the middleware. */
  readonly onMade?: () => void
}

export function protectedResource(http: ProtectedResourceHttp): ProtectedResourcePart {
  return (uri?: string, members: ProtectedResourceMembers = {}, ...more: readonly unknown[]) => {
    // Express calls a mounted function with three arguments.
    if (more.length > 0) throw mountedUncalled('protectedResource', 'protectedResource()')
    const reading = new OptionsReader({ resource: uri, members }, '')
    const offer = { issuer: http.issuer, ...resourceOf(reading, http) }
    const added = readMembers(reading, offer)
    reading.settle('oauth.protectedResource() cannot work:')
    http.onMade?.()
    return documentAt(
      metadataUrlOf(offer.uri),
      metadataDocument(protectedResourceMetadata(offer, added), () => {}, http.cors),
    )
  }
}

/** The cure for a document without the option `resources`, as the rest of a sentence. */
export const resourcesCure =
  "needs the option resources, such as { 'https://api.example.com/mcp': { scopes: ['notes:read'] } }."

/** The resource of a document. Returns a placeholder after a mistake. */
function resourceOf(reading: OptionsReader, { resources, cure }: ProtectedResourceHttp): Resource {
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

/**
 * Sends the document at its URL, wherever the application mounts this handler. Passes requests for other paths and
 * queries to the host: they mean other resources.
 */
function documentAt(url: URL | undefined, document: RequestHandler): RequestHandler {
  return (request, response, next) => {
    const isAsked =
      request.baseUrl + request.path === url?.pathname && queryOf(request.url) === url.search.slice(1)
    return isAsked ? document(request, response, next) : next()
  }
}

function queryOf(url: string): string {
  const start = url.indexOf('?')
  return start === -1 ? '' : url.slice(start + 1)
}
