import express from 'express'
import { createAuthorizationServer } from 'express-authorization-server'
import { dpop } from 'express-authorization-server/dpop'

const issuer = process.env['ISSUER'] ?? 'http://localhost:3000'
const callback = 'http://127.0.0.1:4000/callback'
const oauth = createAuthorizationServer({
  issuer,
  scopes: { 'photos:read': 'See your photos' },
  clients: [{ client_id: 'album', client_type: 'public', redirect_uris: [callback], scope: 'photos:read' }],
  resourceOwner: () => ({ subject: 'ada' }), // the logged-in user, for example from `req.user`
  plugins: [dpop({ baseUrl: issuer })], // the URL of the API, as clients write it
})
express()
  .use(oauth.router())
  .get('/photos', oauth.bearerGuard('photos:read'), (req, res) => void res.json({ of: req.oauth?.subject }))
  .listen(process.env['PORT'] ?? 3000)
