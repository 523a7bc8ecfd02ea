import OAuthServer from '@node-oauth/express-oauth-server'
import type {
  AuthorizationCode,
  AuthorizationCodeModel,
  ClientCredentialsModel,
  RefreshTokenModel,
  Token,
} from '@node-oauth/oauth2-server'
import { urlencoded } from 'express'
import { createApp } from '../app'
import { client, lifetimes, owner, scope } from '../cast'
import { consentPage } from '../consent-page'
import { find, remove, save } from '../storage/records'
import { serveWith } from '../serve-with'

const registered = {
  id: client.id,
  redirectUris: [client.redirectUri],
  grants: ['authorization_code', 'client_credentials', 'refresh_token'],
}

/** As its documentation has it: secrets compared as they are, one record a token, refresh tokens rotate. */
const model: AuthorizationCodeModel & ClientCredentialsModel & RefreshTokenModel = {
  async getClient(id, secret: string | null) {
    return id === client.id && (secret === null || secret === client.secret) && registered
  },
  async getUserFromClient(ofClient) {
    return { id: ofClient.id }
  },
  async validateScope(_user, _client, asked) {
    return asked?.every((one) => one === scope) ? asked : false
  },
  async verifyScope(token, needed) {
    return needed.every((one) => token.scope?.includes(one))
  },
  async saveAuthorizationCode(code, ofClient, user) {
    const saved = { ...code, client: ofClient, user }
    await save(`code:${code.authorizationCode}`, saved, lifetimes.code)
    return saved
  },
  async getAuthorizationCode(code) {
    const found = await find<AuthorizationCode>(`code:${code}`)
    return found && { ...found, expiresAt: new Date(found.expiresAt) }
  },
  async revokeAuthorizationCode({ authorizationCode }) {
    return remove(`code:${authorizationCode}`)
  },
  async saveToken(token, ofClient, user) {
    const saved = { ...token, client: ofClient, user }
    await Promise.all([
      save(`access:${token.accessToken}`, saved, lifetimes.accessToken),
      token.refreshToken && save(`refresh:${token.refreshToken}`, saved, lifetimes.refreshToken),
    ])
    return saved
  },
  async getAccessToken(token) {
    return withDates(await find<Token>(`access:${token}`))
  },
  async getRefreshToken(token) {
    const found = withDates(await find<Token>(`refresh:${token}`))
    return found && { ...found, refreshToken: token }
  },
  async revokeToken({ refreshToken }) {
    return remove(`refresh:${refreshToken}`)
  },
}

function withDates(token: Token | undefined): Token | undefined {
  if (!token) return undefined
  const { accessTokenExpiresAt = 0, refreshTokenExpiresAt = 0 } = token
  return {
    ...token,
    accessTokenExpiresAt: new Date(accessTokenExpiresAt),
    refreshTokenExpiresAt: new Date(refreshTokenExpiresAt),
  }
}

const server = new OAuthServer({
  model,
  accessTokenLifetime: lifetimes.accessToken,
  refreshTokenLifetime: lifetimes.refreshToken,
  authorizationCodeLifetime: lifetimes.code,
})

const app = createApp()
const login = { authenticateHandler: { handle: () => ({ id: owner }) } }
app.get('/authorize', server.authorize(login))
// As its documentation has it: the form of the host holds the request, which is looked at when it comes back.
app.get('/ask', ({ originalUrl }, response) => {
  const { searchParams } = new URL(originalUrl, 'http://127.0.0.1')
  response.send(consentPage('/decide', Object.fromEntries(searchParams)))
})
app.post('/decide', urlencoded({ extended: false }), server.authorize(login))
app.post('/token', urlencoded({ extended: false }), server.token())
app.get('/photos', server.authenticate({ scope: [scope] }), (_request, response) => {
  response.json({ photos: [] })
})
serveWith(app)
