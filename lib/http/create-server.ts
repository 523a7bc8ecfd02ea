// Tuning for V8 before 13 (Node 20, 22): a guarded route takes a third less processor time. Measured:
// 2026-11-23, docs/evidence.md. Can go: with Node 22.
import type { RequestHandler } from 'express'
import * as http from 'node:http'
import * as https from 'node:https'
import { Socket } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { warnOnce } from '../audit/warning'
import { rootPlace } from '../primitives/schema'
import { isRecord } from '../primitives/values'

// Express changes each prototype: V8 before 13 then makes a hidden class for each object, and every read
// costs a search.
const isNeeded = Number.parseInt(process.versions.v8, 10) < 13

const temporary = Symbol('temporary')

/** All dictionaries have one hidden class. */
export function sharingShapes(handle: RequestHandler): RequestHandler {
  if (!isNeeded) return handle
  return (request, response, next) => {
    if (!isOfCreatedServer(request)) {
      makeDictionary(request)
      makeDictionary(response)
    }
    return handle(request, response, next)
  }
}

// Deleting a property turns an object into a dictionary.
function makeDictionary(message: object): void {
  Reflect.set(message, temporary, undefined)
  Reflect.deleteProperty(message, temporary)
}

/**
 * Creates a server of `node:http` that makes an Express application faster on Node 20 and 22
 * (`docs/guides/production.md`); from Node 24 on, `http.createServer(options, app)`. Write
 * `createServer(app).listen(3000)` in place of `app.listen(3000)`.
 *
 * If the application's prototypes do not fit, returns Node's own server, and the warning `EAS_PLAIN_SERVER`
 * says why.
 *
 * @param app what `express()` of Express 4 or 5 returned, not a function around it.
 * @param options of `createServer()` of `node:http`. Default none.
 * @throws ConfigurationError if `app` is not a function or `options` is not an object.
 */
export function createServer(app: http.RequestListener, options: http.ServerOptions = {}): http.Server {
  return http.createServer(optionsFor('createServer()', app, options), app)
}

/**
 * As {@link createServer}, for `node:https`.
 *
 * @param app what `express()` of Express 4 or 5 returned, not a function around it.
 * @param options of `createServer()` of `node:https`, such as `{ key, cert }`.
 * @throws ConfigurationError if `app` is not a function or `options` is not an object.
 */
export function createSecureServer(app: http.RequestListener, options: https.ServerOptions): https.Server {
  return https.createServer(optionsFor('createSecureServer()', app, options), app)
}

function optionsFor<Options extends http.ServerOptions>(
  name: string,
  app: http.RequestListener,
  options: Options,
): Options {
  const at = rootPlace(undefined)
  if (typeof app !== 'function') at.wrong('app', 'must be an Express application, as express() makes it.')
  if (!isRecord(options)) at.wrong('options', "must be an object: the options of Node's own createServer().")
  at.throwIssues(`${name} cannot work with this:`)
  if (!isNeeded) return options
  const own = options.IncomingMessage !== undefined || options.ServerResponse !== undefined
  const found = own
    ? { reason: 'its options already name an IncomingMessage or a ServerResponse' }
    : makeMessageClasses(app)
  if (!('reason' in found)) return { ...options, ...found }
  warnOnce(
    'EAS_PLAIN_SERVER',
    `${name} created a plain server of Node, which may be slower: ${found.reason}.`,
  )
  return options
}

interface MessageClasses {
  readonly IncomingMessage: typeof http.IncomingMessage
  readonly ServerResponse: typeof http.ServerResponse
}

const prototypes = new WeakSet<object>()

function isOfCreatedServer(message: object): boolean {
  const prototype = Reflect.getPrototypeOf(message)
  return prototype !== null && prototypes.has(prototype)
}

/** @returns the reason why not, as a clause. */
function makeMessageClasses(app: http.RequestListener): MessageClasses | { readonly reason: string } {
  const request = prototypeOf(app, 'request', http.IncomingMessage.prototype)
  const response = prototypeOf(app, 'response', http.ServerResponse.prototype)
  if (request === undefined || response === undefined)
    return { reason: 'its argument is not an Express application, which would have the prototypes' }

  const Requests = requestsWith(request)
  const Responses = responsesWith(response)
  const isRight =
    makesSame(Requests, http.IncomingMessage, request, [new Socket()]) &&
    makesSame(Responses, http.ServerResponse, response, [new http.IncomingMessage(new Socket())])
  if (!isRight)
    return { reason: 'the objects that Node creates do not fit the prototypes of the application' }
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

// Node's constructors run on objects with the final prototype. The names appear in stack traces. The
// assignments never run, as `new` sets `new.target`: V8 counts them to reserve room.

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

/** A setter in the prototype would make another object than Node's. */
function makesSame<Original extends new (...words: never[]) => object>(
  made: unknown,
  original: Original,
  prototype: object,
  words: readonly unknown[],
): made is Original {
  if (typeof made !== 'function') return false
  try {
    const message: object = Reflect.construct(made, words)
    const model: object = Reflect.construct(original, words)
    const sameOwn = isDeepStrictEqual(Reflect.ownKeys(message), Reflect.ownKeys(model))
    return sameOwn && Reflect.getPrototypeOf(message) === prototype
  } catch {
    return false
  }
}
