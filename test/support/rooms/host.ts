import express, { type ErrorRequestHandler, type Express } from 'express'
import { createAuthorizationServer, type AuthorizationServer } from '../../../lib/server/authorization-server'
import { failuresOf, type Failure } from '../events'
import type { AuthorizationServerOptions } from '../../../lib/config/options'
import { optionsWith } from './registrations'

/** An Express application with an authorization server in it, and what came out of that on the side. */
export interface Host {
  readonly app: Express
  readonly oauth: AuthorizationServer
  /** Every failure event, in order. */
  readonly failures: readonly Failure[]
  /** Every error that reached the host's own error handling; answered with 500 and `the host's page`. */
  readonly errors: readonly unknown[]
}

type Mount = (app: Express, oauth: AuthorizationServer) => unknown

/** Starts nothing: supertest listens for each request. */
export function hostWith(
  bend: Partial<AuthorizationServerOptions> = {},
  mount: Mount = (app, oauth) => app.use(oauth.router()),
): Host {
  const oauth = createAuthorizationServer(optionsWith(bend))
  const failures = failuresOf(oauth.events)
  const app = express()
  mount(app, oauth)
  const errors = catchErrors(app)
  return { app, oauth, failures, errors }
}

/** Ends an application with error handling of the host's own, which keeps what it gets. */
export function catchErrors(app: Express): readonly unknown[] {
  const errors: unknown[] = []
  const handle: ErrorRequestHandler = (error, _request, response, next) => {
    errors.push(error)
    if (response.headersSent) return next(error)
    response.status(500).send("the host's page")
    return undefined
  }
  app.use(handle)
  return errors
}
