import { randomBytes } from 'node:crypto'
import {
  OAuthException,
  type OAuthAuthCode,
  type OAuthAuthCodeRepository,
  type OAuthClient,
  type OAuthClientRepository,
  type OAuthScopeRepository,
  type OAuthToken,
  type OAuthTokenRepository,
} from '@jmondi/oauth2-server'
import { client, lifetimes, scope } from '../cast'
import { find, remove, save } from './records'

const scopes = [{ name: scope }]
const registered: OAuthClient = {
  id: client.id,
  name: client.id,
  secret: client.secret,
  redirectUris: [client.redirectUri],
  allowedGrants: ['authorization_code', 'client_credentials', 'refresh_token'],
  scopes,
}

export const clients: OAuthClientRepository = {
  async getByIdentifier(id) {
    if (id !== client.id) throw OAuthException.invalidClient()
    return registered
  },
  async isClientValid(grantType, of, secret) {
    return of.allowedGrants.includes(grantType) && of.secret === secret
  },
}

export const knownScopes: OAuthScopeRepository = {
  async getAllByIdentifiers(names) {
    return scopes.filter(({ name }) => names.includes(name))
  },
  async finalize(asked) {
    return asked
  },
}

export const codes: OAuthAuthCodeRepository = {
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

export const tokens: OAuthTokenRepository = {
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
