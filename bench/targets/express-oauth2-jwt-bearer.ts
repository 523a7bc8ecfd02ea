import { auth, requiredScopes } from 'express-oauth2-jwt-bearer'
import { createApp } from '../app'
import { scope } from '../cast'
import { jwtIssuer } from '../jwt-issuer'
import { serveWith } from '../serve-with'

void jwtIssuer().then(({ issuer, audience, algorithm, jwksUri, showKeys, issue }) => {
  const app = createApp()
  app.get('/jwks.json', showKeys)
  app.post('/token', issue)
  const guard = auth({ issuer, audience, jwksUri, tokenSigningAlg: algorithm, strict: true })
  app.get('/photos', guard, requiredScopes(scope), (_request, response) => {
    response.json({ photos: [] })
  })
  serveWith(app)
})
