import type { Request } from 'express'
import { invalidRequest, type OAuthError } from '../protocol/oauth-error'

/**
 * @param explains what to do, to the one who sets up the server. Never in production.
 * @param again whether a logged-in owner has to log in again.
 */
export function loginLoop(request: Request, explains: boolean, again: boolean): OAuthError {
  const cause = again ? 'no_new_login' : causeOf(request)
  const observed = { cause }
  if (again)
    return invalidRequest(
      'login_loop',
      explains
        ? 'The login came back three times without a new login: the page of the login must ask again, and the option resourceOwner must return authTime.'
        : 'The login came back three times without a new login.',
      { observed },
    )
  if (!explains)
    return invalidRequest('login_loop', 'The login came back three times, and no user is logged in here.', {
      observed,
    })
  if (cause === 'no_session')
    return invalidRequest(
      'login_loop',
      'The login came back three times, and the request has no session: mount the session middleware before oauth.router().',
      { observed },
    )
  if (cause === 'no_cookie')
    return invalidRequest(
      'login_loop',
      'The login came back three times, and the browser sent no cookie: check its host (localhost and 127.0.0.1 are two), Secure over http, and SameSite.',
      { observed },
    )
  return invalidRequest(
    'login_loop',
    'The login came back three times, and the option resourceOwner finds no owner in the session.',
    { observed },
  )
}

// Set by express-session and cookie-session. Without cookies, every session is new.
function causeOf(request: Request): 'no_session' | 'no_cookie' | 'no_owner' {
  if (!('session' in request)) return 'no_session'
  return request.headers.cookie === undefined ? 'no_cookie' : 'no_owner'
}
