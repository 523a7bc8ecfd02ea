import { basic, clientCredentials, codeFlow, decide, guard, refresh, type Dialect } from '../flows'
import type { Stories } from '../story'

// One code flow is 2 requests: GET authorize, where consent is the host's affair, and POST token.
const dialect: Dialect = { authorize: '/authorize', token: '/token', clientPost: basic }
// With a page it is 3.
const withPage: Dialect = { ...dialect, authorize: '/ask', approve: decide('/decide') }

/** It has no introspection. */
export const nodeOauth: Stories = {
  clientCredentials: clientCredentials(dialect),
  codeFlow: codeFlow(dialect),
  codeFlowWithPage: codeFlow(withPage),
  refresh: refresh(dialect),
  guard: guard(dialect),
}
