import type { Request, Response } from 'express'
import type { EndpointDescription } from '../protocol/endpoint'
import type { ServerContext } from '../server/context'
import { crossOrigin, exposedHeaders } from './cors'
import { explainingCors } from './cross-origin-diagnosis'
import { methodsOf } from './methods'

/** Sets the CORS headers of a response. Answers a preflight, and then returns true. */
export type Share = (request: Request, response: Response) => boolean

/** The CORS of an endpoint; undefined if no script of another origin may call it. */
export function endpointCors(
  { settings, audit }: ServerContext,
  endpoint: EndpointDescription,
): Share | undefined {
  const methods = methodsOf(endpoint).join(', ')
  const share =
    endpoint.cors === true
      ? crossOrigin(settings.cors, { methods, isCacheable: false, exposed: exposedHeaders(settings) })
      : undefined
  if (audit.diagnosis === undefined) return share
  return explainingCors(share, audit.diagnosis, endpoint.name, new URL(settings.issuer).origin)
}

/**
 * The CORS of a middleware that stands before several endpoints: that of the endpoint at the path of the request. Without
 * this choice, the middleware would answer preflights of an endpoint that scripts of other origins must not call.
 */
export function corsByPath(
  server: ServerContext,
  endpoints: Iterable<EndpointDescription>,
): Share | undefined {
  const paths = new Map<string, Share>()
  for (const endpoint of endpoints) {
    const share = endpointCors(server, endpoint)
    if (share === undefined) continue
    // A proxy may remove the path of the issuer.
    for (const path of [endpoint.path, server.settings.mount + endpoint.path]) paths.set(path, share)
  }
  if (paths.size === 0) return undefined
  return (request, response) => {
    if (request.headers.origin === undefined) return false
    // Below `app.use('/token', …)`, the path is only a slash.
    const path = `${request.baseUrl}${request.path}`.replace(/\/$/, '')
    return paths.get(path)?.(request, response) === true
  }
}
