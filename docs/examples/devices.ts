import express from 'express'
import { createAuthorizationServer } from 'express-authorization-server'
import { deviceAuthorization } from 'express-authorization-server/devices'

const oauth = createAuthorizationServer({
  issuer: process.env['ISSUER'] ?? 'http://localhost:3000',
  scopes: { 'photos:read': 'See your photos' },
  clients: [
    {
      client_id: 'television',
      client_type: 'public',
      client_name: 'Television',
      grant_types: ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'],
      scope: 'photos:read',
    },
  ],
  resourceOwner: () => ({ subject: 'u-1815', name: 'Ada Lovelace' }), // the logged-in user, for example from `req.user`
  plugins: [deviceAuthorization()],
})
express()
  .use(oauth.router())
  .get('/photos', oauth.bearerGuard('photos:read'), (req, res) => {
    res.json({ photosOf: req.oauth?.subject })
  })
  .listen(process.env['PORT'] ?? 3000)
