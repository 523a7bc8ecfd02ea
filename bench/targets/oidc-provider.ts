import { generateKeyPairSync, randomBytes } from 'node:crypto'
import type { Express, RequestHandler } from 'express'
import type { Configuration, Provider } from 'oidc-provider' with { 'resolution-mode': 'import' }
import { createApp } from '../app'
import { client, lifetimes, owner, resource, scope } from '../cast'
import { proofGuard } from '../guard-of-oidc-provider'
import { adapterOf } from '../storage/oidc-provider'
import { serveWith } from '../serve-with'
import { port } from '../target'

const provesKeys = process.env['BENCH_DPOP'] !== undefined
const [jwtAlgorithm, idTokenAlgorithm] = [process.env['BENCH_JWT'], process.env['BENCH_ID_TOKEN']]
const scopes = idTokenAlgorithm === undefined ? [scope] : ['openid', scope]
const keys = [
  generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ...(jwtAlgorithm === 'EdDSA' ? [generateKeyPairSync('ed25519')] : []),
  ...(idTokenAlgorithm === 'RS256' ? [generateKeyPairSync('rsa', { modulusLength: 2048 })] : []),
]

/** Secrets are compared as they are, in constant time; tokens are opaque and refresh tokens rotate. */
const configuration: Configuration = {
  adapter: adapterOf,
  clients: [
    {
      client_id: client.id,
      client_secret: client.secret,
      redirect_uris: [client.redirectUri],
      response_types: ['code'],
      grant_types: ['authorization_code', 'client_credentials', 'refresh_token'],
      scope: scopes.join(' '),
      id_token_signed_response_alg: idTokenAlgorithm === 'RS256' ? 'RS256' : 'ES256',
    },
  ],
  scopes,
  cookies: { keys: [randomBytes(32).toString('base64url')] },
  jwks: { keys: keys.map(({ privateKey }) => privateKey.export({ format: 'jwk' })) },
  clientAuthMethods: ['client_secret_basic'],
  findAccount: (_context, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
  issueRefreshToken: () => true,
  // Else each use of a token looks for the owner's session too.
  expiresWithSession: () => false,
  rotateRefreshToken: true,
  pkce: { required: () => true },
  interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    introspection: { enabled: true, allowedPolicy: (_context, asking) => asking.clientId === client.id },
    revocation: { enabled: true },
    dPoP: { enabled: provesKeys },
    ...(jwtAlgorithm === undefined ? {} : { resourceIndicators: resourcesWith(jwtAlgorithm) }),
  },
  ttl: {
    AccessToken: lifetimes.accessToken,
    AuthorizationCode: lifetimes.code,
    ClientCredentials: lifetimes.accessToken,
    Grant: lifetimes.refreshToken,
    IdToken: lifetimes.accessToken,
    Interaction: 3600,
    RefreshToken: lifetimes.refreshToken,
    Session: lifetimes.refreshToken,
  },
}

/** Access tokens for the API are JWTs. They are for it at a code, too, without being asked for again. */
function resourcesWith(algorithm: string): NonNullable<Configuration['features']>['resourceIndicators'] {
  return {
    enabled: true,
    useGrantedResource: () => true,
    getResourceServerInfo: () => ({
      scope,
      accessTokenFormat: 'jwt',
      accessTokenTTL: lifetimes.accessToken,
      jwt: { sign: { alg: algorithm === 'EdDSA' ? 'EdDSA' : 'ES256' } },
    }),
  }
}

async function oidcProvider(): Promise<Express> {
  const { Provider } = await import('oidc-provider')
  const provider = new Provider(`http://127.0.0.1:${port}`, configuration)
  const app = createApp()
  app.get('/interaction/:uid', approve(provider))
  app.get(
    '/photos',
    provesKeys ? await proofGuard(provider, client.id) : guard(provider),
    (_request, response) => {
      response.json({ photos: [] })
    },
  )
  app.use(provider.callback())
  return app
}

/** Consents at once, to all that is asked; logs the owner in where its session has not begun. */
function approve(provider: Provider): RequestHandler {
  return async (request, response) => {
    const { prompt } = await provider.interactionDetails(request, response)
    const grant = new provider.Grant({ accountId: owner, clientId: client.id })
    grant.addOIDCScope(scopes.join(' '))
    if (jwtAlgorithm !== undefined) grant.addResourceScope(resource, scope)
    const consent = { grantId: await grant.save() }
    const result = prompt.name === 'login' ? { login: { accountId: owner }, consent } : { consent }
    await provider.interactionFinished(request, response, result)
  }
}

/** It has no guard: this one looks the token up where the same process has it. */
function guard(provider: Provider): RequestHandler {
  return async (request, response, next) => {
    const [, value = ''] = /^Bearer (.+)$/.exec(request.get('authorization') ?? '') ?? []
    const token = await provider.AccessToken.find(value)
    if (token?.isValid && token.scopes.has(scope)) return next()
    return void response.status(401).set('WWW-Authenticate', 'Bearer error="invalid_token"').end()
  }
}

void oidcProvider().then(serveWith)
