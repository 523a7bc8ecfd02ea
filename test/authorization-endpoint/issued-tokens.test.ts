import { authorize } from '../../lib/authorization-endpoint/authorize'
import { decide } from '../../lib/authorization-endpoint/decide'
import { implicit, type ResponseType, ResponseTypes } from '../../lib/authorization-endpoint/response-types'
import { issue } from '../../lib/authorization/issue'
import { clientWith } from '../support/authorization/client'
import { authorizationEndpoint, clientsOf, watchedStore } from '../support/rooms/endpoints'
import { parametersOf } from '../support/rooms/parameters'
import { hostWhere } from '../support/rooms/watched-host'

/** What the client is told after alice has approved a request of this response type. */
async function approved(type: ResponseType) {
  const store = watchedStore()
  const client = { ...clientWith(), response_types: [type.name] }
  const responseTypes = new ResponseTypes([type])
  const endpoint = authorizationEndpoint({ store, responseTypes, findClient: clientsOf(client) })
  const host = hostWhere()
  const request = { response_type: type.name, client_id: client.client_id, scope: 'photos.read' }
  await authorize(endpoint, parametersOf(request), host)
  const handle = host.questions[0]?.handle ?? ''
  const outcome = await decide(endpoint, { handle, subject: 'alice', approved: true })
  if (outcome.kind !== 'redirect') throw new Error(`The client is told nothing: ${outcome.kind}.`)
  const { hash, search } = new URL(outcome.location)
  return { store, outcome, fragment: new URLSearchParams(hash.slice(1)), query: new URLSearchParams(search) }
}

const greedy: ResponseType = {
  ...implicit(),
  approve(pending, context) {
    const { authorization } = implicit().approve(pending, context)
    if (authorization.state !== 'active') throw new Error('The implicit grant issues at once.')
    const wanted = { scope: pending.scope, refreshToken: true }
    return { ...issue(authorization, wanted, context), parameters: {} }
  },
}

describe('an access token in the answer of the authorization endpoint', () => {
  it('is written as in a token response, in the write of the approval (AUZ-7)', async () => {
    const { store, fragment } = await approved(implicit())
    expect(Object.fromEntries(fragment)).toEqual({
      access_token: expect.stringMatching(/^at_/),
      token_type: 'bearer',
      expires_in: '3600',
      scope: 'photos.read',
      iss: 'https://photos.example',
    })
    expect(store.saved.map(({ state }) => state)).toEqual(['pending', 'active'])
  })

  it('never comes with a refresh token, whatever the response type issues (AUZ-8)', async () => {
    const { fragment } = await approved(greedy)
    expect(fragment.has('access_token')).toBe(true)
    expect(fragment.has('refresh_token')).toBe(false)
  })

  it('is never put into a query: the client is told server_error, and nothing is saved [implicit-2]', async () => {
    const { store, outcome, query } = await approved({ ...implicit(), mode: 'query' })
    expect(query.get('error')).toBe('server_error')
    expect(outcome.location).not.toContain('access_token')
    expect(store.saved).toHaveLength(1)
  })
})
