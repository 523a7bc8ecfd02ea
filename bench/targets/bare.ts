import { randomBytes } from 'node:crypto'
import { urlencoded } from 'express'
import { createApp } from '../app'
import { lifetimes, scope } from '../cast'
import { consentPage } from '../consent-page'
import { serveWith } from '../serve-with'

// What Express costs where nothing is authorized and nothing kept: a form is read, a random token made, an answer sent.
const app = createApp()
const form = urlencoded({ extended: false })
const isApproved = process.env['BENCH_APPROVED'] !== undefined

app.get('/authorize', ({ query: { redirect_uri, state } }, response) => {
  if (typeof redirect_uri !== 'string' || typeof state !== 'string') return void response.sendStatus(400)
  if (isApproved) return response.redirect(303, withCode(redirect_uri, state))
  response.send(consentPage('/decide', { redirect_uri, state }))
})

app.post('/decide', form, (request, response) => {
  response.redirect(303, withCode(request.body.redirect_uri, request.body.state))
})

function withCode(redirectUri: string, state: string): string {
  const location = new URL(redirectUri)
  location.searchParams.set('code', newToken())
  location.searchParams.set('state', state)
  return location.href
}

app.post('/token', form, (request, response) => {
  const isForItself = request.body.grant_type === 'client_credentials'
  response.json({
    access_token: newToken(),
    ...(isForItself ? {} : { refresh_token: newToken() }),
    token_type: 'Bearer',
    expires_in: lifetimes.accessToken,
    scope,
  })
})

app.get('/photos', (_request, response) => {
  response.json({ photos: [] })
})

const newToken = () => randomBytes(32).toString('base64url')

serveWith(app)
