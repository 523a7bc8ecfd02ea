import type { Request, RequestHandler } from 'express'
import type { ServerMetadata } from '../metadata/server-metadata'

/**
 * Makes a handler that sends the metadata document (RFC 8414 3.2). The document is public and equal for every client,
 * so the server writes it once.
 *
 * @param watchHost warns if a client sent the request to another host than the issuer names.
 */
export function metadataDocument(
  metadata: ServerMetadata,
  watchHost: (request: Request) => void,
): RequestHandler {
  const body = Buffer.from(JSON.stringify(metadata))
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': body.length,
    'Cache-Control': 'public, max-age=3600',
    // Clients in a browser have other origins.
    'Access-Control-Allow-Origin': '*',
    'X-Content-Type-Options': 'nosniff',
  }
  return (request, response) => {
    const { method } = request
    watchHost(request)
    if (method === 'GET' || method === 'HEAD') response.writeHead(200, headers).end(body)
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
