import { createHash } from 'node:crypto'
import { client, scope } from './cast'
import {
  formPost,
  get,
  headerOf,
  jsonOf,
  wrong,
  type Answer,
  type Connection,
  type Fields,
  type Story,
} from './story'

/** How a server is spoken to where servers differ; the stories are the same for all. */
export interface Dialect {
  /** Paths. */
  readonly authorize: string
  readonly token: string
  readonly introspection?: string
  /** A form that the client sends with its id and secret. */
  readonly clientPost: (path: string, fields: Fields) => string
  /** Added to the authorization request. */
  readonly authorizationFields?: Fields
  /** Added to the form of a client that asks for itself. */
  readonly tokenFields?: Fields
  /** Sends the authorization request and what the owner does about it; answers with the last redirect. */
  readonly approve?: (connection: Connection, path: string) => Promise<Answer>
  /** Whether these are the tokens that were asked for; left out where any will do. */
  readonly accept?: (tokens: Tokens) => boolean
}

export function basic(path: string, fields: Fields): string {
  const credentials = Buffer.from(`${client.id}:${client.secret}`).toString('base64')
  return formPost(path, fields, { Authorization: `Basic ${credentials}` })
}

export function post(path: string, fields: Fields): string {
  return formPost(path, { ...fields, client_id: client.id, client_secret: client.secret })
}

/** Of a public client. */
export function named(path: string, fields: Fields): string {
  return formPost(path, { ...fields, client_id: client.id })
}

export function clientCredentials(dialect: Dialect): Story {
  const fields = { grant_type: 'client_credentials', scope, ...dialect.tokenFields }
  const request = dialect.clientPost(dialect.token, fields)
  return async (connection) => repeating(dialect, async () => tokens(await connection.ask(request)))
}

export function codeFlow(dialect: Dialect): Story {
  return async (connection) => repeating(dialect, () => authorize(dialect, connection))
}

/** Looks at the tokens of the first operation alone: a look at all of them would count as work of the server. */
async function repeating(dialect: Dialect, operation: () => Promise<Tokens>): Promise<() => Promise<void>> {
  if (dialect.accept !== undefined) accepted(dialect, await operation())
  return async () => {
    await operation()
  }
}

function accepted({ accept }: Dialect, found: Tokens): Tokens {
  if (accept?.(found) === false) throw new Error('Wrong answer: tokens of another kind')
  return found
}

/** The decision of an owner who is shown a page and sends its form, with the fields that it hides. */
export function decide(path: string): Dialect['approve'] {
  return async (connection, request) => {
    const page = await connection.ask(get(request))
    if (page.status !== 200 || !page.body.includes('<form')) throw wrong(page)
    return connection.ask(formPost(path, { ...hiddenFieldsOf(page), decision: 'approve' }))
  }
}

