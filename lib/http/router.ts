import type { NextFunction, Request, RequestHandler, Response } from 'express'
import { warnOnce } from '../audit/warning'
import { shareShapes } from '../node-http/shared-shape'
import { ConfigurationError } from '../protocol/configuration'

/**
 * Makes a middleware from a function that responds to requests. An error goes to the error handling of the host. On a
 * plain server of Node 20 or 22, requests and responses get the hidden class of all others (`node-http/`).
 */
export function handler(
  answer: (request: Request, response: Response, next: NextFunction) => Promise<unknown>,
): RequestHandler {
  return (request, response, next) => {
    shareShapes(request, response)
    answer(request, response, next).catch(next)
  }
}

/**
 * Wraps a function that makes a middleware. If the host mounts the function without calling it, the first request gets
 * an error message instead of hanging.
 */
export function part<Made>(name: string, make: () => Made): () => Made {
  return (...given: readonly unknown[]) => {
    if (given.length === 0) return make()
    throw mountedUncalled(name, `${name}()`)
  }
}

/**
 * The error for a function that makes a middleware, if the host mounts it without calling it.
 *
 * @param call the right call.
 */
export function mountedUncalled(name: string, call: string): ConfigurationError {
  const message = `is a function that makes the middleware: call it, and mount oauth.${call}.`
  return new ConfigurationError('The authorization server is mounted wrongly:', [
    { path: `oauth.${name}`, message },
  ])
}

/**
 * The middlewares for each path. A request matches if the rest of its path, below the mount path of the router, is
 * exactly equal.
 */
export type Routes = ReadonlyMap<string, readonly RequestHandler[]>

/**
 * Serves all endpoints in one middleware. Warns if the router is mounted at another path than the path of the issuer:
 * the URLs in the metadata are then wrong, unless a proxy removes the prefix.
 *
 * @param mount the path of the issuer without a slash at its end.
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
  // Traefik and other proxies send this header when they remove a prefix.
  if (taken !== '' && headers['x-forwarded-prefix'] === taken) return
  const proxy = `If a proxy removes the prefix "${taken}", the router is mounted correctly: let the proxy send X-Forwarded-Prefix: ${taken}, and this warning ends. Otherwise, use `
  warnOnce(
    'EAS_MOUNT_PATH',
    `oauth.router() is mounted at "${baseUrl}" but the issuer's path is "${mount}". ${taken === '' ? 'Use ' : proxy}app.use("${mount || '/'}", oauth.router()), or change the issuer.`,
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

/** Warns if a host mounts an endpoint for clients, but neither `oauth.clientAuthentication()` nor a strategy. */
export class MountedParts {
  private authenticates = false

  noteClientAuthentication(): void {
    this.authenticates = true
  }

  /** Checks after the start-up code of the host has run, because the host may make the parts in any order. */
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
