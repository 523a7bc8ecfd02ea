import express from 'express'
import { createAuthorizationServer, generateClientSecret } from 'express-authorization-server'
import { createBearerGuard } from 'express-authorization-server/guards'
import { jwtAccessTokens, signingKeys } from 'express-authorization-server/jwt'

const issuer = process.env['ISSUER'] ?? 'http://localhost:3000'
const audience = 'https://api.example.com'
const secret = process.env['SIGNING_KEY_SECRET'] ?? 'for development only, it seals no secret'
const keys = signingKeys({ secrets: [secret] })
const { client_secret, client_secret_hash } = generateClientSecret()
const oauth = createAuthorizationServer({
  issuer,
  scopes: { 'photos:read': 'See your photos' },
  resources: { [audience]: { scopes: ['photos:read'] } },
  clients: [
    {
      client_id: 'job',
      client_type: 'confidential',
      client_secret_hashes: [client_secret_hash],
      grant_types: ['client_credentials'],
      scope: 'photos:read',
    },
  ],
  plugins: [keys, jwtAccessTokens({ keys })],
})
express().use(oauth.router()).listen(new URL(issuer).port)

// The API: another service, which knows no more of the server than these three values.
const guard = createBearerGuard({ issuer, jwt: { audience, jwks_uri: `${issuer}/.well-known/jwks.json` } })
const api = express()
api.get('/photos', guard('photos:read'), (req, res) => void res.json({ for: req.oauth?.clientId }))
api.listen(process.env['PORT'] ?? 3001)

const grant = '-d grant_type=client_credentials -d scope=photos:read'
console.log(`curl ${issuer}/token -u job:${client_secret} ${grant}`)
