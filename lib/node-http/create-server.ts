// Tuning for V8 before version 13 (Node 20 and 22): messages have the prototypes of Express from the start.
// Buys: a bare route takes about a quarter of the processor time, an ordinary application half. On Node 24 nothing.
// Measured: 2026-11-23 on Node 20.20, 22.23 and 24.21, docs/performance.md.
// Can go: when the package no longer supports Node 22. Both functions are public, so their end is a breaking change.
import * as http from 'node:http'
import * as https from 'node:https'
import { Socket } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { ConfigurationError, type ConfigurationIssue, isRecord } from '../protocol/configuration'
import { warnOnce } from '../audit/warning'

/**
 * Creates a server of `node:http` that makes an Express application faster on Node 20 and 22. Write
 * `createServer(app).listen(3000)` in place of `app.listen(3000)`. `docs/server.md` explains the gain.
 *
 * Node creates each request and response with the prototypes of the application. So Express need not change the
 * prototypes with each request, and V8 keeps what it has learnt about these objects.
 *
 * If the prototypes do not fit, the function returns Node's own server, and the warning `EAS_PLAIN_SERVER` says why.
 *
 * @param app the application that `express()` returned, of Express 4 or 5, not a function around it.
 * @param options the options of `createServer()` of `node:http`. Default none.
 * @throws ConfigurationError if `app` is not a function or `options` is not an object.
 */
export function createServer(app: http.RequestListener, options: http.ServerOptions = {}): http.Server {
  check('createServer()', app, options)
  return http.createServer({ ...options, ...classesFor('createServer()', app, options) }, app)
}

/**
 * Creates a server of `node:https`, as {@link createServer} creates one of `node:http`.
 *
 * @param app the application that `express()` returned, of Express 4 or 5, not a function around it.
 * @param options the options of `createServer()` of `node:https`, such as `{ key, cert }`.
 * @throws ConfigurationError if `app` is not a function or `options` is not an object.
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
    ? { obstacle: 'its options already name an IncomingMessage or a ServerResponse' }
    : messageClassesFor(app)
  if (!('obstacle' in found)) return found
  warnOnce(
    'EAS_PLAIN_SERVER',
    `${name} created a plain server of Node, which may be slower: ${found.obstacle}.`,
  )
  return {}
}

/** The classes of which a server of Node creates its requests and responses. */
export interface MessageClasses {
  readonly IncomingMessage: typeof http.IncomingMessage
  readonly ServerResponse: typeof http.ServerResponse
}

const prototypes = new WeakSet<object>()

/**
 * Whether a server of {@link createServer} created this request or response, with its final prototype from the start.
 */
export function isOfCreatedServer(message: object): boolean {
  const prototype = Reflect.getPrototypeOf(message)
  return prototype !== null && prototypes.has(prototype)
}

/**
 * Makes classes whose instances have the prototypes of Express from the start; or returns the obstacle, as a clause.
 */
export function messageClassesFor(app: http.RequestListener): MessageClasses | { readonly obstacle: string } {
  const request = prototypeOf(app, 'request', http.IncomingMessage.prototype)
  const response = prototypeOf(app, 'response', http.ServerResponse.prototype)
  if (request === undefined || response === undefined)
    return { obstacle: 'its argument is not an Express application, which would have the prototypes' }

  const Requests = requestsWith(request)
  const Responses = responsesWith(response)
  if (!makesRequests(Requests, request) || !makesResponses(Responses, response))
    return { obstacle: 'the objects that Node creates do not fit the prototypes of the application' }
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

// The two constructors below run Node's constructor on an object that already has its final prototype. Their names
// appear in stack traces. The assignments never run, because `new` always sets `new.target`. V8 counts the assignments
// in a constructor to reserve room inside the object, and later takes unused room back. Without the assignments, most
// of Node's properties would lie outside of the object.

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

/** Whether a class creates the same object as Node, except for the prototype. A setter there would prevent that. */
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
