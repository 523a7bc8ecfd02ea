import express from 'express'
import session from 'express-session'
import * as openid from 'openid-client'

declare module 'express-session' {
  interface SessionData {
    login: { expectedState: string; expectedNonce: string; pkceCodeVerifier: string }
    user: { id: string; name: string }
  }
}

const redirect_uri = process.env['CALLBACK'] ?? 'http://127.0.0.1:4000/callback'
const issuer = new URL(process.env['ISSUER'] ?? 'http://localhost:3000')
const discovered = openid.discovery(issuer, 'album', undefined, openid.None(), {
  execute: [openid.allowInsecureRequests], // because localhost has no https
})

const app = express()
app.use(session({ secret: 'for development only', resave: false, saveUninitialized: false }))

app.get('/', (req, res) => {
  const { user } = req.session
  if (user === undefined) res.send('<a href="/login">Log in with our app</a>')
  else res.json(user)
})

app.get('/login', async (req, res) => {
  const pkceCodeVerifier = openid.randomPKCECodeVerifier()
  const login = { expectedState: openid.randomState(), expectedNonce: openid.randomNonce(), pkceCodeVerifier }
  req.session.login = login
  const url = openid.buildAuthorizationUrl(await discovered, {
    redirect_uri,
    scope: 'openid profile email',
    state: login.expectedState,
    nonce: login.expectedNonce,
    code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  })
  res.redirect(303, url.href)
})

app.get('/callback', async (req, res, next) => {
  const { login } = req.session
  if (login === undefined) return res.redirect(303, '/')
  const tokens = await openid.authorizationCodeGrant(await discovered, new URL(req.url, redirect_uri), login)
  const id = tokens.claims()?.sub ?? ''
  const { name = id } = await openid.fetchUserInfo(await discovered, tokens.access_token, id)
  // A new session id: an attacker who knows the old one does not get the login.
  req.session.regenerate((error) => {
    if (error) return next(error)
    req.session.user = { id, name }
    res.redirect(303, '/')
  })
})

app.listen(Number(new URL(redirect_uri).port), '127.0.0.1')
