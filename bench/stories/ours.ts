import { scope } from '../cast'
import {
  accessTokenBy,
  basic,
  clientCredentials,
  codeFlow,
  decide,
  guard,
  idTokenBy,
  introspection,
  named,
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

/** A public client, where the host knows of the approval: 2 requests. */
export const approvedAlready: Stories = { codeFlow: codeFlow({ ...dialect, clientPost: named }) }

/** With access tokens that are JWTs. */
export function oursJwt(algorithm: string): Stories {
  const signed = { ...withPage, accept: accessTokenBy(algorithm) }
  return {
    clientCredentials: clientCredentials(signed),
    codeFlowWithPage: codeFlow(signed),
    guard: guard(signed),
  }
}

/** With an ID token beside an opaque access token. */
export function oursIdToken(algorithm: string): Stories {
  const authorizationFields = { scope: `openid ${scope}` }
  return { codeFlowWithPage: codeFlow({ ...withPage, authorizationFields, accept: idTokenBy(algorithm) }) }
}
