import type { Request, RequestHandler } from 'express'
import { warnOnce } from '../audit/warning'

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
    if (request.baseUrl !== mount) warnOfPath(request, mount)
    return run(chain, 0, request, response, next)
  }
}

function warnOfPath({ baseUrl, headers }: Request, mount: string): void {
  const taken = mount.endsWith(baseUrl) ? mount.slice(0, mount.length - baseUrl.length) : ''
  // What Traefik and others send when they take a prefix away.
  if (taken !== '' && headers['x-forwarded-prefix'] === taken) return
  const proxy = `Behind a proxy that takes "${taken}" away that is right, and X-Forwarded-Prefix: ${taken} from the proxy ends this warning. Without such a proxy: `
  warnOnce(
    'EAS_MOUNT_PATH',
    `oauth.router() is mounted at "${baseUrl}" but the issuer's path is "${mount}". ${taken === '' ? '' : proxy}app.use("${mount || '/'}", oauth.router()), or change the issuer.`,
  )
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

/** Watches that a host which mounts the parts one by one has not forgotten the one that the endpoints for clients rest on. */
export class MountedParts {
  private authenticates = false

  noteClientAuthentication(): void {
    this.authenticates = true
  }

  /** Looks when the host's start-up code has run, because parts are made in any order. */
  expectClientAuthentication(endpoint: string): void {
    setImmediate(() => {
      if (!this.authenticates)
        warnOnce(
          'EAS_NO_CLIENT_AUTHENTICATION',
          `oauth.${endpoint}() is mounted without client authentication: mount oauth.clientAuthentication(), or a strategy of oauth.strategies, before it.`,
        )
    }).unref()
  }
}
