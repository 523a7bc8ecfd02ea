import { IncomingMessage, ServerResponse, type RequestListener } from 'node:http'
import { Socket } from 'node:net'
import { isDeepStrictEqual } from 'node:util'

/** What a server of Node makes its requests and responses with. */
export interface MessageClasses {
  readonly IncomingMessage: typeof IncomingMessage
  readonly ServerResponse: typeof ServerResponse
}

/** Classes whose instances are born with the prototypes that Express would give them, or what stands in the way. */
export function messageClassesFor(app: RequestListener): MessageClasses | { readonly obstacle: string } {
  const request = prototypeOf(app, 'request', IncomingMessage.prototype)
  const response = prototypeOf(app, 'response', ServerResponse.prototype)
  if (request === undefined || response === undefined)
    return { obstacle: 'it was not given an Express application itself, which has the prototypes' }

  const Requests: unknown = classWith(request, IncomingMessage)
  const Responses: unknown = classWith(response, ServerResponse)
  return makesRequests(Requests, request) && makesResponses(Responses, response)
    ? { IncomingMessage: Requests, ServerResponse: Responses }
    : { obstacle: 'what Node makes does not fit the prototypes of the application' }
}

function prototypeOf(app: RequestListener, name: string, origin: object): object | undefined {
  const prototype: unknown = Reflect.get(app, name)
  const descends = typeof prototype === 'object' && prototype !== null && origin.isPrototypeOf(prototype)
  return descends ? prototype : undefined
}

type Letter = 'a' | 'b' | 'c' | 'd' | 'e' | 'f' | 'g' | 'h' | 'i' | 'j' | 'k' | 'l'

/** A constructor that does as the original does, to an object which has that prototype from birth. */
function classWith(prototype: object, original: typeof IncomingMessage | typeof ServerResponse) {
  function Message(this: Record<Letter | `${Letter}2`, 0>, first: unknown, second: unknown): void {
    // Never reached: V8 makes room inside an object by the assignments it reads here, and takes back what stays unused.
    // prettier-ignore
    if (new.target === undefined)
      this.a = this.b = this.c = this.d = this.e = this.f = this.g = this.h = this.i = this.j = this.k = this.l =
      this.a2 = this.b2 = this.c2 = this.d2 = this.e2 = this.f2 = this.g2 = this.h2 = this.i2 = this.j2 = this.k2 =
      this.l2 = 0
    Reflect.apply(original, this, [first, second])
  }
  Message.prototype = prototype
  return Message
}

function makesRequests(made: unknown, prototype: object): made is typeof IncomingMessage {
  const socket = new Socket()
  return makesSame(made, prototype, new IncomingMessage(socket), [socket])
}

function makesResponses(made: unknown, prototype: object): made is typeof ServerResponse {
  const request = new IncomingMessage(new Socket())
  return makesSame(made, prototype, new ServerResponse(request), [request])
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
