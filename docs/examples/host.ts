import express from 'express'
import session from 'express-session'
import helmet from 'helmet'
import { createAuthorizationServer } from 'express-authorization-server'

declare module 'express-session' {
  interface SessionData {
    user: { id: string; name: string }
    loggedInAt: number
  }
}

const issuer = process.env['ISSUER'] ?? 'http://localhost:3000'
const callback = process.env['CALLBACK'] ?? 'http://127.0.0.1:4000/callback'
const oauth = createAuthorizationServer({
  issuer,
  scopes: {
    'photos:read': 'See your photos',
    'photos:delete': { description: 'Delete your photos', weight: 'danger', optional: true },
  },
  clients: [
    {
      client_id: 'album',
      client_name: 'Album',
      client_type: 'public',
      redirect_uris: [callback],
      scope: 'photos:read photos:delete',
    },
  ],
  resourceOwner: ({ session: { user, loggedInAt } }) =>
    user && { subject: user.id, name: user.name, authTime: loggedInAt },
  authorizations: { fromTheStart: true },
  pages: {
    consent: (_req, res, view) => res.render('consent', { view }),
    connected: (_req, res, view) => res.render('connected', { view }),
    error: (_req, res, view) => res.render('refused', { view }),
  },
})

const app = express()
app.set('view engine', 'ejs')
// The forms of the login and of the consent page end at the client, which helmet's own form-action forbids. `http:` is
// for loopback. A native application also needs its own scheme here.
app.use(helmet({ contentSecurityPolicy: { directives: { 'form-action': ["'self'", 'https:', 'http:'] } } }))
app.use(
  session({
    secret: process.env['SESSION_SECRET'] ?? 'for development only',
    resave: false,
    saveUninitialized: false,
    cookie: { sameSite: 'lax', secure: 'auto' },
  }),
)
app.use(oauth.router())
app.get('/photos', oauth.bearerGuard('photos:read'), (req, res) => {
  res.json({ photosOf: req.oauth?.subject })
})

// Body parsers, protection against CSRF and a login wall stand here, behind the router and the guards.
app.use(express.urlencoded({ extended: false }))

app.get('/', (req, res) => res.render('home', { user: req.session.user }))

app.get('/login', (req, res) => res.render('login', { returnTo: req.query['return_to'], message: undefined }))

app.post('/login', (req, res, next) => {
  const { name, password, return_to: returnTo } = req.body
  const user = findUser(name, password)
  if (user === undefined) return res.status(401).render('login', { returnTo, message: 'Please try again.' })
  // A new session id: an attacker who knows the old one does not get the login.
  req.session.regenerate((error) => {
    if (error) return next(error)
    req.session.user = user
    req.session.loggedInAt = Math.floor(Date.now() / 1000)
    res.redirect(303, wayBack(returnTo))
  })
})

app.post('/logout', (req, res, next) => {
  req.session.destroy((error) => (error ? next(error) : res.redirect(303, '/')))
})

/** Leads to a page of this host, and never to another site. */
function wayBack(returnTo: unknown): string {
  const { origin } = new URL(issuer)
  if (typeof returnTo !== 'string' || !URL.canParse(returnTo, origin)) return '/'
  const url = new URL(returnTo, origin)
  return url.origin === origin ? url.href : '/'
}

/** Your own users, and your own check of the password. */
function findUser(name: unknown, password: unknown) {
  return name === 'ada' && password === 'lovelace' ? { id: 'u-1815', name: 'Ada Lovelace' } : undefined
}

app.listen(process.env['PORT'] ?? 3000)
