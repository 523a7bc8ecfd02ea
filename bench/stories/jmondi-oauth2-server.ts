import { basic, clientCredentials, codeFlow, guard, introspection, refresh, type Dialect } from '../flows'
import type { Stories } from '../story'

// One code flow is 2 requests: GET authorize, where the host says that the owner approves, and POST token.
const dialect: Dialect = {
  authorize: '/authorize',
  token: '/token',
  introspection: '/introspect',
  clientPost: basic,
}

export const jmondiOauth2Server: Stories = {
  clientCredentials: clientCredentials(dialect),
  codeFlow: codeFlow(dialect),
  refresh: refresh(dialect),
  guard: guard(dialect),
  introspection: introspection(dialect),
}
