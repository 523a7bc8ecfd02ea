import { basic, clientCredentials, codeFlow, guard, introspection, refresh, type Dialect } from '../flows'
import { formPost, get, wrong, type Answer, type Connection, type Stories } from '../story'

// One code flow is 3 requests: GET authorize with the consent page, POST of the decision, POST token.
const dialect: Dialect = { authorize: '/authorize', token: '/token', clientPost: basic, approve: decide }

export const ours: Stories = {
  clientCredentials: clientCredentials(dialect),
  codeFlow: codeFlow(dialect),
  refresh: refresh(dialect),
  guard: guard(dialect),
  introspection: introspection(dialect),
}

/** The same where the host knows of the approval: 2 requests, as with the peers. */
export const approvedAlready: Stories = {
  codeFlow: codeFlow({ authorize: '/authorize', token: '/token', clientPost: basic }),
}

const handleField = /name="authorization_request" value="([^"]+)"/

async function decide(connection: Connection, path: string): Promise<Answer> {
  const page = await connection.ask(get(path))
  const handle = handleField.exec(page.body)?.[1]
  if (handle === undefined) throw wrong(page)
  return connection.ask(formPost('/authorize', { authorization_request: handle, decision: 'approve' }))
}
