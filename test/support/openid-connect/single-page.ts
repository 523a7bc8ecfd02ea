import { generateKeyPairSync } from 'node:crypto'
import express, { type Express } from 'express'
import { createAuthorizationServer, type ClientRegistration } from '../../../lib/index'
import { jwtAccessTokens, signingKeys } from '../../../lib/paths/jwt'
import { openIdConnect } from '../../../lib/paths/openid-connect'
import { failuresOf } from '../events'
import { authority, httpsOrigin } from '../https-origin'
import type { Listener } from '../listening'
import { signIn } from './identity-server'

export interface SinglePageOptions {
  /** Whether the app has the origin of the server. */
  readonly isOfServer?: boolean
  /** Whether the host lets the app send cookies to the token endpoint. */
  readonly allowsCookies?: boolean
  readonly issuesJwts?: boolean
  readonly grantTypes?: ClientRegistration['grant_types']
}

/**
 * @param library the file of the library that the page loads.
 * @param pageOf the script of the page; it knows the issuer.
 */
export async function startSinglePage(
  library: string,
  pageOf: (issuer: string) => string,
  { isOfServer = false, allowsCookies = false, issuesJwts = false, grantTypes }: SinglePageOptions = {},
) {
  const host = express()
  const spa = isOfServer ? host : express()
  const identity = authority.issue(['localhost', '127.0.0.1'])
  const listeners: Listener[] = [await httpsOrigin(identity, host), await httpsOrigin(identity, spa)]
  const [port, spaPort] = listeners.map((each) => each.port)
  // Two sites for the browser: names differ.
  const issuer = `https://localhost:${port}`
  const app = isOfServer ? issuer : `https://127.0.0.1:${spaPort}`
  const tokenRequests: URLSearchParams[] = []
  const cookies = { 'Access-Control-Allow-Origin': app, 'Access-Control-Allow-Credentials': 'true' }
  if (allowsCookies)
    host.use('/token', (_req, res, next) => {
      res.set(cookies)
      next()
    })
  const client = { ...registration, ...urisOf(app), ...(grantTypes && { grant_types: grantTypes }) }
  const oauth = serve(host, issuer, client, tokenRequests, issuesJwts)
  const failures = failuresOf(oauth.events)
  showPage(spa, library, pageOf(issuer))
  const close = async () => {
    await oauth.close()
    await Promise.all(listeners.map((listener) => listener.close()))
  }
  return { issuer, app, failures, tokenRequests, close }
}

/** A server with OpenID Connect and a guarded route, and the app of another origin that a browser loads. Both by https. */
export type SinglePageStage = Awaited<ReturnType<typeof startSinglePage>>

const registration = {
  client_id: 'wall',
  client_type: 'public',
  client_name: 'Photo Wall',
  grant_types: ['authorization_code', 'refresh_token'],
  scope: 'openid profile email photos:read',
} satisfies ClientRegistration

const urisOf = (app: string) => ({ redirect_uris: [`${app}/`], post_logout_redirect_uris: [`${app}/bye`] })

function serve(
  host: Express,
  issuer: string,
  client: ClientRegistration,
  requests: URLSearchParams[],
  issuesJwts: boolean,
) {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const keys = signingKeys({ keys: [{ privateKey }] })
  const photos = `${issuer}/photos`
  const oauth = createAuthorizationServer({
    issuer,
    clients: [client],
    scopes: {
      openid: 'Know who you are',
      profile: 'See your name',
      email: 'See your e-mail address',
      'photos:read': 'See your photos',
    },
    resourceOwner: (req) => req.session.resourceOwner,
    logOut: (req) => new Promise<void>((resolve) => void req.session.destroy(() => resolve())),
    ...(issuesJwts && { resources: { [photos]: { scopes: ['photos:read'] } } }),
    plugins: [
      keys,
      openIdConnect({ keys, claims: (subject) => ({ name: `${subject} of the test` }) }),
      ...(issuesJwts ? [jwtAccessTokens({ keys })] : []),
    ],
  })
  host.get('/favicon.ico', (_req, res) => void res.status(204).end())
  signIn(host, issuer)
  host.post('/token', express.urlencoded({ extended: false }), (req, _res, next) => {
    requests.push(new URLSearchParams(req.body))
    next()
  })
  host.use(oauth.router())
  host.use(
    '/photos',
    oauth.bearerGuard('photos:read', { cors: true, ...(issuesJwts && { resource: photos }) }),
  )
  host.get('/photos', (req, res) => void res.json({ of: req.oauth?.subject }))
  return oauth
}

function showPage(spa: Express, library: string, script: string): void {
  const page = `<!doctype html><title>Photo Wall</title><pre id="known"></pre>
<script src="/library.js"></script><script type="module">${script}</script>`
  spa.get('/favicon.ico', (_req, res) => void res.status(204).end())
  spa.get('/library.js', (_req, res) => res.sendFile(library, { dotfiles: 'allow' }))
  spa.get('/bye', (_req, res) => void res.type('html').send('<title>Bye</title>'))
  spa.get('/', (_req, res) => void res.type('html').send(page))
}
