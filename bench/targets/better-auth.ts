import { createHash, randomBytes } from 'node:crypto'
import type { BetterAuthOptions } from 'better-auth' with { 'resolution-mode': 'import' }
import type { Express, RequestHandler } from 'express'
import { createApp } from '../app'
import { client, lifetimes, owner, resource, scope } from '../cast'
import { tokensInRedis } from '../storage/better-auth'
import { texts } from '../storage/texts'
import { serveWith } from '../serve-with'
import { port } from '../target'

const scopes = [scope, 'offline_access']
/** With it, access tokens for the API are JWTs. */
const jwtAlgorithm = process.env['BENCH_JWT']
const resources = {
  resources: [resource],
  cachedResources: new Set([resource]),
  // Any client may ask for them, as at the suite.
  enforcePerClientResources: false,
}

/** Secrets, tokens and codes are hashed with SHA-256, as they are by default; refresh tokens rotate. */
async function createAuth() {
  const { betterAuth } = await import('better-auth')
  const { memoryAdapter } = await import('better-auth/adapters/memory')
  const { jwt } = await import('better-auth/plugins')
  const { oauthProvider } = await import('@better-auth/oauth-provider')
  const memory = memoryAdapter({
    user: [],
    account: [],
    session: [],
    oauthClient: [],
    oauthResource: [],
    jwks: [],
  })
  return betterAuth({
    baseURL: `http://127.0.0.1:${port}`,
    secret: randomBytes(32).toString('base64url'),
    database: (options: BetterAuthOptions) => tokensInRedis(memory(options)),
    secondaryStorage: {
      ...texts,
      increment: () => Promise.reject(new Error('Nothing is counted: limits on requests are off.')),
    },
    session: { storeSessionInDatabase: true },
    emailAndPassword: { enabled: true },
    rateLimit: { enabled: false },
    logger: { disabled: true },
    plugins: [
      jwt(jwtAlgorithm === 'ES256' ? { jwks: { keyPairConfig: { alg: 'ES256' } } } : {}),
      oauthProvider({
        loginPage: '/login',
        consentPage: '/consent',
        scopes,
        codeExpiresIn: lifetimes.code,
        accessTokenExpiresIn: lifetimes.accessToken,
        m2mAccessTokenExpiresIn: lifetimes.accessToken,
        refreshTokenExpiresIn: lifetimes.refreshToken,
        cachedTrustedClients: new Set([client.id]),
        ...(jwtAlgorithm === undefined ? {} : resources),
        silenceWarnings: { oauthAuthServerConfig: true, openidConfig: true },
      }),
    ],
  })
}

type Auth = Awaited<ReturnType<typeof createAuth>>

async function register({ $context }: Auth): Promise<void> {
  const { adapter } = await $context
  await adapter.create({
    model: 'oauthClient',
    data: {
      clientId: client.id,
      clientSecret: createHash('sha256').update(client.secret).digest('base64url'),
      redirectUris: [client.redirectUri],
      scopes,
      clientCredentialsScopes: [scope],
      grantTypes: ['authorization_code', 'client_credentials', 'refresh_token'],
      responseTypes: ['code'],
      tokenEndpointAuthMethod: 'client_secret_basic',
      skipConsent: true,
    },
  })
}

/** Puts the cookie of the owner's session before each request, as the owner's browser would. */
async function logIn({ api }: Auth): Promise<RequestHandler> {
  const { headers } = await api.signUpEmail({
    body: { email: `${owner}@photos.example`, name: owner, password: randomBytes(16).toString('hex') },
    returnHeaders: true,
  })
  const [cookie] = headers.getSetCookie()[0]?.split(';') ?? []
  return (request, _response, next) => {
    request.headers.cookie = cookie
    next()
  }
}

/** An opaque token is asked about at the introspection endpoint: this guard calls it in the same process. */
function guard({ api }: Auth): RequestHandler {
  const basic = Buffer.from(`${client.id}:${client.secret}`).toString('base64')
  const request = new Request('http://127.0.0.1', { headers: { Authorization: `Basic ${basic}` } })
  return async (asked, response, next) => {
    const [, token = ''] = /^Bearer (.+)$/.exec(asked.get('authorization') ?? '') ?? []
    if (token !== '') {
      const { active, scope: granted } = await api.oauth2Introspect({
        body: { token },
        request,
        asResponse: false,
      })
      if (active && String(granted).split(' ').includes(scope)) return next()
    }
    return void response.status(401).set('WWW-Authenticate', 'Bearer error="invalid_token"').end()
  }
}

async function betterAuthServer(): Promise<Express> {
  const { toNodeHandler } = await import('better-auth/node')
  const auth = await createAuth()
  await register(auth)
  const app = createApp()
  app.use('/api/auth/oauth2/authorize', await logIn(auth))
  app.all('/api/auth/{*path}', toNodeHandler(auth))
  app.get('/photos', guard(auth), (_request, response) => {
    response.json({ photos: [] })
  })
  return app
}

void betterAuthServer().then(serveWith)
