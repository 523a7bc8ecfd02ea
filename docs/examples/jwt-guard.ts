import express, { type Express } from 'express'
import { createBearerGuard } from 'express-authorization-server/guards'

/** A resource server that takes the JWT access tokens of one issuer. */
export function photoServer(issuer: string, jwks_uri: string): Express {
  const guard = createBearerGuard({ issuer, jwt: { audience: 'https://photos.example', jwks_uri } })
  guard.events.on('refused', ({ reason, requestId }) => console.info('refused', reason, requestId))

  const app = express()
  app.get('/ready', (_req, res, next) => {
    guard.ready().then((ready) => res.status(ready ? 200 : 503).end(), next)
  })
  app.get('/photos', guard('photos:read'), (req, res) => {
    res.json({ of: req.oauth?.subject, through: req.oauth?.clientId })
  })
  return app
}
