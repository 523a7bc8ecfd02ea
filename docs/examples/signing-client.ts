import type { webcrypto } from 'node:crypto'
import { readFileSync } from 'node:fs'
import express from 'express'
import * as openid from 'openid-client'

const redirect_uri = process.env['CALLBACK'] ?? 'http://127.0.0.1:4000/callback'
const issuer = new URL(process.env['ISSUER'] ?? 'http://localhost:3000')
const discovered = openid.discovery(issuer, 'album', undefined, openid.None(), {
  algorithm: 'oauth2',
  execute: [openid.allowInsecureRequests], // because localhost has no https
})
const jwk: webcrypto.JsonWebKey = JSON.parse(
  readFileSync(`${process.env['KEYS'] ?? '.'}/privateKey.json`, 'utf8'),
)
const signing = { name: 'ECDSA', namedCurve: 'P-256' }
const imported = crypto.subtle.importKey('jwk', jwk, signing, false, ['sign'])

const app = express()
app.use(express.urlencoded({ extended: false }))

app.get('/', async (_req, res) => {
  const login = {
    expectedState: openid.randomState(),
    pkceCodeVerifier: openid.randomPKCECodeVerifier(),
  }
  const parameters = {
    redirect_uri,
    scope: 'photos:read',
    state: login.expectedState,
    code_challenge: await openid.calculatePKCECodeChallenge(login.pkceCodeVerifier),
    code_challenge_method: 'S256',
    response_mode: 'form_post',
  }
  const key = { key: await imported, kid: '1' }
  const url = await openid.buildAuthorizationUrlWithJAR(await discovered, parameters, key)
  // The form comes from another site: without `SameSite=None`, the browser keeps the cookie back.
  res.cookie('login', JSON.stringify(login), { httpOnly: true, sameSite: 'none', secure: true })
  res.redirect(303, url.href)
})

async function scopeOf(cookie: string, body: Record<string, string>) {
  const login: { expectedState: string; pkceCodeVerifier: string } = JSON.parse(decodeURIComponent(cookie))
  const response = new Request(redirect_uri, { method: 'POST', body: new URLSearchParams(body) })
  const { scope } = await openid.authorizationCodeGrant(await discovered, response, login)
  return scope
}

app.post('/callback', (req, res, next) => {
  const [, cookie] = /(?:^|; )login=([^;]*)/.exec(req.headers.cookie ?? '') ?? []
  if (cookie === undefined) res.redirect(303, '/')
  else scopeOf(cookie, req.body).then((scope) => res.json({ scope }), next)
})

app.listen(Number(new URL(redirect_uri).port), '127.0.0.1')
