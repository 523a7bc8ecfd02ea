import express, { type Express } from 'express'
import {
  createAuthorizationServer,
  type AuthorizationServer,
  type AuthorizationServerOptions,
} from '../../../lib/index'
import { failuresOf, type Failure } from '../events'
import { everyClient } from './clients'
import { Flow, usualPaths, type Paths } from './flow'

/** How a host puts the parts into its application. */
export type Mount = (app: Express, oauth: AuthorizationServer) => void

/** A host application that lets other applications at its users' photos. */
export interface Application {
  readonly app: Express
  readonly oauth: AuthorizationServer
  readonly flow: Flow
  /** What the server reported, in order. */
  readonly failures: readonly Failure[]
}

export interface Hosting {
  readonly mount?: Mount
  readonly paths?: Partial<Paths>
}

export const canonicalOptions = {
  issuer: 'http://localhost',
  clients: everyClient.map(({ registration }) => registration),
  scopes: {
    'photos:read': 'See your photos',
    'photos:print': 'Print your photos',
    'reports:write': 'Write reports',
  },
  // No session: who is logged in is what this header says.
  resourceOwner: (request) => request.get('X-Owner'),
} satisfies AuthorizationServerOptions

/** For tests in which one owner, one client and one network do what a city does elsewhere. */
export const withoutLimits = {
  limits: { openRequests: false, networks: false, issuing: false, singleUses: false },
} satisfies Partial<AuthorizationServerOptions>

/** The canonical host application, with some options bent, or mounted in another way. */
export function application(
  options: Partial<AuthorizationServerOptions> = {},
  { mount = mountAll, paths = {} }: Hosting = {},
): Application {
  // A machine under load is not a store in trouble.
  const oauth = createAuthorizationServer({ storeDeadline: 10, ...canonicalOptions, ...options })
  const failures = failuresOf(oauth.events)
  const app = express()
  mount(app, oauth)
  return { app, oauth, failures, flow: new Flow(app, { ...usualPaths, ...paths }) }
}

/** The router of the suite and one guarded route, which tells what the token stands for. */
export const mountAll: Mount = (app, oauth) => {
  app.use(oauth.router())
  mountPhotos(app, oauth)
}

export const mountPhotos: Mount = (app, oauth) => {
  app.get('/photos', oauth.bearerGuard('photos:read'), (request, response) => {
    response.json(request.oauth)
  })
}
