import * as http from 'node:http'
import * as https from 'node:https'
import { ConfigurationError, type ConfigurationIssue } from '../primitives/configuration-error'
import { isRecord } from '../primitives/values'
import { messageClassesFor } from './message-shapes'

/**
 * Creates a server of `node:http` that makes an Express application faster on Node 20 and 22. From Node 24
 * on, returns `http.createServer(options, app)`, which is as fast. Write `createServer(app).listen(3000)` in
 * place of `app.listen(3000)`. `docs/guides/production.md` explains the gain.
 *
 * On Node 20 and 22, Node creates each request and response with the application's prototypes. Express need
 * not change them per request, and V8 keeps what it learnt. If the prototypes do not fit, returns Node's own
 * server, and the warning `EAS_PLAIN_SERVER` says why.
 *
 * @param app what `express()` of Express 4 or 5 returned, not a function around it.
 * @param options of `createServer()` of `node:http`. Default none.
 * @throws ConfigurationError if `app` is not a function or `options` is not an object.
 */
export function createServer(app: http.RequestListener, options: http.ServerOptions = {}): http.Server {
  check('createServer()', app, options)
  return http.createServer({ ...options, ...messageClassesFor('createServer()', app, options) }, app)
}

/**
 * Creates a server of `node:https`, as {@link createServer} creates one of `node:http`.
 *
 * @param app what `express()` of Express 4 or 5 returned, not a function around it.
 * @param options of `createServer()` of `node:https`, such as `{ key, cert }`.
 * @throws ConfigurationError if `app` is not a function or `options` is not an object.
 */
export function createSecureServer(app: http.RequestListener, options: https.ServerOptions): https.Server {
  check('createSecureServer()', app, options)
  return https.createServer({ ...options, ...messageClassesFor('createSecureServer()', app, options) }, app)
}

function check(name: string, app: unknown, options: unknown): void {
  const issues: ConfigurationIssue[] = []
  if (typeof app !== 'function')
    issues.push({ path: 'app', message: 'must be an Express application, as express() makes it.' })
  if (!isRecord(options))
    issues.push({
      path: 'options',
      message: "must be an object: the options of Node's own createServer().",
    })
  if (issues.length > 0) throw new ConfigurationError(`${name} cannot work with this:`, issues)
}
