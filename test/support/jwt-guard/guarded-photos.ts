import express from 'express'
import { createBearerGuard, type JwtSource, type StandaloneGuardOptions } from '../../../lib/paths/guards'
import { hub, hubOnCurve } from '../assertions/jwt'
import { failuresOf } from '../events'
import { Clock } from '../flows/clock'
import { Flow } from '../flows/flow'
import { accessClaims, accessJwt, photoServer } from './access-tokens'

export const hubKeys = { keys: [hub.jwk, hubOnCurve.jwk] }

/** A resource server that knows of its issuer only the keys. */
export function guardedPhotos(bend: Partial<JwtSource> = {}, more: Partial<StandaloneGuardOptions> = {}) {
  const clock = new Clock()
  const { jwks = hubKeys, jwks_uri, ...others } = bend
  const keys = jwks_uri === undefined ? { jwks } : { jwks_uri }
  const jwt = { audience: photoServer, ...keys, ...others }
  const guard = createBearerGuard({ issuer: hub.issuer, clock: clock.read, jwt, ...more })
  const app = express()
  app.get('/photos', guard('photos:read'), (request, response) => void response.json(request.oauth))
  app.get('/both', guard('photos:read photos:print'), (_request, response) => void response.end())
  app.get('/either', guard('photos:read photos:print', { match: 'any' }), (_request, response) => {
    response.end()
  })
  app.get('/open', guard({ optional: true }), (request, response) => {
    response.json({ subject: request.oauth?.subject ?? 'nobody' })
  })
  app.get('/any', guard(), (request, response) => void response.json(request.oauth))
  const flow = new Flow(app)
  const now = () => Math.floor(clock.read() / 1000)
  return {
    app,
    guard,
    clock,
    now,
    failures: failuresOf(guard.events),
    /** A good token, bent. */
    token: (claims: object = {}) => accessJwt(accessClaims(now(), { ...claims })),
    ask: (token: string | undefined, path = '/photos') =>
      flow.open(path, undefined, token === undefined ? {} : { Authorization: `Bearer ${token}` }),
  }
}
