import { basic, clientCredentials, codeFlow, decide, guard, named, refresh, type Dialect } from '../flows'
import type { Stories } from '../story'

const approved: Dialect = { authorize: '/authorize', token: '/token', clientPost: basic }
const dialect: Dialect = { ...approved, approve: decide('/decide') }

/** Without a page: 2 requests. */
export const bareApproved: Stories = { codeFlow: codeFlow({ ...approved, clientPost: named }) }

/** The same requests, to routes that check nothing. */
export const bare: Stories = {
  clientCredentials: clientCredentials(dialect),
  codeFlowWithPage: codeFlow(dialect),
  refresh: refresh(dialect),
  guard: guard(dialect),
}
