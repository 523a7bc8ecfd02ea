import {
  basic,
  clientCredentials,
  codeFlow,
  decide,
  guard,
  introspection,
  refresh,
  type Dialect,
} from '../flows'
import type { Stories } from '../story'

const dialect: Dialect = { authorize: '/authorize', token: '/token', clientPost: basic }
// One code flow is 3 requests: GET authorize with the consent page, POST of the decision, POST token.
const withPage: Dialect = { ...dialect, approve: decide('/authorize') }

export const ours: Stories = {
  clientCredentials: clientCredentials(dialect),
  codeFlowWithPage: codeFlow(withPage),
  refresh: refresh(withPage),
  guard: guard(withPage),
  introspection: introspection(withPage),
}

/** Where the host knows of the approval: 2 requests. */
export const approvedAlready: Stories = { codeFlow: codeFlow(dialect) }
