import type { Request, RequestHandler } from 'express'
import session from 'express-session'
import type { Sessions } from './session-store'

/** The sessions of one app. The cookies of localhost are shared by all its ports, so each app has a name of its own. */
export function sessionCookie({ app, secret, store }: Sessions): RequestHandler {
  const withSession = session({
    name: `${app}.sid`,
    secret,
    store,
    resave: false,
    saveUninitialized: false,
    // Not strict: a person who comes back from another app would arrive without the session.
    cookie: { sameSite: 'lax', httpOnly: true, secure: 'auto' },
  })
  return (request, response, next) => {
    store.watch()
    return withSession(request, response, next)
  }
}

/** Ends the session and begins another one, with a new id. */
export function renewSession({ session: old }: Request): Promise<void> {
  return new Promise((resolve, reject) => old.regenerate((error) => (error ? reject(error) : resolve())))
}
