import { basic, clientCredentials, codeFlow, decide, guard, refresh, type Dialect } from '../flows'
import type { Stories } from '../story'

const dialect: Dialect = {
  authorize: '/authorize',
  token: '/token',
  clientPost: basic,
  approve: decide('/decide'),
}

/** The same requests, to routes that check nothing. */
export const bare: Stories = {
  clientCredentials: clientCredentials(dialect),
  codeFlowWithPage: codeFlow(dialect),
  refresh: refresh(dialect),
  guard: guard(dialect),
}
