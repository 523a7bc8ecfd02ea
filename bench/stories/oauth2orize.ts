import { basic, clientCredentials, codeFlow, guard, refresh, type Dialect } from '../flows'
import type { Stories } from '../story'

// One code flow is 2 requests: GET authorize, approved at once (its "immediate" callback), POST token.
const dialect: Dialect = { authorize: '/authorize', token: '/token', clientPost: basic }

/** It has no introspection. */
export const oauth2orize: Stories = {
  clientCredentials: clientCredentials(dialect),
  codeFlow: codeFlow(dialect),
  refresh: refresh(dialect),
  guard: guard(dialect),
}
