import * as http from 'node:http'
import * as https from 'node:https'
import { ConfigurationError, isRecord, type ConfigurationIssue } from '../protocol/configuration'
import { warnOnce } from '../warning'
import { messageClassesFor, type MessageClasses } from './message-classes'

/**
 * The server of `node:http` for an Express application, with requests and responses that have the prototypes of the
 * application from birth. Express, which would change them with each request, finds nothing to do, and V8 keeps what
 * it learnt about these objects: the whole application gets faster, see `docs/server.md`. It is used as Node's own:
 * `createServer(app).listen(3000)` in place of `app.listen(3000)`.
 *
 * Where it cannot do so, it is Node's own, and the warning `EAS_PLAIN_SERVER` says why.
 *
 * @param app the application itself, as `express()` made it, of Express 4 or 5.
 * @param options as for `createServer()` of `node:http`.
 * @throws ConfigurationError when `app` is no function or `options` no object.
 */
export function createServer(app: http.RequestListener, options: http.ServerOptions = {}): http.Server {
  check('createServer()', app, options)
  return http.createServer({ ...options, ...classesFor('createServer()', app, options) }, app)
}

/**
 * {@link createServer} over TLS: the server of `node:https`.
 *
 * @param options as for `createServer()` of `node:https`, such as `{ key, cert }`.
 * @throws ConfigurationError when `app` is no function or `options` no object.
 */
export function createSecureServer(app: http.RequestListener, options: https.ServerOptions): https.Server {
  check('createSecureServer()', app, options)
  return https.createServer({ ...options, ...classesFor('createSecureServer()', app, options) }, app)
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

function classesFor(
  name: string,
  app: http.RequestListener,
  options: http.ServerOptions,
): Partial<MessageClasses> {
  const own = options.IncomingMessage !== undefined || options.ServerResponse !== undefined
  const found = own
    ? { obstacle: 'its options name an IncomingMessage or ServerResponse of their own' }
    : messageClassesFor(app)
  if (!('obstacle' in found)) return found
  warnOnce('EAS_PLAIN_SERVER', `${name} made a plain server of Node, which is slower: ${found.obstacle}.`)
  return {}
}
