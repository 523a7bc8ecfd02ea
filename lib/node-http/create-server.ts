import * as http from 'node:http'
import * as https from 'node:https'
import { Socket } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { ConfigurationError, type ConfigurationIssue, isRecord } from '../protocol/configuration'
import { warnOnce } from '../audit/warning'

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

/** What a server of Node makes its requests and responses with. */
export interface MessageClasses {
  readonly IncomingMessage: typeof http.IncomingMessage
  readonly ServerResponse: typeof http.ServerResponse
}

const prototypes = new WeakSet<object>()

/** Whether a request or response has had its prototype from birth. */
export function isOfCreatedServer(message: object): boolean {
  const prototype = Reflect.getPrototypeOf(message)
  return prototype !== null && prototypes.has(prototype)
}

/** Classes whose instances are born with the prototypes that Express would give them, or what stands in the way. */
export function messageClassesFor(app: http.RequestListener): MessageClasses | { readonly obstacle: string } {
  const request = prototypeOf(app, 'request', http.IncomingMessage.prototype)
  const response = prototypeOf(app, 'response', http.ServerResponse.prototype)
  if (request === undefined || response === undefined)
    return { obstacle: 'it was not given an Express application itself, which has the prototypes' }

  const Requests = requestsWith(request)
  const Responses = responsesWith(response)
  if (!makesRequests(Requests, request) || !makesResponses(Responses, response))
    return { obstacle: 'what Node makes does not fit the prototypes of the application' }
  prototypes.add(request).add(response)
  return { IncomingMessage: Requests, ServerResponse: Responses }
}

function prototypeOf(app: http.RequestListener, name: string, origin: object): object | undefined {
  const prototype: unknown = Reflect.get(app, name)
  const descends = typeof prototype === 'object' && prototype !== null && origin.isPrototypeOf(prototype)
  return descends ? prototype : undefined
}

type Letter = 'a' | 'b' | 'c' | 'd' | 'e' | 'f' | 'g' | 'h' | 'i' | 'j' | 'k' | 'l'
type Further = 'm' | 'n' | 'o' | 'p' | 'q' | 'r' | 's' | 't' | 'u' | 'v' | 'w' | 'x'
type Room = Record<Letter | Further, 0>

// Both do what Node's do, to an object that has its prototype from birth. Their names stand in stack traces.
// What they assign they never do: V8 makes room inside an object by the assignments it reads in a constructor, and
// takes back what stays unused. Without it most of Node's properties lie outside.

function requestsWith(prototype: object): unknown {
  const original = http.IncomingMessage
  function IncomingMessage(this: Room, socket: unknown): void {
    // prettier-ignore
    if (new.target === undefined)
      this.a = this.b = this.c = this.d = this.e = this.f = this.g = this.h = this.i = this.j = this.k = this.l =
      this.m = this.n = this.o = this.p = this.q = this.r = this.s = this.t = this.u = this.v = this.w = this.x = 0
    Reflect.apply(original, this, [socket])
  }
  IncomingMessage.prototype = prototype
  return IncomingMessage
}

function responsesWith(prototype: object): unknown {
  const original = http.ServerResponse
  function ServerResponse(this: Room, request: unknown, options: unknown): void {
    // prettier-ignore
    if (new.target === undefined)
      this.a = this.b = this.c = this.d = this.e = this.f = this.g = this.h = this.i = this.j = this.k = this.l =
      this.m = this.n = this.o = this.p = this.q = this.r = this.s = this.t = this.u = this.v = this.w = this.x = 0
    Reflect.apply(original, this, [request, options])
  }
  ServerResponse.prototype = prototype
  return ServerResponse
}

function makesRequests(made: unknown, prototype: object): made is typeof http.IncomingMessage {
  const socket = new Socket()
  return makesSame(made, prototype, new http.IncomingMessage(socket), [socket])
}

function makesResponses(made: unknown, prototype: object): made is typeof http.ServerResponse {
  const request = new http.IncomingMessage(new Socket())
  return makesSame(made, prototype, new http.ServerResponse(request), [request])
}

/** Whether it makes what Node makes, but for the prototype: a setter there, or a class of Node, would be in the way. */
function makesSame(made: unknown, prototype: object, model: object, words: readonly unknown[]): boolean {
  if (typeof made !== 'function') return false
  try {
    const message: object = Reflect.construct(made, words)
    const sameOwn = isDeepStrictEqual(Reflect.ownKeys(message), Reflect.ownKeys(model))
    return sameOwn && Reflect.getPrototypeOf(message) === prototype
  } catch {
    return false
  }
}
