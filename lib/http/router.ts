import type { NextFunction, Request, RequestHandler, Response } from 'express'
import type { Diagnosis } from '../audit/diagnosis'
import { warnOnce } from '../audit/warning'
import { sharingShapes } from './create-server'
import { ConfigurationError } from '../primitives/configuration-error'

export function handler(
  answer: (request: Request, response: Response, next: NextFunction) => Promise<unknown>,
): RequestHandler {
  return sharingShapes((request, response, next) => {
    answer(request, response, next).catch(next)
  })
}

/** A part that is mounted without a call answers with an error instead of hanging. */
export function part<Made>(name: string, make: () => Made): () => Made {
  return (...given: readonly unknown[]) => {
    if (given.length === 0) return make()
    throw mountedUncalled(name, `${name}()`)
  }
}

export function mountedUncalled(name: string, call: string): ConfigurationError {
  const message = `is a function that makes the middleware: call it, and mount oauth.${call}.`
  return new ConfigurationError('The authorization server is mounted wrongly:', [
    { path: `oauth.${name}`, message },
  ])
}

/**
 * At another path than the issuer's, the URLs in the metadata are wrong, unless a proxy removes the prefix.
 */
export function router(
  routes: ReadonlyMap<string, RequestHandler>,
  mount: string,
  missing: RequestHandler,
  notePassed?: (request: Request) => void,
): RequestHandler {
  return (request, response, next) => {
    const middleware = routes.get(request.path)
    if (middleware === undefined) {
      notePassed?.(request)
      return missing(request, response, next)
    }
    if (request.baseUrl !== mount) warnOfPath(request, mount)
    return middleware(request, response, next)
  }
}

/** What requests for other paths tell, such as the one for the page of the login. */
export function passWatch(login: unknown, diagnosis?: Diagnosis): (request: Request) => void {
  const [loginPath] = typeof login === 'string' ? login.split('?') : []
  const missing = { endpoint: 'login', reason: 'login_page_missing', observed: { path: loginPath } }
  const passed = new WeakMap<Request, readonly string[]>()
  return (request) => {
    const { baseUrl, path, url, res } = request
    if (baseUrl + path === loginPath && url.includes('return_to='))
      res?.once('finish', () => {
        if (res.statusCode === 404) diagnosis?.explain(missing)
      })
    const before = passed.get(request) ?? []
    passed.set(request, [...before, baseUrl])
    if (before.includes(baseUrl))
      warnOnce(
        'EAS_MOUNTED_TWICE',
        `oauth.router() is mounted twice at "${baseUrl || '/'}". The first one answers every request, before the middlewares between the two. Remove one.`,
      )
  }
}

function warnOfPath({ baseUrl, headers }: Request, mount: string): void {
  const taken = mount.endsWith(baseUrl) ? mount.slice(0, mount.length - baseUrl.length) : ''
  // Proxies such as Traefik send it when they remove a prefix.
  if (taken !== '' && headers['x-forwarded-prefix'] === taken) return
  const proxy = `If a proxy removes the prefix "${taken}", the router is mounted correctly: let the proxy send X-Forwarded-Prefix: ${taken}, and this warning ends. Otherwise, use `
  warnOnce(
    'EAS_MOUNT_PATH',
    `oauth.router() is mounted at "${baseUrl}" but the issuer's path is "${mount}". ${taken === '' ? 'Use ' : proxy}app.use("${mount || '/'}", oauth.router()), or change the issuer.`,
  )
}
