import { readFileSync } from 'node:fs'
import express from 'express'
import { createAuthorizationServer } from 'express-authorization-server'
import { formPost, requestObjects } from 'express-authorization-server/pushed-requests'

const callback = process.env['CALLBACK'] ?? 'http://127.0.0.1:4000/callback'
const publicKey: object = JSON.parse(readFileSync(`${process.env['KEYS'] ?? '.'}/publicKey.json`, 'utf8'))
const oauth = createAuthorizationServer({
  issuer: process.env['ISSUER'] ?? 'http://localhost:3000',
  scopes: { 'photos:read': 'See your photos' },
  clients: [
    {
      client_id: 'album',
      client_type: 'public',
      redirect_uris: [callback],
      scope: 'photos:read',
      jwks: { keys: [publicKey] },
      require_signed_request_object: true,
    },
  ],
  resourceOwner: () => 'u-1815', // the logged-in user, for example from `req.user`
  plugins: [requestObjects(), formPost()],
})
express()
  .use(oauth.router())
  .listen(process.env['PORT'] ?? 3000)
