import type { Request, Response } from 'express'
import type { EndpointDescription } from '../protocol/endpoint'
import type { Edge } from './edge'
import { crossOrigin, exposedHeaders } from './cors'
import { explainingCors } from './cross-origin-diagnosis'
import { methodsOf } from './methods'

/** Returns true if it answered a preflight. */
export type Share = (request: Request, response: Response) => boolean

export function endpointCors({ settings, audit }: Edge, endpoint: EndpointDescription): Share | undefined {
  const methods = methodsOf(endpoint).join(', ')
  const share =
    endpoint.cors === true
      ? crossOrigin(settings.cors, { methods, isCacheable: false, exposed: exposedHeaders(settings) })
      : undefined
  if (audit.diagnosis === undefined) return share
  return explainingCors(share, audit.diagnosis, endpoint.name, new URL(settings.issuer).origin)
}

/**
 * Of the requested endpoint: a middleware before several must not answer preflights of those closed to other
 * origins.
 */
export function corsByPath(server: Edge, endpoints: Iterable<EndpointDescription>): Share | undefined {
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
