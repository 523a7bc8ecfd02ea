import type { Request, RequestHandler, Response } from 'express'
import { allowOrigin, type AllowedOrigins, crossOrigin } from './cors'
import type { ServerMetadata } from '../endpoints/server-metadata'

/** RFC 8414 3.2. Public and equal for every client, so written once. */
export function metadataDocument(
  metadata: ServerMetadata,
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
  // For requests of no script: Node writes headers given all at once three times as fast.
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

export function noteMetadata(paths: Iterable<string>): void {
  for (const path of paths) served.add(path)
}

/**
 * Answers 404 in JSON: clients try paths that a server need not have, and would read a page of the
 * application as metadata.
 */
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

/** Wherever the host mounts it. */
export function metadataAt(paths: ReadonlySet<string>, document: RequestHandler): RequestHandler {
  noteMetadata(paths)
  return (request, response, next) =>
    paths.has(request.baseUrl + request.path) ? document(request, response, next) : next()
}
