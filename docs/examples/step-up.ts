import express from 'express'
import { createAuthorizationServer, stepUp } from 'express-authorization-server'

const issuer = process.env['ISSUER'] ?? 'http://localhost:3000'
const callback = 'http://127.0.0.1:4000/callback'
const [knowledge, mfa] = ['urn:example:password', 'urn:example:mfa']
const now = () => Math.floor(Date.now() / 1000)

// In place of your sessions.
let session = { subject: 'ada', authTime: now(), acr: knowledge }

const oauth = createAuthorizationServer({
  issuer,
  scopes: { photos: 'See and delete your photos' },
  clients: [{ client_id: 'album', client_type: 'public', redirect_uris: [callback], scope: 'photos' }],
  resourceOwner: () => session,
  plugins: [stepUp({ acrValues: [mfa, knowledge] })],
})

const app = express()
app.use(oauth.router())
app.get('/photos', oauth.bearerGuard('photos'), (req, res) => void res.json({ of: req.oauth?.subject }))
app.delete('/photos', oauth.bearerGuard('photos', { maxAge: 300, acr: mfa }), (req, res) => {
  res.json({ deletedBy: req.oauth?.subject, login: req.oauth?.login })
})

// In place of your login.
app.get('/login', (_req, res) => void res.send('<form method="post"><button>Log in</button></form>'))
app.post('/login', (req, res) => {
  const { acr_values, return_to } = req.query
  session = { subject: 'ada', authTime: now(), acr: acr_values === mfa ? mfa : knowledge }
  const back = new URL(typeof return_to === 'string' ? return_to : '/', issuer)
  res.redirect(303, back.origin === new URL(issuer).origin ? back.href : '/')
})
app.listen(new URL(issuer).port)
