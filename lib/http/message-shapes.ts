// Tuning for V8 before version 13 (Node 20 and 22): requests and responses share a hidden class.
// Buys: on a plain server, a guarded route takes a third less processor time, a token request a fifth less. On a server
// of `createServer`, a bare route takes about a quarter of it, an ordinary application half. On Node 24 nothing, so all
// of it is off there.
// Measured: 2026-11-23 on Node 20.20, 22.23 and 24.21, docs/reports/performance.md.
// Can go: when the package no longer supports Node 22. `createServer` is then the one of Node.
import type { RequestHandler } from 'express'
import * as http from 'node:http'
import { Socket } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { warnOnce } from '../audit/warning'

// Express gives every request and response another prototype. V8 before version 13 makes a new hidden class for each
// such object as soon as a property is added, so every read of a property then costs a search.
const isNeeded = Number.parseInt(process.versions.v8, 10) < 13

const temporary = Symbol('temporary')

/**
 * Makes a middleware that first gives a request and its response the hidden class that all dictionaries share, which
 * makes every later read of a property faster: in this package, in Node and in the handlers of the host. Leaves those of
 * `createServer` as they are. With V8 13 or later, the middleware is `handle` itself.
 */
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

// To delete a property turns an object into a dictionary, and changes nothing else about the object.
function makeDictionary(message: object): void {
  Reflect.set(message, temporary, undefined)
  Reflect.deleteProperty(message, temporary)
}

/**
 * The classes for the server that the function `name` creates for an application. None with V8 13 or later, and none if
 * they do not fit, with a warning.
 */
export function messageClassesFor(
  name: string,
  app: http.RequestListener,
  options: http.ServerOptions,
): Partial<MessageClasses> {
  if (!isNeeded) return {}
  const own = options.IncomingMessage !== undefined || options.ServerResponse !== undefined
  const found = own
    ? { obstacle: 'its options already name an IncomingMessage or a ServerResponse' }
    : makeMessageClasses(app)
  if (!('obstacle' in found)) return found
  warnOnce(
    'EAS_PLAIN_SERVER',
    `${name} created a plain server of Node, which may be slower: ${found.obstacle}.`,
  )
  return {}
}

/** The classes of which a server of Node creates its requests and responses. */
interface MessageClasses {
  readonly IncomingMessage: typeof http.IncomingMessage
  readonly ServerResponse: typeof http.ServerResponse
}

const prototypes = new WeakSet<object>()

/** Whether a server with such classes created this request, with its final prototype from the start. */
function isOfCreatedServer(message: object): boolean {
  const prototype = Reflect.getPrototypeOf(message)
  return prototype !== null && prototypes.has(prototype)
}

/**
 * Makes classes whose instances have the prototypes of Express from the start; or returns the obstacle, as a clause.
 */
function makeMessageClasses(app: http.RequestListener): MessageClasses | { readonly obstacle: string } {
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
