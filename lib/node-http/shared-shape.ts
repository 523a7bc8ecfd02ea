// Tuning for V8 before version 13 (Node 20 and 22), on a plain server of Node.
// Buys: a third less processor time for a guarded route, a fifth less for a token request.
// Measured: 2026-11-22, docs/performance.md ("What was found").
// Can go: when the package no longer supports Node 22.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isOfCreatedServer } from './create-server'

// Express gives every request and response another prototype. V8 before version 13 makes a new hidden class for each
// such object as soon as a property is added, so every read of a property then costs a search.
const isNeeded = Number.parseInt(process.versions.v8, 10) < 13

const temporary = Symbol('temporary')

/**
 * Gives a request and its response the hidden class that all dictionaries share, which makes every later read of a
 * property faster: in this package, in Node and in the handlers of the host. To delete a property turns an object into
 * a dictionary, and changes nothing else about the object. Does nothing on a server of `createServer`, or with V8 13 or
 * later.
 */
export function shareShapes(request: IncomingMessage, response: ServerResponse): void {
  if (!isNeeded || isOfCreatedServer(request)) return
  makeDictionary(request)
  makeDictionary(response)
}

function makeDictionary(message: object): void {
  Reflect.set(message, temporary, undefined)
  Reflect.deleteProperty(message, temporary)
}