const hiddenField = /<input type="hidden" name="([^"]+)" value="([^"]+)"/g

function hiddenFieldsOf(page: Answer): Fields {
  const fields: Record<string, string> = {}
  for (const [, name = '', value = ''] of page.body.matchAll(hiddenField)) fields[name] = value
  return fields
}

/** Every refresh rotates. */
export function refresh(dialect: Dialect): Story {
  return async (connection) =>
    rotating(dialect, connection, refreshToken(await authorize(dialect, connection)))
}

/** Refreshes, beginning with that refresh token. */
export function rotating(dialect: Dialect, connection: Connection, first: string): () => Promise<void> {
  let current = first
  return async () => {
    const fields = { grant_type: 'refresh_token', refresh_token: current }
    const answer = await connection.ask(dialect.clientPost(dialect.token, fields))
    const next = refreshToken(tokens(answer))
    if (next === current) throw wrong(answer)
    current = next
  }
}

export function guard(dialect: Dialect): Story {
  return async (connection) => {
    const { access_token } = accepted(dialect, await authorize(dialect, connection))
    return guarded(connection, access_token)
  }
}

/** Asks for the photos with that access token. */
export function guarded(connection: Connection, accessToken: string): () => Promise<void> {
  const request = get('/photos', { Authorization: `Bearer ${accessToken}` })
  return async () => {
    const answer = await connection.ask(request)
    if (answer.status !== 200 || answer.body !== '{"photos":[]}') throw wrong(answer)
  }
}

export function introspection(dialect: Dialect): Story {
  return async (connection) => {
    const { access_token } = await authorize(dialect, connection)
    const fields = { token: access_token, token_type_hint: 'access_token' }
    const request = dialect.clientPost(dialect.introspection ?? '/introspect', fields)
    return async () => {
      const answer = await connection.ask(request)
      if (answer.status !== 200) throw wrong(answer)
      const { active, client_id, scope: granted } = jsonOf(answer)
      if (active !== true || client_id !== client.id) throw wrong(answer)
      if (typeof granted !== 'string' || !granted.split(' ').includes(scope)) throw wrong(answer)
    }
  }
}

interface Tokens {
  readonly access_token: string
  readonly refresh_token?: unknown
  readonly id_token?: unknown
}

/** Accepts access tokens that are JWTs with this algorithm. */
export const accessTokenBy =
  (algorithm: string) =>
  ({ access_token }: Tokens) =>
    algorithmOf(access_token) === algorithm

/** Accepts responses with an ID token of this algorithm. */
export const idTokenBy =
  (algorithm: string) =>
  ({ id_token }: Tokens) =>
    algorithmOf(id_token) === algorithm

function algorithmOf(token: unknown): unknown {
  const [header = '', , signature] = String(token).split('.')
  return signature && JSON.parse(Buffer.from(header, 'base64url').toString()).alg
}

export function tokens(answer: Answer): Tokens {
  if (answer.status !== 200) throw wrong(answer)
  const { access_token, refresh_token, id_token, token_type } = jsonOf(answer)
  if (typeof access_token !== 'string' || access_token === '') throw wrong(answer)
  if (typeof token_type !== 'string' || token_type.toLowerCase() !== 'bearer') throw wrong(answer)
  return { access_token, refresh_token, id_token }
}

function refreshToken({ refresh_token }: Tokens): string {
  if (typeof refresh_token !== 'string') throw new Error('Wrong answer: no refresh token')
  return refresh_token
}

const verifier = 'a-verifier-of-at-least-forty-three-characters'
const challenge = createHash('sha256').update(verifier).digest('base64url')
const state = 'a-state-of-the-client'

async function authorize(dialect: Dialect, connection: Connection): Promise<Tokens> {
  const approve = dialect.approve ?? ask
  const code = codeOf(await approve(connection, authorizationRequest(dialect)))
  const fields = {
    grant_type: 'authorization_code',
    code,
    redirect_uri: client.redirectUri,
    code_verifier: verifier,
  }
  return tokens(await connection.ask(dialect.clientPost(dialect.token, fields)))
}

const authorizationRequests = new WeakMap<Dialect, string>()

/** Written once: all are the same. */
function authorizationRequest(dialect: Dialect): string {
  const known = authorizationRequests.get(dialect)
  if (known !== undefined) return known
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: client.id,
    redirect_uri: client.redirectUri,
    scope,
    state,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...dialect.authorizationFields,
  })
  const request = `${dialect.authorize}?${query.toString()}`
  authorizationRequests.set(dialect, request)
  return request
}

function ask(connection: Connection, path: string): Promise<Answer> {
  return connection.ask(get(path))
}

function codeOf(answer: Answer): string {
  const location = headerOf(answer, 'location') ?? ''
  const parameters = new URL(location, 'http://127.0.0.1').searchParams
  const code = parameters.get('code')
  if (!location.startsWith(`${client.redirectUri}?`)) throw wrong(answer)
  if (code === null || parameters.get('state') !== state) throw wrong(answer)
  return code
}
