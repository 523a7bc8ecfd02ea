import express, { type Express, type RequestHandler } from 'express'
import { Passport, type AuthenticateOptions } from 'passport'
import { createAuthorizationServer, type AuthorizationServer } from '../../../lib/server/authorization-server'
import { failuresOf, type Failure } from '../events'
import type { AuthorizationServerOptions } from '../../../lib/config/options'
import { catchErrors } from './host'
import { optionsWith } from './registrations'

export const everyMethod = ['client_secret_basic', 'client_secret_post', 'none']

/** A host that authenticates clients by a Passport instance of its own, at `/whoami` and at `/token`. */
export interface PassportHost {
  readonly app: Express
  readonly oauth: AuthorizationServer
  readonly passport: InstanceType<typeof Passport>
  readonly failures: readonly Failure[]
  readonly errors: readonly unknown[]
}

interface Ways {
  readonly options?: Partial<AuthorizationServerOptions>
  readonly methods?: string | string[]
  readonly authenticate?: AuthenticateOptions
}

export function passportHost({ options, methods = everyMethod, authenticate }: Ways = {}): PassportHost {
  const oauth = createAuthorizationServer(optionsWith(options))
  const failures = failuresOf(oauth.events)
  const passport = new Passport()
  for (const strategy of oauth.strategies) passport.use(strategy)
  const app = express()
  const byPassport: RequestHandler = passport.authenticate(methods, { session: false, ...authenticate })
  app.post('/whoami', byPassport, (request, response) => {
    const { user, oauthClient } = Object(request)
    response.json({ user, oauthClient })
  })
  app.post('/token', byPassport, ...oauth.token())
  return { app, oauth, passport, failures, errors: catchErrors(app) }
}
