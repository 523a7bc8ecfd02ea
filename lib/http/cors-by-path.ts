import type { EndpointHttp } from './endpoint'

type Cors = NonNullable<EndpointHttp['cors']>

/**
 * The CORS of a middleware that stands before several endpoints: that of the endpoint at the path of the request. Without
 * this choice, the middleware would answer preflights of an endpoint that scripts of other origins must not call.
 *
 * @param mount the path of the issuer without a slash at its end.
 */
export function corsByPath(endpoints: Iterable<EndpointHttp>, mount: string): Cors | undefined {
  const paths = new Map<string, Cors>()
  for (const { endpoint, cors } of endpoints)
    // A proxy may remove the path of the issuer.
    if (cors !== undefined) for (const path of [endpoint.path, mount + endpoint.path]) paths.set(path, cors)
  if (paths.size === 0) return undefined
  return (request, response) => {
    if (request.headers.origin === undefined) return false
    // Below `app.use('/token', …)`, the path is only a slash.
    const path = `${request.baseUrl}${request.path}`.replace(/\/$/, '')
    return paths.get(path)?.(request, response) === true
  }
}
