// Tuning for V8 before 13 (Node 20 and 22): requests and responses share a hidden class.
// Buys: on a plain server, a guarded route takes a third less processor time, a token request a fifth less.
// On a server of `createServer`, a bare route takes about a quarter, an ordinary application half. On Node 24
// nothing, so it is off there.
// Measured: 2026-11-23 on Node 20.20, 22.23 and 24.21, docs/reports/performance.md.
// Can go: with Node 22. `createServer` is then Node's own.
import type { RequestHandler } from 'express'
import * as http from 'node:http'
import { Socket } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { warnOnce } from '../audit/warning'

// Express changes each prototype. V8 before 13 then makes a new hidden class for each object as soon as a
// property is added, and every read costs a search.
const isNeeded = Number.parseInt(process.versions.v8, 10) < 13

const temporary = Symbol('temporary')

/** The hidden class of all dictionaries makes later reads faster, here, in Node and in the host. */
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

// Deleting a property turns an object into a dictionary, and changes nothing else.
function makeDictionary(message: object): void {
  Reflect.set(message, temporary, undefined)
  Reflect.deleteProperty(message, temporary)
}

export function messageClassesFor(
  name: string,
  app: http.RequestListener,
  options: http.ServerOptions,
): Partial<MessageClasses> {
  if (!isNeeded) return {}
  const own = options.IncomingMessage !== undefined || options.ServerResponse !== undefined
  const found = own
    ? { reason: 'its options already name an IncomingMessage or a ServerResponse' }
    : makeMessageClasses(app)
  if (!('reason' in found)) return found
  warnOnce(
    'EAS_PLAIN_SERVER',
    `${name} created a plain server of Node, which may be slower: ${found.reason}.`,
  )
  return {}
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
  if (!makesRequests(Requests, request) || !makesResponses(Responses, response))
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
// assignments never run, as `new` always sets `new.target`: V8 counts them to reserve room inside the object,
// and later takes unused room back.

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

/** A setter in the prototype would make another object than Node's. */
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
