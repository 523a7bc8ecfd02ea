import express from 'express'
import serverless from 'serverless-http'
import { createAuthorizationServer } from 'express-authorization-server'
import { redisStore } from 'express-authorization-server/redis'

// Outside the handler: all requests of one instance share the server and its connection to Redis.
const oauth = createAuthorizationServer({
  issuer: process.env['ISSUER'] ?? 'http://localhost:3000',
  store: redisStore({ url: process.env['REDIS_URL'] ?? 'redis://localhost:6379' }),
  scopes: { reports: 'Read your reports' },
  clients: [
    {
      client_id: 'nightly',
      client_type: 'confidential',
      client_secret_hashes: [process.env['NIGHTLY_SECRET_HASH'] ?? ''],
      grant_types: ['client_credentials'],
      redirect_uris: [],
      scope: 'reports',
    },
  ],
})

const app = express()
app.use(oauth.router())
app.get('/reports', oauth.bearerGuard('reports'), (request, response) => {
  response.json({ reports: ['monday', 'tuesday'], readBy: request.oauth?.clientId })
})

export const handler = serverless(app)
