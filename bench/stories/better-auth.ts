import { resource, scope } from '../cast'
import {
  accessTokenBy,
  basic,
  clientCredentials,
  codeFlow,
  guard,
  introspection,
  refresh,
  type Dialect,
} from '../flows'
import type { Stories } from '../story'

// One code flow is 2 requests: GET authorize, where this client needs no consent, and POST token.
const dialect: Dialect = {
  authorize: '/api/auth/oauth2/authorize',
  token: '/api/auth/oauth2/token',
  introspection: '/api/auth/oauth2/introspect',
  clientPost: basic,
  // Without that scope there is no refresh token.
  authorizationFields: { scope: `${scope} offline_access` },
}

export const betterAuth: Stories = {
  clientCredentials: clientCredentials(dialect),
  codeFlow: codeFlow(dialect),
  refresh: refresh(dialect),
  guard: guard(dialect),
  introspection: introspection(dialect),
}

/** With access tokens that are JWTs, which it does not keep: it has no guard for them in its own process. */
export function betterAuthJwt(algorithm: string): Stories {
  const authorizationFields = { ...dialect.authorizationFields, resource }
  const signed = {
    ...dialect,
    authorizationFields,
    tokenFields: { resource },
    accept: accessTokenBy(algorithm),
  }
  return { clientCredentials: clientCredentials(signed), codeFlow: codeFlow(signed) }
}
