import { buffer } from 'node:stream/consumers'
import type { Request as ExpressRequest, Response as ExpressResponse } from 'express'
import session from 'express-session'
import { Passport } from 'passport'
import Strategy from 'passport-openidconnect'
import { reasonOf, type RelyingParty } from '../../../support/openid-connect/relying-party'

// Its types would bring the types of browsers into every file of the project.
const { Auth }: { Auth: (request: Request, config: object) => Promise<Response> } =
  jest.requireActual('@auth/core')

/** passport-openidconnect. It has no discovery, no PKCE, no refresh and no logout. */
export const passportOpenIdConnect: RelyingParty = {
  login: '/login',
  callback: '/callback',
  mount(app, { issuer, clientId, clientSecret, redirectUri }) {
    const passport = new Passport()
    const strategy = new Strategy(
      {
        issuer,
        authorizationURL: `${issuer}/authorize`,
        tokenURL: `${issuer}/token`,
        userInfoURL: `${issuer}/userinfo`,
        clientID: clientId,
        clientSecret,
        callbackURL: redirectUri,
        scope: 'profile email',
        nonce: 'true',
        maxAge: '3600',
        skipUserProfile: false,
      },
      (_issuer: string, profile: Strategy.Profile, done: Strategy.VerifyCallback) => done(null, profile),
    )
    passport.use('openid', strategy)
    app.use(session({ name: 'passport.sid', secret: 'test', resave: false, saveUninitialized: false }))
    app.get('/login', passport.authenticate('openid', { session: false }))
    app.get('/callback', (req, res, next) => {
      const answer = (error: unknown, user?: Strategy.Profile | false, info?: unknown) => {
        if (user) res.json({ sub: user.id, name: user.displayName, email: user.emails?.[0]?.value })
        else res.status(401).json({ refused: reasonOf(error ?? info) })
      }
      passport.authenticate('openid', { session: false }, answer)(req, res, next)
    })
  },
}

/** The framework-neutral part of Auth.js. It has no refresh, and its logout ends only its session. */
export const authCore: RelyingParty = {
  login: '/auth/signin',
  callback: '/auth/callback/openid',
  mount(app, { issuer, clientId, clientSecret, url }) {
    let refused = ''
    const config = {
      providers: [
        {
          id: 'openid',
          name: 'the host',
          type: 'oidc',
          issuer,
          clientId,
          clientSecret,
          checks: ['pkce', 'state', 'nonce'],
          authorization: { params: { scope: 'openid profile email', max_age: '3600' } },
          // The claims come from UserInfo.
          idToken: false,
        },
      ],
      basePath: '/auth',
      trustHost: true,
      secret: 'test'.repeat(8),
      pages: { error: '/refused' },
      logger: { error: (error: unknown) => void (refused = reasonOf(error)), warn: () => undefined },
      callbacks: {
        jwt: ({ token, profile }: { token: object; profile?: object }) => ({ person: profile, ...token }),
        session: ({ token }: { token: { person?: object } }) => token.person,
      },
    }
    app.use('/auth', (req, res, next) => {
      const answer = async () => send(await Auth(await webRequestOf(req, url), config), res)
      answer().catch(next)
    })
    app.get('/refused', (_req, res) => void res.status(401).json({ refused }))
    app.get('/', (req, res, next) => {
      const asked = new Request(`${url}/auth/session`, { headers: { cookie: req.get('cookie') ?? '' } })
      const answer = async () => res.json(JSON.parse(await (await Auth(asked, config)).text()))
      answer().catch(next)
    })
  },
}

async function webRequestOf(req: ExpressRequest, origin: string): Promise<Request> {
  const headers = Object.entries(req.headers).map(([name, value]): [string, string] => [name, String(value)])
  const body = await buffer(req)
  return new Request(new URL(req.originalUrl, origin), {
    method: req.method,
    headers,
    ...(body.length > 0 && { body }),
  })
}

async function send(answer: Response, res: ExpressResponse): Promise<void> {
  res.status(answer.status)
  for (const [name, value] of answer.headers) res.append(name, value)
  res.end(Buffer.from(await answer.arrayBuffer()))
}
