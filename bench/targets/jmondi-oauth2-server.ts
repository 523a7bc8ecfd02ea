import { randomBytes } from 'node:crypto'
import {
  AuthorizationServer,
  DateInterval,
  JwtService,
  OAuthException,
  type OAuthAuthCode,
  type OAuthAuthCodeRepository,
  type OAuthClient,
  type OAuthClientRepository,
  type OAuthScopeRepository,
  type OAuthToken,
  type OAuthTokenRepository,
  type OAuthUserRepository,
} from '@jmondi/oauth2-server'
import { handleExpressError, handleExpressResponse, requestFromExpress } from '@jmondi/oauth2-server/express'
import { urlencoded, type RequestHandler } from 'express'
import { createApp } from '../app'
import { client, lifetimes, owner, scope } from '../cast'
import { find, remove, save } from '../storage/records'
import { serve } from '../target'

const scopes = [{ name: scope }]
const registered: OAuthClient = {
  id: client.id,
  name: client.id,
  secret: client.secret,
  redirectUris: [client.redirectUri],
  allowedGrants: ['authorization_code', 'client_credentials', 'refresh_token'],
  scopes,
}

const clients: OAuthClientRepository = {
  async getByIdentifier(id) {
    if (id !== client.id) throw OAuthException.invalidClient()
    return registered
  },
  async isClientValid(grantType, of, secret) {
    return of.allowedGrants.includes(grantType) && of.secret === secret
  },
}

const knownScopes: OAuthScopeRepository = {
  async getAllByIdentifiers(names) {
    return scopes.filter(({ name }) => names.includes(name))
  },
  async finalize(asked) {
    return asked
  },
}

const codes: OAuthAuthCodeRepository = {
  issueAuthCode(to, by, asked) {
    return { code: newId(), client: to, user: by, scopes: asked, expiresAt: new Date() }
  },
  async persist(code) {
    await save(`code:${code.code}`, code, lifetimes.code)
  },
  async getByIdentifier(id) {
    const found = given(await find<OAuthAuthCode>(`code:${id}`))
    return { ...found, expiresAt: new Date(found.expiresAt) }
  },
  async isRevoked(id) {
    return (await find(`code:${id}`)) === undefined
  },
  async revoke(id) {
    await remove(`code:${id}`)
  },
}

const tokens: OAuthTokenRepository = {
  async issueToken(to, granted, by) {
    return { accessToken: newId(), accessTokenExpiresAt: new Date(), client: to, user: by, scopes: granted }
  },
  async issueRefreshToken(token) {
    const refreshTokenExpiresAt = new Date(Date.now() + lifetimes.refreshToken * 1000)
    const issued = { ...token, refreshToken: newId(), refreshTokenExpiresAt }
    await save(`refresh:${issued.refreshToken}`, issued, lifetimes.refreshToken)
    return issued
  },
  async persist(token) {
    await save(`access:${token.accessToken}`, token, lifetimes.accessToken)
  },
  async revoke({ accessToken, refreshToken }) {
    await remove(`access:${accessToken}`, `refresh:${refreshToken}`)
  },
  // A revoked one is gone: it was not found before this question.
  async isRefreshTokenRevoked() {
    return false
  },
  async getByRefreshToken(id) {
    return withDates(given(await find<OAuthToken>(`refresh:${id}`)))
  },
  async getByAccessToken(id) {
    return withDates(given(await find<OAuthToken>(`access:${id}`)))
  },
}

function withDates(token: OAuthToken): OAuthToken {
  const { accessTokenExpiresAt, refreshTokenExpiresAt } = token
  return {
    ...token,
    accessTokenExpiresAt: new Date(accessTokenExpiresAt),
    refreshTokenExpiresAt: refreshTokenExpiresAt && new Date(refreshTokenExpiresAt),
  }
}

function given<Found>(found: Found | undefined): Found {
  if (!found) throw OAuthException.invalidGrant()
  return found
}

function newId(): string {
  return randomBytes(32).toString('base64url')
}

/** Everything as it is by default: secrets compared as they are, JWTs signed with HS256; refresh tokens rotate. */
const jwt = new JwtService(randomBytes(32))
const server = new AuthorizationServer(clients, tokens, knownScopes, jwt)
const lifetime = new DateInterval(`${lifetimes.accessToken}s`)
const owners: OAuthUserRepository = { getUserByCredentials: async (id) => ({ id }) }
server.enableGrantTypes(
  ['client_credentials', lifetime],
  ['refresh_token', lifetime],
  [{ grant: 'authorization_code', authCodeRepository: codes, userRepository: owners }, lifetime],
)

const app = createApp()
const form = urlencoded({ extended: false })
app.get('/authorize', async (request, response) => {
  try {
    const asked = await server.validateAuthorizationRequest(requestFromExpress(request))
    asked.user = { id: owner }
    asked.isAuthorizationApproved = true
    handleExpressResponse(response, await server.completeAuthorizationRequest(asked))
  } catch (error) {
    handleExpressError(error, response)
  }
})
app.post('/token', form, async (request, response) => {
  try {
    const answer = await server.respondToAccessTokenRequest(requestFromExpress(request))
    handleExpressResponse(response, answer)
  } catch (error) {
    handleExpressError(error, response)
  }
})
app.post('/introspect', form, async (request, response) => {
  try {
    handleExpressResponse(response, await server.introspect(requestFromExpress(request)))
  } catch (error) {
    handleExpressError(error, response)
  }
})

/** It has no guard: this one checks the signature, and that the token was not revoked. */
const guard: RequestHandler = async (request, response, next) => {
  const [, token = ''] = /^Bearer (.+)$/.exec(request.get('authorization') ?? '') ?? []
  try {
    const { jti } = await jwt.verify(token, { algorithms: ['HS256'] })
    const found = await tokens.getByAccessToken?.(String(jti))
    if (found?.scopes.some(({ name }) => name === scope)) return next()
  } catch {
    // Told below.
  }
  return void response.status(401).set('WWW-Authenticate', 'Bearer error="invalid_token"').end()
}
app.get('/photos', guard, (_request, response) => {
  response.json({ photos: [] })
})
serve(app)
