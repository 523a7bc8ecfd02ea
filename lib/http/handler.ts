import type { NextFunction, Request, RequestHandler, Response } from 'express'
import { shareShapes } from '../node-http/shared-shape'
import { ConfigurationError } from '../protocol/configuration'

/**
 * Makes a middleware from a function that responds to requests. An error goes to the error handling of the host. On a
 * plain server of Node 20 or 22, requests and responses get the hidden class of all others (`node-http/`).
 */
export function handler(
  answer: (request: Request, response: Response, next: NextFunction) => Promise<unknown>,
): RequestHandler {
  return (request, response, next) => {
    shareShapes(request, response)
    answer(request, response, next).catch(next)
  }
}

/**
 * Wraps a function that makes a middleware. If the host mounts the function without calling it, the first request gets
 * an error message instead of hanging.
 */
export function part<Made>(name: string, make: () => Made): () => Made {
  return (...given: readonly unknown[]) => {
    if (given.length === 0) return make()
    throw mountedUncalled(name, `${name}()`)
  }
}

/**
 * The error for a function that makes a middleware, if the host mounts it without calling it.
 *
 * @param call the right call.
 */
export function mountedUncalled(name: string, call: string): ConfigurationError {
  const message = `is a function that makes the middleware: call it, and mount oauth.${call}.`
  return new ConfigurationError('The authorization server is mounted wrongly:', [
    { path: `oauth.${name}`, message },
  ])
}
