import * as http from 'node:http'
import { Socket } from 'node:net'
import { isDeepStrictEqual } from 'node:util'

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
