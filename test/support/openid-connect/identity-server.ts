import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import express, { type Express } from 'express'
import session from 'express-session'
import { listen } from '../../../demo/listen'
import { html, pageDocument } from '../../../lib/pages/html'
import { createAuthorizationServer, type ClientRegistration, type ResourceOwner } from '../../../lib/index'
import { openIdConnect } from '../../../lib/paths/openid-connect'
import { requestObjects } from '../../../lib/paths/pushed-requests'
import { signingKeys } from '../../../lib/paths/jwt'
import { failuresOf, type Failure } from '../events'

declare module 'express-session' {
  interface SessionData {
    resourceOwner: ResourceOwner
  }
}

/** A host with a login by cookies that serves OpenID Connect on loopback. */
export interface IdentityServer {
  readonly issuer: string
  readonly publicKey: KeyObject
  /** The requests that came, such as `GET /userinfo`, with the query. */
  readonly requests: { readonly method: string; readonly url: URL }[]
  /** The parts of OpenID Connect that a client has used, as its requests show: `discovery, state, nonce, PKCE, max_age`. */
  used(): string
  /** What the server refused, in order. */
  readonly failures: readonly Failure[]
  close(): Promise<void>
}

/** @param clientsOf starts the clients, which must know the issuer, and returns what the server must know of them. */
export async function startIdentityServer(
  clientsOf: (issuer: string) => Promise<readonly ClientRegistration[]>,
): Promise<IdentityServer> {
  const origin = await listen(0)
  const { app, url: issuer } = origin
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const requests: IdentityServer['requests'] = []
  const keys = signingKeys({ keys: [{ privateKey }] })
  const claims = (subject: string) => ({ name: `${subject} of the test`, email: `${subject}@example.com` })
  const oauth = createAuthorizationServer({
    issuer,
    clients: await clientsOf(issuer),
    scopes: { openid: 'Know who you are', profile: 'See your name', email: 'See your e-mail address' },
    resourceOwner: (req) => req.session.resourceOwner,
    logOut: (req) => new Promise<void>((resolve) => void req.session.destroy(() => resolve())),
    plugins: [keys, openIdConnect({ keys, claims }), requestObjects()],
  })
  const failures = failuresOf(oauth.events)
  app.use(({ method, url }, _res, next) => {
    requests.push({ method, url: new URL(url, issuer) })
    next()
  })
  signIn(app, issuer)
  app.use(oauth.router())
  const close = async () => {
    await oauth.close()
    await origin.close()
  }
  return { issuer, publicKey, requests, used: () => usedIn(requests), failures, close }
}

/** Sessions and the login of the host. There are no passwords: the form asks who signs in. */
export function signIn(app: Express, origin: string): void {
  app.use(session({ name: 'host.sid', secret: 'test', resave: false, saveUninitialized: false }))
  app.get('/login', (req, res) => {
    const { return_to: returnTo }: { return_to?: string } = req.query
    const form = html`<form method="post" action="/login">
      <input name="username" />
      <input type="hidden" name="return_to" value="${returnTo}" />
      <button>Sign in</button>
    </form>`
    res.send(pageDocument({ title: 'Sign in', content: form }))
  })
  app.post('/login', express.urlencoded({ extended: false }), (req, res, next) => {
    const { username, return_to: returnTo }: { username: string; return_to: string } = req.body
    req.session.regenerate((error) => {
      if (error) return next(error)
      req.session.resourceOwner = { subject: username, authTime: Math.floor(Date.now() / 1000) }
      res.redirect(303, new URL(returnTo, origin).href)
    })
  })
}

const parts = { state: 'state', nonce: 'nonce', code_challenge: 'PKCE', max_age: 'max_age' }

function usedIn(requests: IdentityServer['requests']): string {
  const discovers = requests.some(({ url }) => url.pathname === '/.well-known/openid-configuration')
  const sent = requests.find(({ url }) => url.pathname === '/authorize')?.url.searchParams
  const used = Object.entries(parts).flatMap(([name, part]) => (sent?.get(name) ? [part] : []))
  return [...(discovers ? ['discovery'] : []), ...used].join(', ')
}
