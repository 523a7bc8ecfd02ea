import { randomBytes } from 'node:crypto'
import {
  AuthorizationServer,
  DateInterval,
  JwtService,
  type OAuthUserRepository,
} from '@jmondi/oauth2-server'
import { handleExpressError, handleExpressResponse, requestFromExpress } from '@jmondi/oauth2-server/express'
import { urlencoded, type RequestHandler } from 'express'
import { createApp } from '../app'
import { lifetimes, owner, scope } from '../cast'
import { clients, codes, knownScopes, tokens } from '../storage/jmondi-oauth2-server'
import { serveWith } from '../serve-with'

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
serveWith(app)
