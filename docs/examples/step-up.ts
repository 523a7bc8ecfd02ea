import express from 'express'
import { createAuthorizationServer, stepUp } from 'express-authorization-server'

const issuer = process.env['ISSUER'] ?? 'http://localhost:3000'
const [knowledge, mfa] = ['urn:example:password', 'urn:example:mfa']
const now = () => Math.floor(Date.now() / 1000)

// In place of your sessions: one user, who has just logged in with a password.
let session = { subject: 'ada', authTime: now(), acr: knowledge }

const oauth = createAuthorizationServer({
  issuer,
  scopes: { photos: 'See and delete your photos' },
  clients: [
    {
      client_id: 'album',
      client_type: 'public',
      redirect_uris: ['http://127.0.0.1:4000/callback'],
      scope: 'photos',
    },
  ],
  resourceOwner: () => session,
  plugins: [stepUp({ acrValues: [mfa, knowledge] })],
})

const app = express()
app.use(oauth.router())
app.get('/photos', oauth.bearerGuard('photos'), (req, res) => void res.json({ of: req.oauth?.subject }))
// The owner who deletes has logged in with a second factor, within five minutes.
app.delete('/photos', oauth.bearerGuard('photos', { maxAge: 300, acr: mfa }), (req, res) => {
  res.json({ deletedBy: req.oauth?.subject, login: req.oauth?.login })
})

// Your login. `acr_values` says which classes the client wants, and `return_to` where the user goes on.
app.get('/login', (req, res) => {
  res.send(
    `<form method="post"><button>Log in for ${req.query['acr_values'] === mfa ? mfa : knowledge}</button></form>`,
  )
})
app.post('/login', (req, res) => {
  session = { subject: 'ada', authTime: now(), acr: req.query['acr_values'] === mfa ? mfa : knowledge }
  const { return_to: way } = req.query
  const back = new URL(typeof way === 'string' ? way : '/', issuer)
  res.redirect(303, back.origin === new URL(issuer).origin ? back.href : '/')
})
app.listen(new URL(issuer).port)
