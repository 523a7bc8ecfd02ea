import type { NextFunction, Request, RequestHandler, Response } from 'express'
import { shareShapes } from '../node-http/shared-shape'
import { ConfigurationError } from '../protocol/configuration'

/**
 * Makes a middleware of a function that answers requests. What it throws goes to the error handling of the host. On a plain
 * server of Node 20 or 22, requests and responses get the hidden class of all others (`node-http/`).
 */
export function handler(
  answer: (request: Request, response: Response, next: NextFunction) => Promise<unknown>,
): RequestHandler {
  return (request, response, next) => {
    shareShapes(request, response)
    answer(request, response, next).catch(next)
  }
}

/** A part of the server that the host makes by calling it; mounted uncalled, it says so instead of hanging requests. */
export function part<Made>(name: string, make: () => Made): () => Made {
  return (...given: readonly unknown[]) => {
    if (given.length === 0) return make()
    throw mountedUncalled(name, `${name}()`)
  }
}

/** A function that makes a middleware was mounted as if it were the middleware. @param call how it is called. */
export function mountedUncalled(name: string, call: string): ConfigurationError {
  const message = `makes the middleware and is not one itself: mount oauth.${call}.`
  return new ConfigurationError('The authorization server is mounted wrongly:', [
    { path: `oauth.${name}`, message },
  ])
}
