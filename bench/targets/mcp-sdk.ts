import { randomBytes } from 'node:crypto'
import {
  InvalidGrantError,
  InvalidScopeError,
  InvalidTokenError,
} from '@modelcontextprotocol/sdk/server/auth/errors.js'
import { authorizationHandler } from '@modelcontextprotocol/sdk/server/auth/handlers/authorize.js'
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js'
import type {
  AuthorizationParams,
  OAuthServerProvider,
} from '@modelcontextprotocol/sdk/server/auth/provider.js'
import { mcpAuthRouter } from '@modelcontextprotocol/sdk/server/auth/router.js'
import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
import { urlencoded, type Response } from 'express'
import { createApp } from '../app'
import { client, lifetimes, scope } from '../cast'
import { consentPage } from '../consent-page'
import { find, save, take } from '../storage/records'
import { serveWith } from '../serve-with'
import { port } from '../target'

interface Grant {
  readonly clientId: string
  readonly scopes: string[]
}

interface Code extends Grant {
  readonly challenge: string
  readonly redirectUri: string
}

interface Transaction {
  readonly code: Code
  readonly state: string | undefined
}

interface AccessToken extends Grant {
  readonly expiresAt: number
}

const registered = { client_id: client.id, client_secret: client.secret, redirect_uris: [client.redirectUri] }

/** Secrets are compared as they are (by the SDK), one record a token; refresh tokens rotate. */
const provider: OAuthServerProvider = {
  clientsStore: { getClient: (id) => (id === client.id ? registered : undefined) },
  async authorize(to, asked, response) {
    await answerWithCode(codeFor(to.client_id, asked), asked.state, response)
  },
  async challengeForAuthorizationCode(_client, code) {
    return given(await find<Code>(`code:${code}`)).challenge
  },
  async exchangeAuthorizationCode(of, code, _verifier, redirectUri) {
    const found = given(await take<Code>(`code:${code}`))
    if (found.clientId !== of.client_id || found.redirectUri !== redirectUri)
      throw new InvalidGrantError('Other')
    return issueTokens(found)
  },
  async exchangeRefreshToken(of, refreshToken) {
    const found = given(await take<Grant>(`refresh:${refreshToken}`))
    if (found.clientId !== of.client_id) throw new InvalidGrantError('Other')
    return issueTokens(found)
  },
  async verifyAccessToken(token) {
    const found = await find<AccessToken>(`access:${token}`)
    if (!found) throw new InvalidTokenError('Unknown')
    return { token, ...found }
  },
}

/** Authorizes after a page that the owner is shown. */
const asking: OAuthServerProvider = {
  ...provider,
  async authorize(to, asked, response) {
    const id = newToken()
    const transaction: Transaction = { code: codeFor(to.client_id, asked), state: asked.state }
    await save(`transaction:${id}`, transaction, lifetimes.code)
    response.send(consentPage('/decide', { transaction: id }))
  },
}

async function answerWithCode(saved: Code, state: string | undefined, response: Response): Promise<void> {
  const code = newToken()
  await save(`code:${code}`, saved, lifetimes.code)
  const location = new URL(saved.redirectUri)
  location.searchParams.set('code', code)
  if (state !== undefined) location.searchParams.set('state', state)
  response.redirect(location.href)
}

function codeFor(clientId: string, asked: AuthorizationParams): Code {
  const { codeChallenge: challenge, redirectUri, scopes = [] } = asked
  if (scopes.some((one) => one !== scope)) throw new InvalidScopeError('Not that scope')
  return { clientId, scopes, challenge, redirectUri }
}

async function issueTokens({ clientId, scopes }: Grant): Promise<OAuthTokens> {
  const accessToken = newToken()
  const refreshToken = newToken()
  const expiresAt = Math.floor(Date.now() / 1000) + lifetimes.accessToken
  const access: AccessToken = { clientId, scopes, expiresAt }
  await Promise.all([
    save(`access:${accessToken}`, access, lifetimes.accessToken),
    save(`refresh:${refreshToken}`, { clientId, scopes } satisfies Grant, lifetimes.refreshToken),
  ])
  return {
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: lifetimes.accessToken,
    refresh_token: refreshToken,
    scope: scopes.join(' '),
  }
}

function given<Found>(found: Found | undefined): Found {
  if (!found) throw new InvalidGrantError('Unknown')
  return found
}

function newToken(): string {
  return randomBytes(32).toString('base64url')
}

const app = createApp()
const unlimited = { rateLimit: false } as const
app.use(
  mcpAuthRouter({
    provider,
    issuerUrl: new URL(`http://127.0.0.1:${port}`),
    authorizationOptions: unlimited,
    tokenOptions: unlimited,
  }),
)
app.use('/ask', authorizationHandler({ provider: asking, ...unlimited }))
app.post('/decide', urlencoded({ extended: false }), async (request, response) => {
  const found = await take<Transaction>(`transaction:${request.body.transaction}`)
  if (!found) throw new Error('No such transaction')
  await answerWithCode(found.code, found.state, response)
})
app.get(
  '/photos',
  requireBearerAuth({ verifier: provider, requiredScopes: [scope] }),
  (_request, response) => {
    response.json({ photos: [] })
  },
)
serveWith(app)
