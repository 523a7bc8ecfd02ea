import type { Request, RequestHandler, Response } from 'express'
import {
  addedMembers,
  metadataUrlOf,
  protectedResourceMetadata,
  type ProtectedResourceMembers,
  wellKnownOfResources,
} from '../endpoints/protected-resource-metadata'
import { aResourceOf, type Resource, type Resources } from '../extensions/resource-indicators/resources'
import { type Field, rootPlace } from '../primitives/schema'
import type { ExtensionMetadata } from '../protocol/extension-metadata'
import { allowOrigin, type AllowedOrigins, crossOrigin } from './cors'
import type { GuardSettings } from './edge'
import { mountedUncalled } from './router'

/** RFC 8414 3.2. Equal for every client, so written once. */
export function metadataDocument(
  metadata: ExtensionMetadata,
  watchHost: (request: Request) => void,
  origins: AllowedOrigins,
  { status, cache } = { status: 200, cache: 'public, max-age=3600' },
): RequestHandler {
  const body = Buffer.from(JSON.stringify(metadata))
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': body.length,
    'Cache-Control': cache,
    'X-Content-Type-Options': 'nosniff',
  }
  const cors = crossOrigin(origins, { methods: 'GET, HEAD', isCacheable: true })
  // Node writes headers given all at once three times as fast.
  const usual = { ...headers, [allowOrigin]: '*' }
  const isUsual = (request: Request, response: Response) =>
    origins === '*' && request.headers.origin === undefined && !response.hasHeader(allowOrigin)
  return (request, response) => {
    const { method } = request
    watchHost(request)
    const sent = isUsual(request, response) ? usual : headers
    if (sent === headers && cors?.(request, response) === true) return
    if (method === 'GET' || method === 'HEAD') response.writeHead(status, sent).end(body)
    else response.writeHead(405, { Allow: 'GET, HEAD', 'Content-Length': 0 }).end()
  }
}

// Of all servers and guards of this process.
const served = new Set<string>()

/** In JSON, because clients would read a page of the application as metadata. */
export function missingMetadata(names: readonly string[], origins: AllowedOrigins): RequestHandler {
  const members = { error: 'not_found', error_description: 'There is no metadata at this path.' }
  const refusal = metadataDocument(members, () => {}, origins, { status: 404, cache: 'no-store' })
  const isBelow = (path: string) => names.some((name) => path === name || path.startsWith(`${name}/`))
  return (request, response, next) => {
    const { path, baseUrl } = request
    const isMissing = path.startsWith('/.well-known/') && isBelow(path) && !served.has(baseUrl + path)
    return isMissing ? refusal(request, response, next) : next()
  }
}

/**
 * @param query that it has alone; undefined for any.
 * @param elsewhere Default: the next middleware.
 */
export function metadataAt(
  paths: ReadonlySet<string>,
  document: RequestHandler,
  query?: string,
  elsewhere: RequestHandler = (_request, _response, next) => next(),
): RequestHandler {
  for (const path of paths) served.add(path)
  return (request, response, next) => {
    const { baseUrl, path, url } = request
    const isAsked =
      paths.has(baseUrl + path) && (query === undefined || query === url.split('?').slice(1).join('?'))
    return (isAsked ? document : elsewhere)(request, response, next)
  }
}

/**
 * Serves the metadata of a protected resource (RFC 9728): mount it at the root of the host.
 *
 * @param resource its URI. Default: the default resource.
 * @param members further members of the metadata.
 * @throws ConfigurationError if there is no such resource, or if a member is wrong.
 */
export type ProtectedResourcePart = (resource?: string, members?: ProtectedResourceMembers) => RequestHandler

interface ResourceSettings extends Pick<GuardSettings, 'issuer' | 'resources' | 'cors' | 'tokenTypes'> {
  readonly issuers?: readonly string[]
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
    const document = metadataDocument(protectedResourceMetadata(offer, added), () => {}, cors)
    const missing = missingMetadata([wellKnownOfResources], cors)
    const url = metadataUrlOf(offer.uri)
    return url === undefined
      ? missing
      : metadataAt(new Set([url.pathname]), document, url.search.slice(1), missing)
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
    return found ?? { uri: '', scopes: [] }
  }
