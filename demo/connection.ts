import { createHash, randomBytes } from 'node:crypto'

/** What the client application knows of its registration. */
export interface Registration {
  readonly client_id: string
  /** Undefined for a public client. */
  readonly client_secret?: string
  readonly redirect_uri: string
  readonly authorizationServer: string
}

/** What must be remembered between sending somebody off and having them back. */
export interface Departure {
  readonly state: string
  readonly codeVerifier: string
}

export interface Tokens {
  readonly accessToken: string
  readonly refreshToken: string | undefined
  readonly scope: string
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
}

/** Why there is no connection: an error code of the authorization server, or one of this client's own. */
export class NotConnected extends Error {
  override readonly name = 'NotConnected'

  constructor(readonly code: string) {
    super(`Not connected: ${code}`)
  }
}

const random = () => randomBytes(32).toString('base64url')

/**
 * Where to send the browser, and what to remember in its session (RFC 6749 4.1.1, RFC 7636).
 *
 * @param further parameters of the request.
 */
export function depart(
  { authorizationServer, client_id, redirect_uri }: Registration,
  further: { readonly prompt?: 'consent' } = {},
): {
  location: string
  departure: Departure
} {
  const departure = { state: random(), codeVerifier: random() }
  const query = new URLSearchParams({
    response_type: 'code',
    client_id,
    redirect_uri,
    scope: 'photos:read',
    state: departure.state,
    code_challenge: createHash('sha256').update(departure.codeVerifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...further,
  })
  return { location: `${authorizationServer}/authorize?${query.toString()}`, departure }
}

/** Takes the browser back and trades the code for tokens. @throws NotConnected */
export async function arrive(
  registration: Registration,
  answer: URLSearchParams,
  departure: Departure | undefined,
): Promise<Tokens> {
  const { code, codeVerifier } = codeIn(registration, answer, departure)
  return requestTokens(registration, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: registration.redirect_uri,
    code_verifier: codeVerifier,
  })
}

/** Takes the code from an answer that this browser was sent off for. @throws NotConnected */
export function codeIn(
  { authorizationServer }: Registration,
  answer: URLSearchParams,
  departure: Departure | undefined,
): { readonly code: string; readonly codeVerifier: string } {
  // Whatever does not answer the question that this browser was sent off with is somebody else's.
  if (departure === undefined || answer.get('state') !== departure.state)
    throw new NotConnected('state_mismatch')
  // RFC 9207: an answer of another authorization server must not be taken to this one.
  if (answer.get('iss') !== authorizationServer) throw new NotConnected('issuer_mismatch')
  const code = answer.get('code')
  if (code === null) throw new NotConnected(answer.get('error') ?? 'code_missing')
  return { code, codeVerifier: departure.codeVerifier }
}

/** Trades the refresh token for new tokens. @throws NotConnected */
export async function refresh(registration: Registration, { refreshToken = '' }: Tokens): Promise<Tokens> {
  return requestTokens(registration, { grant_type: 'refresh_token', refresh_token: refreshToken })
}

/** Gives the tokens back (RFC 7009). @throws NotConnected */
export async function revoke(
  registration: Registration,
  { refreshToken, accessToken }: Tokens,
): Promise<void> {
  const response = await post(registration, '/revoke', { token: refreshToken ?? accessToken })
  if (!response.ok) throw new NotConnected('temporarily_unavailable')
}

async function requestTokens(registration: Registration, grant: Record<string, string>): Promise<Tokens> {
  const response = await post(registration, '/token', grant)
  const answer: TokenAnswer = JSON.parse(await response.text())
  if (!response.ok) throw new NotConnected(answer.error)
  return {
    accessToken: answer.access_token,
    refreshToken: answer.refresh_token,
    scope: answer.scope,
    expiresAt: Date.now() + answer.expires_in * 1000,
  }
}

function post(
  { authorizationServer, client_id, client_secret }: Registration,
  path: string,
  form: Record<string, string>,
): Promise<Response> {
  // RFC 6749 3.2.1: a client without a secret names itself in the body.
  if (client_secret === undefined)
    return fetch(authorizationServer + path, {
      method: 'POST',
      body: new URLSearchParams({ ...form, client_id }),
    })
  return fetch(authorizationServer + path, {
    method: 'POST',
    headers: { authorization: basic(client_id, client_secret) },
    body: new URLSearchParams(form),
  })
}

/** The header of a client that shows its secret. RFC 6749 2.3.1: both are form encoded first. */
export function basic(clientId: string, clientSecret: string): string {
  const credentials = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`
  return `Basic ${Buffer.from(credentials).toString('base64')}`
}

interface TokenAnswer {
  readonly access_token: string
  readonly refresh_token?: string
  readonly scope: string
  readonly expires_in: number
  readonly error: string
}
