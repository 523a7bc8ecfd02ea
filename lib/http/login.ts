import type { Request } from 'express'
import { queryAfterLogin } from '../authorization-endpoint/demanded-login'
import type { LoginDemand } from '../authorization-endpoint/visit'
import { type LoginRequest, loginQueryOf } from '../protocol/resource-owner'
import type { OAuthError } from '../protocol/oauth-error'
import type { Parameters } from '../protocol/parameters'
import { refused } from '../protocol/refusals'
import { appendToQuery } from '../protocol/redirect-uri'
import type { Exchange } from './edge'
import { redirectTo } from './response'

/** The login returns to the same request. */
export async function leadToLogin(
  asked: Exchange,
  path: string,
  parameters: Parameters,
  { reference, request: terms }: LoginDemand,
): Promise<void> {
  const { server, request } = asked
  const query = queryAfterLogin(parameters, server.now(), reference)
  if (query === undefined) throw loginLoop(request, server.audit.diagnosis !== undefined, terms.again)
  await logIn(asked, `${path}?${query}`, terms)
}

/** A login at a path gets the way back in `return_to`, and the terms in parameters of OpenID Connect. */
export function logIn({ server, request, response }: Exchange, path: string, terms: LoginRequest): unknown {
  const { login, mount } = server.settings
  const returnTo = mount + path
  if (typeof login === 'function') return login(request, response, returnTo, terms)
  return redirectTo(response, appendToQuery(login, { return_to: returnTo, ...loginQueryOf(terms) }))
}

// Explains what to do to the one who sets up the server, never in production.
function loginLoop(request: Request, explains: boolean, again: boolean): OAuthError {
  if (again) return refused(explains ? 'login_loop/no_new_login_explained' : 'login_loop/no_new_login')
  return explains ? refused(`login_loop/${causeOf(request)}`) : refused('login_loop')
}

// Set by express-session and cookie-session. Without cookies, every session is new.
function causeOf(request: Request): 'no_session' | 'no_cookie' | 'no_owner' {
  if (!('session' in request)) return 'no_session'
  return request.headers.cookie === undefined ? 'no_cookie' : 'no_owner'
}
