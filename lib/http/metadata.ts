import type { Request, RequestHandler } from 'express'
import type { ServerMetadata } from '../metadata/server-metadata'

/**
 * Answers with metadata (RFC 8414 3.2), written once: it is the same for everybody, and public.
 *
 * @param watchHost warns of a request that was sent to another host than the issuer's.
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
    // Clients in a browser are of other origins.
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

/** The document at these paths of the host, wherever in the application this is mounted; other paths are the host's. */
export function metadataAt(paths: ReadonlySet<string>, document: RequestHandler): RequestHandler {
  return (request, response, next) =>
    paths.has(request.baseUrl + request.path) ? document(request, response, next) : next()
}
