const names = 'approve, expectRefused, mintToken'

const tests = `
const oauth = createAuthorizationServer({
  issuer: 'http://localhost',
  scopes: { photos: 'See your photos' },
  resourceOwner: () => 'ada',
  clients: [
    { client_id: 'album', client_type: 'public', scope: 'photos', redirect_uris: ['http://127.0.0.1/cb'] },
  ],
})
const app = express()
app.use(oauth.router())
app.get('/photos', oauth.bearerGuard('photos'), (req, res) => res.json({ of: req.oauth.subject }))

test('a guarded route', async () => {
  const { access_token } = await mintToken(oauth, { subject: 'ada', clientId: 'album' })
  await request(app).get('/photos').auth(access_token, { type: 'bearer' }).expect(200, { of: 'ada' })
  expectRefused(await request(app).get('/photos').auth('x', { type: 'bearer' }), 'token_invalid')
})

test('a flow', async () => {
  const asked = { clientId: 'album', redirectUri: 'http://127.0.0.1/cb', scope: 'photos' }
  const { tokens } = await approve(request(app), asked)
  await request(app).get('/photos').auth(tokens.access_token, { type: 'bearer' }).expect(200, { of: 'ada' })
})
`

/** Two tests of a host as CommonJS. @param runner takes `test` from the runner, where it is no global. */
export function required(runner: string): string {
  return `const { createAuthorizationServer } = require('express-authorization-server')
const { ${names} } = require('express-authorization-server/testing')
const express = require('express')
const request = require('supertest')
${runner}
${tests}`
}

/** These tests as an ES module. */
export function imported(runner: string): string {
  return `import { createAuthorizationServer } from 'express-authorization-server'
import { ${names} } from 'express-authorization-server/testing'
import express from 'express'
import request from 'supertest'
${runner}
${tests}`
}
