import { createHash, randomBytes } from 'node:crypto'
import { isRecord, isText } from '../primitives/values'
import { formEncoded } from '../protocol/parameters'
import { mintOf, type MintRequest } from '../protocol/test-door'
import { failure, type HttpResponse, unexpectedResponse, withoutEntities } from './expect-refused'

/** What `approve()` needs of supertest: `request.agent(app)`, or `request(app)` if the application has no login. */
export interface Agent {
  get(path: string): AgentRequest
  post(path: string): AgentRequest
}

type PageResponse = HttpResponse & { readonly text: string }

interface AgentRequest extends PromiseLike<PageResponse> {
  query(parameters: object): AgentRequest
  type(type: string): AgentRequest
  set(field: string, value: string): AgentRequest
  send(form: object): AgentRequest
}

export interface AuthorizationRequest {
  readonly clientId: string
  /** A registered redirection URI. */
  readonly redirectUri: string
  /** Space separated. Default: the `defaultScope` of the server. */
  readonly scope?: string
  /** Of a confidential client, which authenticates by HTTP Basic. */
  readonly clientSecret?: string
  /** Default `/authorize`. */
  readonly authorizationPath?: string
  /** Default `/token`. */
  readonly tokenPath?: string
}

export interface ApprovedRequest {
  /** `approve()` has redeemed it already. */
  readonly code: string
  readonly tokens: ReceivedTokenResponse
}

/**
 * Takes an authorization request through the application (RFC 6749 4.1, with PKCE): opens the authorization endpoint,
 * presses Allow on a consent page, and redeems the code.
 *
 * @param agent with the cookies of a logged-in resource owner.
 * @throws AssertionError with the step, the unexpected response, and the reason if the suite refused the request here.
 */
export async function approve(agent: Agent, request: AuthorizationRequest): Promise<ApprovedRequest> {
  const verifier = randomBytes(32).toString('base64url')
  const code = await codeFor(agent, request, createHash('sha256').update(verifier).digest('base64url'))
  return { code, tokens: await redeem(agent, request, code, verifier) }
}

async function codeFor(
  agent: Agent,
  { clientId, redirectUri, scope, authorizationPath = '/authorize' }: AuthorizationRequest,
  codeChallenge: string,
): Promise<string> {
  const state = randomBytes(16).toString('base64url')
  const page = await agent.get(authorizationPath).query({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    state,
    code_challenge: codeChallenge,
    code_challenge_method: 'S256',
    ...(scope === undefined ? {} : { scope }),
  })
  if (page.status !== 200) return codeIn(page, redirectUri, state)
  const decision = { ...consentFields(page), decision: 'approve' }
  const answer = await agent
    .post(authorizationPath)
    .set('Sec-Fetch-Site', 'same-origin')
    .type('form')
    .send(decision)
  return codeIn(answer, redirectUri, state)
}

async function redeem(
  agent: Agent,
  { clientId, clientSecret, redirectUri, tokenPath = '/token' }: AuthorizationRequest,
  code: string,
  verifier: string,
): Promise<ReceivedTokenResponse> {
  const grant = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier }
  const request = agent.post(tokenPath).type('form')
  const answer = await (clientSecret === undefined
    ? request.send({ ...grant, client_id: clientId })
    : request.set('Authorization', basic(clientId, clientSecret)).send(grant))
  if (answer.status === 200) return tokenResponseOf(answer.body)
  throw unexpectedResponse(answer, 'The token endpoint refused the code')
}

function consentFields(page: PageResponse): Record<string, string> {
  const inputs = Array.from(page.text.matchAll(/<input\b[^>]*>/gi), ([input]) => ({
    type: attribute(input, 'type'),
    name: attribute(input, 'name'),
    value: attribute(input, 'value'),
  }))
  const hidden = inputs.filter(({ type, name }) => type === 'hidden' && name !== '')
  const fields = Object.fromEntries(hidden.map(({ name, value }) => [name, value]))
  if ('authorization_request' in fields) return fields
  throw unexpectedResponse(
    page,
    'The authorization endpoint sent a page that has no field authorization_request: a consent page of your own must have view.fields in its HTML for approve() to find them',
  )
}

function attribute(input: string, name: string): string {
  const [, quoted = ''] = new RegExp(`\\s${name}="([^"]*)"`, 'i').exec(input) ?? []
  return withoutEntities(quoted)
}

function codeIn(answer: PageResponse, redirectUri: string, state: string): string {
  const location = answer.headers['location']
  if (typeof location !== 'string')
    throw unexpectedResponse(answer, 'The authorization endpoint sent no redirect')
  if (!location.startsWith(redirectUri))
    throw unexpectedResponse(
      answer,
      'The redirect does not lead to redirectUri: log the agent in first, or correct redirectUri',
      location,
    )
  const parameters = new URLSearchParams(location.slice(redirectUri.length + 1))
  const code = parameters.get('code')
  if (code !== null && parameters.get('state') === state) return code
  throw unexpectedResponse(answer, 'The client got no code', location)
}

// RFC 6749 2.3.1: form encodes identifier and secret first.
const basic = (clientId: string, secret: string): string =>
  `Basic ${Buffer.from(`${formEncoded(clientId)}:${formEncoded(secret)}`).toString('base64')}`

/**
 * Issues an access token without HTTP and grant. The server's store has its record, guards accept it, introspection
 * knows it, and a request can revoke it. The server emits no event.
 *
 * @param oauth the result of `createAuthorizationServer()`.
 * @throws Error if the client is not registered or is disabled.
 * @throws OAuthError `invalid_scope` if the client may not have the scope.
 * @throws TypeError if `oauth` is not a server of this copy of the package.
 */
export async function mintToken(oauth: object, request: MintRequest): Promise<ReceivedTokenResponse> {
  const mint = mintOf(oauth)
  if (mint === undefined)
    throw new TypeError(
      'mintToken() needs the result of createAuthorizationServer() of the same copy of the package. A test runner that resets modules between the two imports loads two copies.',
    )
  return tokenResponseOf(await mint(request))
}

/** Stands still until a test moves it. */
export interface TestClock {
  /** Milliseconds since the epoch. */
  (): number
  advance(seconds: number): void
}

/**
 * For the option `clock` of a server, a guard and `memoryStore()`: give all the same. Redis expires keys by its own
 * clock.
 *
 * @param start milliseconds since the epoch. Default: now.
 */
export function testClock(start: number = Date.now()): TestClock {
  let now = start
  const advance = (seconds: number) => {
    now += seconds * 1000
  }
  return Object.assign(() => now, { advance })
}

/** A token response (RFC 6749 5.1). */
export interface ReceivedTokenResponse {
  readonly access_token: string
  readonly token_type: string
  /** Seconds. */
  readonly expires_in: number
  /** Space separated. */
  readonly scope: string
  /** Only for a client that may refresh. */
  readonly refresh_token?: string
  /** Of a token type, such as the key of `mac`. */
  readonly [member: string]: string | number | undefined
}

function tokenResponseOf(body: unknown): ReceivedTokenResponse {
  if (isTokenResponse(body)) return body
  throw failure('The answer is no token response (RFC 6749 5.1).')
}

const isTokenResponse = (body: unknown): body is ReceivedTokenResponse =>
  isRecord(body) &&
  isText(body['access_token']) &&
  isText(body['token_type']) &&
  typeof body['expires_in'] === 'number' &&
  isText(body['scope'])
