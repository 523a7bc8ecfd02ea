import express from 'express'
import { createAuthorizationServer } from 'express-authorization-server'
import { storeFrom } from 'express-authorization-server/stores'

const callback = 'http://127.0.0.1:4000/callback'
const oauth = createAuthorizationServer({
  issuer: 'http://localhost:3000',
  store: storeFrom({ STORE_URL: 'file:./oauth.db', ...process.env }), // or redis://, postgres://
  scopes: { 'photos:read': 'See your photos' },
  clients: [{ client_id: 'album', client_type: 'public', redirect_uris: [callback], scope: 'photos:read' }],
  resourceOwner: () => ({ subject: 'ada' }), // the logged-in user, for example from `req.user`
})
const app = express().use(oauth.router())
app.get('/photos', oauth.bearerGuard('photos:read'), (req, res) => void res.json({ of: req.oauth?.subject }))
app.listen(process.env['PORT'] ?? 3000)
