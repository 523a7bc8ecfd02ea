import express from 'express'
import { createAuthorizationServer } from 'express-authorization-server'
import { openIdConnect } from 'express-authorization-server/openid-connect'
import { signingKeys } from 'express-authorization-server/jwt'

const callback = process.env['CALLBACK'] ?? 'http://127.0.0.1:4000/callback'
const users = new Map([['u-1815', { name: 'Ada Lovelace', email: 'ada@example.com', email_verified: true }]])
const keys = signingKeys({
  secrets: [process.env['SIGNING_KEY_SECRET'] ?? 'for development only, it seals no secret'],
  algorithms: ['RS256'],
})
const oauth = createAuthorizationServer({
  issuer: process.env['ISSUER'] ?? 'http://localhost:3000',
  scopes: { openid: 'Know who you are', profile: 'See your name', email: 'See your e-mail address' },
  clients: [
    { client_id: 'album', client_type: 'public', redirect_uris: [callback], scope: 'openid profile email' },
  ],
  resourceOwner: () => ({ subject: 'u-1815', name: 'Ada Lovelace' }), // the logged-in user, for example from `req.user`
  plugins: [keys, openIdConnect({ keys, claims: async (subject) => users.get(subject) })],
})
express()
  .use(oauth.router())
  .listen(process.env['PORT'] ?? 3000)
