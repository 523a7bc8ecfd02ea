import express from 'express'
import { createAuthorizationServer } from 'express-authorization-server'
import { pushedAuthorizationRequests } from 'express-authorization-server/pushed-requests'

const callback = process.env['CALLBACK'] ?? 'http://127.0.0.1:4000/callback'
const oauth = createAuthorizationServer({
  issuer: process.env['ISSUER'] ?? 'http://localhost:3000',
  scopes: { 'photos:read': 'See your photos' },
  clients: [{ client_id: 'album', client_type: 'public', redirect_uris: [callback], scope: 'photos:read' }],
  resourceOwner: () => ({ subject: 'ada' }), // the logged-in user, for example from `req.user`
  plugins: [pushedAuthorizationRequests({ required: true })],
})
express()
  .use(oauth.router())
  .listen(process.env['PORT'] ?? 3000)
