import type { Request } from 'express'
import type { OAuthError } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'

/** @param explains what to do, to the one who sets up the server. Never in production. */
export function loginLoop(request: Request, explains: boolean, again: boolean): OAuthError {
  if (again) return refused(explains ? 'login_loop/no_new_login_explained' : 'login_loop/no_new_login')
  return explains ? refused(`login_loop/${causeOf(request)}`) : refused('login_loop')
}

// Set by express-session and cookie-session. Without cookies, every session is new.
function causeOf(request: Request): 'no_session' | 'no_cookie' | 'no_owner' {
  if (!('session' in request)) return 'no_session'
  return request.headers.cookie === undefined ? 'no_cookie' : 'no_owner'
}
