import { createHash, randomBytes } from 'node:crypto'
import { urlencoded, type Request, type RequestHandler } from 'express'
import {
  AuthorizationError,
  createServer,
  exchange,
  grant,
  TokenError,
  type ExchangeDoneFunction,
  type ImmediateFunction,
  type IssueGrantCodeFunctionArity6,
  type MiddlewareRequest,
  type ValidateFunction,
} from 'oauth2orize'
import { extensions } from 'oauth2orize-pkce'
import passport from 'passport'
import { BasicStrategy } from 'passport-http'
import { Strategy as BearerStrategy } from 'passport-http-bearer'
import { createApp } from '../app'
import { client, lifetimes, owner, scope } from '../cast'
import { consentPage } from '../consent-page'
import { find, save, take } from '../storage/records'
import { transactions } from '../storage/transactions'
import { serveWith } from '../serve-with'

interface Client {
  readonly id: string
}

interface Grant {
  readonly clientId: string
  readonly owner?: string
  readonly scope: readonly string[]
}

interface Code extends Grant {
  readonly redirectUri: string
  readonly challenge: string
}

const registered: Client = { id: client.id }

/** As its examples have it: secrets compared as they are, one record a token; refresh tokens rotate. */
const server = createServer<Client, Express.User>({ store: transactions })

const issueCode: IssueGrantCodeFunctionArity6<Client, Express.User> = (
  to,
  redirectUri,
  by,
  _answer,
  asked,
  done,
) => {
  const code = newToken()
  const { scope: granted, codeChallenge: challenge }: Asked = { codeChallenge: '', ...asked }
  const saved: Code = { clientId: to.id, owner: by.id, scope: granted, redirectUri, challenge }
  void save(`code:${code}`, saved, lifetimes.code).then(() => done(null, code), done)
}

/** What oauth2orize-pkce adds to the request. */
interface Asked {
  readonly scope: readonly string[]
  readonly codeChallenge: string
}

server.grant(extensions())
server.grant(grant.code(issueCode))
server.exchange(exchange.code(redeemCode))
server.exchange(exchange.refreshToken(redeemRefreshToken))
server.exchange(
  exchange.clientCredentials((to: Client, asked, done) => {
    if (!asked.every((one) => one === scope)) return done(new TokenError('Not that scope', 'invalid_scope'))
    const accessToken = newToken()
    const saved: Grant = { clientId: to.id, scope: asked }
    void save(`access:${accessToken}`, saved, lifetimes.accessToken).then(() => done(null, accessToken), done)
  }),
)

function redeemCode(
  by: Client,
  code: string,
  redirectUri: string,
  body: Readonly<Record<string, unknown>>,
  done: ExchangeDoneFunction,
): void {
  const challenge = createHash('sha256').update(String(body['code_verifier'])).digest('base64url')
  void take<Code>(`code:${code}`)
    .then((found) => {
      const good = found?.redirectUri === redirectUri && found.challenge === challenge
      return issueTokens(good ? found : undefined, by, done)
    })
    .catch(done)
}

function redeemRefreshToken(
  by: Client,
  refreshToken: string,
  _scope: readonly string[],
  done: ExchangeDoneFunction,
): void {
  void take<Grant>(`refresh:${refreshToken}`)
    .then((found) => issueTokens(found, by, done))
    .catch(done)
}

async function issueTokens(found: Grant | undefined, to: Client, done: ExchangeDoneFunction): Promise<void> {
  if (found?.clientId !== to.id) return done(null, false)
  const accessToken = newToken()
  const refreshToken = newToken()
  const saved: Grant = { clientId: to.id, scope: found.scope, ...(found.owner && { owner: found.owner }) }
  await Promise.all([
    save(`access:${accessToken}`, saved, lifetimes.accessToken),
    save(`refresh:${refreshToken}`, saved, lifetimes.refreshToken),
  ])
  done(null, accessToken, refreshToken, { expires_in: lifetimes.accessToken })
}

const checkClient: ValidateFunction<Client> = (id, redirectUri, done) => {
  done(null, id === client.id && redirectUri === client.redirectUri && registered, redirectUri)
}

/** @param isKnown whether the owner approved such a request before: then there is no page. */
function approve(isKnown: boolean): ImmediateFunction<Client, Express.User> {
  return (_client, _owner, asked, _type, _request, done) => {
    const isOffered = asked.every((one) => one === scope)
    const refusal = isOffered ? null : new AuthorizationError('Not that scope', 'invalid_scope')
    done(refusal, isOffered && isKnown, {}, {})
  }
}

const approveAtOnce = approve(true)
const approveLater = approve(false)

function newToken(): string {
  return randomBytes(32).toString('base64url')
}

passport.use(
  new BasicStrategy((id, secret, done) => {
    done(null, id === client.id && secret === client.secret && registered)
  }),
)
passport.use(
  new BearerStrategy((token, done) => {
    void find<Grant>(`access:${token}`).then((found) => {
      if (!found) return done(null, false)
      return done(null, { id: found.owner ?? found.clientId }, { scope: [...found.scope] })
    }, done)
  }),
)

type Asking = Request & Pick<MiddlewareRequest, 'oauth2'>

const app = createApp()
const login: RequestHandler = (request, _response, next) => {
  request.user = { id: owner }
  next()
}
app.get('/authorize', login, server.authorize(checkClient, approveAtOnce))
app.get('/ask', login, server.authorize(checkClient, approveLater), (request: Asking, response) => {
  response.send(consentPage('/decide', { transaction_id: request.oauth2?.transactionID ?? '' }))
})
app.post('/decide', login, urlencoded({ extended: false }), server.decision())
app.post(
  '/token',
  urlencoded({ extended: false }),
  passport.authenticate('basic', { session: false }),
  server.token(),
  server.errorHandler(),
)
app.get('/photos', passport.authenticate('bearer', { session: false }), (request, response) => {
  response.status(request.authInfo && hasScope(request.authInfo) ? 200 : 403).json({ photos: [] })
})
serveWith(app)

function hasScope(info: object): boolean {
  return 'scope' in info && Array.isArray(info.scope) && info.scope.includes(scope)
}
