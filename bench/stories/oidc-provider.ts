import { resource, scope } from '../cast'
import {
  accessTokenBy,
  basic,
  clientCredentials,
  codeFlow,
  guard,
  idTokenBy,
  introspection,
  refresh,
  type Dialect,
} from '../flows'
import { get, headerOf, headersOf, wrong, type Answer, type Connection, type Stories } from '../story'

// One code flow is 4 requests: GET auth, GET interaction, where the owner consents, GET auth again, POST token.
const dialect: Dialect = {
  authorize: '/auth',
  token: '/token',
  introspection: '/token/introspection',
  clientPost: basic,
  // The session remembers a consent: without this it would not be asked for again, and 2 requests were enough.
  authorizationFields: { prompt: 'consent' },
  approve: followAsBrowser,
}

export const oidcProvider: Stories = {
  clientCredentials: clientCredentials(dialect),
  codeFlow: codeFlow(dialect),
  refresh: refresh(dialect),
  guard: guard(dialect),
  introspection: introspection(dialect),
}

/** With access tokens that are JWTs, which it does not keep: it has no guard for them. */
export function oidcProviderJwt(algorithm: string): Stories {
  const authorizationFields = { ...dialect.authorizationFields, resource }
  const signed = {
    ...dialect,
    authorizationFields,
    tokenFields: { resource },
    accept: accessTokenBy(algorithm),
  }
  return { clientCredentials: clientCredentials(signed), codeFlow: codeFlow(signed) }
}

/** With an ID token beside an opaque access token. */
export function oidcProviderIdToken(algorithm: string): Stories {
  const authorizationFields = { ...dialect.authorizationFields, scope: `openid ${scope}` }
  return { codeFlow: codeFlow({ ...dialect, authorizationFields, accept: idTokenBy(algorithm) }) }
}

const browsers = new WeakMap<Connection, Map<string, string>>()

/** Follows redirects to the server itself, with the cookies that this connection got. */
async function followAsBrowser(connection: Connection, path: string): Promise<Answer> {
  const cookies = browsers.get(connection) ?? new Map<string, string>()
  browsers.set(connection, cookies)
  const answer = await connection.ask(get(path, { Cookie: [...cookies.values()].join('; ') }))
  if (answer.status !== 303) throw wrong(answer)
  for (const cookie of headersOf(answer, 'set-cookie')) keep(cookie, cookies)
  const next = new URL(headerOf(answer, 'location') ?? '', 'http://127.0.0.1')
  return next.hostname === '127.0.0.1' ? followAsBrowser(connection, next.pathname) : answer
}

function keep(cookie: string, cookies: Map<string, string>): void {
  const [pair = ''] = cookie.split(';')
  const [name = '', value] = pair.split('=')
  if (value) cookies.set(name, pair)
  else cookies.delete(name)
}
