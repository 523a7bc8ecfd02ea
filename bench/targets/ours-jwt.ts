import { createBearerGuard } from 'express-authorization-server/guards'
import { createApp } from '../app'
import { scope } from '../cast'
import { jwtIssuer } from '../jwt-issuer'
import { serveWith } from '../serve-with'

void jwtIssuer().then(({ issuer, audience, algorithm, jwksUri, showKeys, issue }) => {
  const app = createApp()
  app.get('/jwks.json', showKeys)
  app.post('/token', issue)
  const guard = createBearerGuard({
    issuer,
    jwt: {
      audience,
      jwks_uri: jwksUri,
      algorithms: [algorithm],
      ...(process.env['BENCH_VERIFIED'] === 'each time' ? { maximumCached: 0 } : {}),
    },
  })
  guard.events.on('refused', ({ reason }) => console.error(reason))
  app.get('/photos', guard(scope), (_request, response) => {
    response.json({ photos: [] })
  })
  serveWith(app)
})
