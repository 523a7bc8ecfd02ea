import type { IncomingMessage, ServerResponse } from 'node:http'
import { isOfCreatedServer } from './create-server'

// Express gives every request and response another prototype. In V8 before version 13, whatever is added to such an object
// afterwards gives it a hidden class of its own, so that each property that anybody reads of it is searched for.
const isNeeded = Number.parseInt(process.versions.v8, 10) < 13

const passing = Symbol('passing')

/**
 * Lets a request and its response have the hidden class of all others again, for whoever reads them from now on: the suite,
 * Node, and the host behind a guard. A deletion does it, which makes a dictionary of the object; nothing else about it
 * changes. With `createServer` there is nothing to do.
 */
export function shareShapes(request: IncomingMessage, response: ServerResponse): void {
  if (!isNeeded || isOfCreatedServer(request)) return
  makeDictionary(request)
  makeDictionary(response)
}

function makeDictionary(message: object): void {
  Reflect.set(message, passing, undefined)
  Reflect.deleteProperty(message, passing)
}
