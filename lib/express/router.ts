import type { RequestHandler } from 'express'
import { warnOnce } from '../warning'

/** Which middlewares answer at which path, exactly as written and below wherever the host mounts the router. */
export type Routes = ReadonlyMap<string, readonly RequestHandler[]>

/**
 * All endpoints in one middleware. `mount` is where the issuer says that the router is; anywhere else the URLs that
 * clients are given lead nowhere, unless a proxy takes the prefix away.
 */
export function router(routes: Routes, mount: string): RequestHandler {
  return (request, response, next) => {
    const chain = routes.get(request.path)
    if (chain === undefined) return next()
    if (request.baseUrl !== mount)
      warnOnce(
        'EAS_MOUNT_PATH',
        `oauth.router() is mounted at "${request.baseUrl}" but the issuer's path is "${mount}": app.use("${mount || '/'}", oauth.router()), or change the issuer.`,
      )
    return run(chain, 0, request, response, next)
  }
}

const run = (
  chain: readonly RequestHandler[],
  index: number,
  ...[request, response, next]: Parameters<RequestHandler>
): void => {
  const middleware = chain[index]
  if (middleware === undefined) return next()
  void middleware(request, response, (error?: unknown) =>
    error === undefined ? run(chain, index + 1, request, response, next) : next(error),
  )
}
