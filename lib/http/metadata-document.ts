import type { Request, RequestHandler, Response } from 'express'
import { allowOrigin, type AllowedOrigins, crossOrigin } from './cors'
import type { ServerMetadata } from '../endpoints/server-metadata'

/**
 * Makes a handler that sends the metadata document (RFC 8414 3.2). The document is public and equal for every client,
 * so the server writes it once.
 *
 * @param watchHost warns if a client sent the request to another host than the issuer names.
 * @param origins the origins whose scripts may read the document.
 */
export function metadataDocument(
  metadata: ServerMetadata,
  watchHost: (request: Request) => void,
  origins: AllowedOrigins,
): RequestHandler {
  const body = Buffer.from(JSON.stringify(metadata))
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': body.length,
    'Cache-Control': 'public, max-age=3600',
    'X-Content-Type-Options': 'nosniff',
  }
  const cors = crossOrigin(origins, { methods: 'GET, HEAD', isCacheable: true })
  // Most requests come from no script. Node writes headers that it gets all at once three times as fast.
  const usual = { ...headers, [allowOrigin]: '*' }
  const isUsual = (request: Request, response: Response) =>
    origins === '*' && request.headers.origin === undefined && !response.hasHeader(allowOrigin)
  return (request, response) => {
    const { method } = request
    watchHost(request)
    const sent = isUsual(request, response) ? usual : headers
    if (sent === headers && cors?.(request, response) === true) return
    if (method === 'GET' || method === 'HEAD') response.writeHead(200, sent).end(body)
    else response.writeHead(405, { Allow: 'GET, HEAD', 'Content-Length': 0 }).end()
  }
}

/**
 * Sends the document at these paths of the host, wherever the application mounts this handler. Passes requests for
 * other paths to the host.
 */
export function metadataAt(paths: ReadonlySet<string>, document: RequestHandler): RequestHandler {
  return (request, response, next) =>
    paths.has(request.baseUrl + request.path) ? document(request, response, next) : next()
}
