import { randomBytes } from 'node:crypto'
import type { Request, RequestHandler } from 'express'
import session, { type Store } from 'express-session'

/** The sessions of one app. The cookies of localhost are shared by all its ports, so each app has a name of its own. */
export function sessionCookie(app: string, store: Store): RequestHandler {
  return session({
    name: `${app}.sid`,
    secret: process.env['SESSION_SECRET'] ?? randomBytes(32).toString('base64url'),
    store,
    resave: false,
    saveUninitialized: false,
    // Not strict: a person who comes back from another app would arrive without the session.
    cookie: { sameSite: 'lax', httpOnly: true, secure: 'auto' },
  })
}

/** Ends the session and begins another one, with a new id. */
export function renewSession({ session: old }: Request): Promise<void> {
  return new Promise((resolve, reject) => old.regenerate((error) => (error ? reject(error) : resolve())))
}
