import express, { type RequestHandler } from 'express'
import type { Response } from 'supertest'
import {
  type AuthorizationServerOptions,
  type BearerGuardOptions,
  memoryStore,
  type Plugin,
  stepUp,
} from '../../../lib/index'
import { createBearerGuard } from '../../../lib/paths/guards'
import { jwtAccessTokenReader, jwtAccessTokens } from '../../../lib/paths/jwt'
import { failuresOf, type Failure } from '../events'
import { startServer } from '../start-server'
import { application } from './application'
import { Clock } from './clock'
import { authorizationRequest, Flow, formOf, type Fields } from './flow'
import { sharedKeys, withJwts } from './jwt-tokens'
import { gallery, job, photosApi, printApi } from './resources'

export const guardNames = ['same process', 'by signature', 'other process', 'JWT', 'introspection'] as const
export type GuardName = (typeof guardNames)[number]

/** How and when the owner has logged in. */
export interface HostLogin {
  readonly authTime?: number
  readonly acr?: string
}

type MakeGuard = (scope: string, terms: BearerGuardOptions) => RequestHandler

const scopes = ['photos:read', 'photos:print', 'reports:write']
const resources = { [photosApi]: { scopes }, [printApi]: { scopes } }

/** The classes that the login of this host can meet. */
export const classes = ['urn:example:gold', 'urn:example:silver']

/**
 * One server that issues JWTs, every guard of the package for them, and a host whose owner logs in when a test says so.
 * `stop` ends the server.
 *
 * @param inGuards plug-ins of the guards.
 */
export async function stepUpStage(
  options: Partial<AuthorizationServerOptions> = {},
  inGuards: readonly Plugin[] = [],
) {
  const clock = new Clock()
  const origin = express()
  const listening = await startServer(origin)
  const issuer = `http://127.0.0.1:${listening.port}`
  const store = memoryStore({ clock: clock.read })
  const keys = sharedKeys()
  const now = () => Math.floor(clock.read() / 1000)
  const login: { current: HostLogin } = { current: { authTime: now(), acr: 'urn:example:silver' } }
  const { plugins: more = [stepUp({ acrValues: classes })], ...others } = options
  const plugins = [keys, jwtAccessTokens({ keys }), ...more, ...inGuards]
  const { app, flow, oauth } = application(
    {
      ...withJwts({ store, clock: clock.read, plugins, resources, defaultResource: photosApi }),
      issuer,
      resourceOwner: (req) => {
        const subject = req.get('X-Owner')
        return subject ? { subject, ...login.current } : undefined
      },
      ...others,
    },
    { mount: (host, server) => void host.use(server.router()) },
  )
  origin.use(app)
  const jwks = (await flow.open('/.well-known/jwks.json')).body
  const shared = {
    issuer,
    clock: clock.read,
    resources,
    defaultResource: photosApi,
    plugins: inGuards,
  }
  const client = { client_id: job.registration.client_id, client_secret: job.secret ?? '' }
  const elsewhere = createBearerGuard({
    ...shared,
    store,
    plugins: [jwtAccessTokenReader({ jwks }), ...inGuards],
  })
  const alone = createBearerGuard({ ...shared, jwt: { jwks } })
  const asking = createBearerGuard({ ...shared, introspection: { client } })
  const ofServer: MakeGuard = (scope, terms) => oauth.bearerGuard(scope, { resource: photosApi, ...terms })
  const guards: Readonly<Record<GuardName, MakeGuard>> = {
    'same process': ofServer,
    'by signature': (scope, terms) => ofServer(scope, { ...terms, verify: 'signature' }),
    'other process': elsewhere,
    JWT: alone,
    introspection: asking,
  }
  const ofOwn = failuresOf(oauth.events)
  const failures: Readonly<Record<GuardName, readonly Failure[]>> = {
    'same process': ofOwn,
    'by signature': ofOwn,
    'other process': failuresOf(elsewhere.events),
    JWT: failuresOf(alone.events),
    introspection: failuresOf(asking.events),
  }

  /** A route behind the guard of this name. */
  const guarded = (name: GuardName, scope: string, terms: BearerGuardOptions): Flow =>
    new Flow(
      express().get('/photos', guards[name](scope, terms), (request, response) => {
        response.json(request.oauth)
      }),
    )
  /** What each guard answers to the token. */
  const answersOf = (token: string, terms: BearerGuardOptions, scope = 'photos:read') =>
    Promise.all(guardNames.map((name) => guarded(name, scope, terms).photos(token)))
  /** The answer that all guards give, as status, error, and the attributes of the challenge about the login. */
  const verdictOf = async (token: string, terms: BearerGuardOptions, scope?: string) => {
    const answers = (await answersOf(token, terms, scope)).map(outcomeAt)
    expect(answers).toEqual(guardNames.map(() => answers[0]))
    return String(answers[0])
  }

  /** The tokens of an owner who has logged in like this. */
  const tokens = async (how: HostLogin, bend: Fields = {}) => {
    login.current = how
    const asked = { scope: 'photos:read', resource: photosApi, ...bend }
    return (await flow.redeem(gallery, await flow.approve(gallery, asked))).body
  }
  /** The first answer to an authorization request; with an empty owner, no owner is logged in. */
  const ask = (bend: Fields, owner = 'alice') => {
    const asked = { ...authorizationRequest(gallery), scope: 'photos:read', resource: photosApi, ...bend }
    return flow.open(`/authorize?${formOf(asked)}`, owner)
  }
  const { stop } = listening
  return {
    app,
    flow,
    oauth,
    issuer,
    clock,
    now,
    login,
    guards,
    guarded,
    answersOf,
    verdictOf,
    failures,
    tokens,
    ask,
    stop,
  }
}

/** Status and error of a guard, and what its challenge says of the login. */
export function outcomeAt(response: Response): string {
  const header = response.get('WWW-Authenticate') ?? ''
  const told = [...header.matchAll(/\b(?:acr_values|max_age)="[^"]*"/g)].map(([attribute]) => attribute)
  return [response.status, response.body.error, ...told].filter(Boolean).join(' ')
}
