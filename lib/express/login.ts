import type { Request, Response } from 'express'
import { appendToQuery } from '../protocol/redirect-uri'
import { redirectTo } from './page-response'

type Login = (request: Request, response: Response, returnTo: string) => unknown

/** Hands the user agent to the host's login; at a path, the login finds the way back in `return_to`. */
export function loginOf(login: string | Login): Login {
  if (typeof login === 'function') return login
  return (_request, response, returnTo) => redirectTo(response, appendToQuery(login, { return_to: returnTo }))
}
