import { auth, requiredScopes } from 'express-oauth2-jwt-bearer'
import type { Express } from 'express'
import { createApp } from '../app'
import { client, lifetimes, owner, scope } from '../cast'
import { port, serve } from '../target'

const issuer = `http://127.0.0.1:${port}`
const audience = 'https://photos.example'

/** The keys come over HTTP from this same process, once, and are kept, as they would be of any issuer. */
async function expressOauth2JwtBearer(): Promise<Express> {
  const { exportJWK, generateKeyPair, SignJWT } = await import('jose')
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  const keys = [{ ...(await exportJWK(publicKey)), alg: 'ES256', kid: 'bench', use: 'sig' }]

  const app = createApp()
  app.get('/jwks.json', (_request, response) => {
    response.json({ keys })
  })
  app.post('/token', async (_request, response) => {
    const accessToken = await new SignJWT({ client_id: client.id, scope })
      .setProtectedHeader({ alg: 'ES256', kid: 'bench', typ: 'at+jwt' })
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject(owner)
      .setJti('bench')
      .setIssuedAt()
      .setExpirationTime(`${lifetimes.accessToken} s`)
      .sign(privateKey)
    response.json({ access_token: accessToken, token_type: 'Bearer' })
  })
  const guard = auth({
    issuer,
    audience,
    jwksUri: `${issuer}/jwks.json`,
    tokenSigningAlg: 'ES256',
    strict: true,
  })
  app.get('/photos', guard, requiredScopes(scope), (_request, response) => {
    response.json({ photos: [] })
  })
  return app
}

void expressOauth2JwtBearer().then(serve)
