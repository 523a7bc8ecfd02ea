import { refreshToken } from '../../../lib/token-endpoint/grant-types/built-in'
import type { Client } from '../../../lib/protocol/client'
import type { Issued } from '../../../lib/authorization/issue'
import { activeAuthorization } from '../../support/authorization/authorization'
import { clientWith } from '../../support/authorization/client'
import { answerOf, refusal, written } from '../../support/authorization/step'
import { parametersOf } from '../../support/rooms/parameters'
import { tokenRequest } from '../../support/rooms/token-request'
import { refusalOf } from '../../support/rooms/refused'

const { active, issued } = activeAuthorization()
const presented = issued.refreshToken ?? ''

const prove = (values: Parameters<typeof parametersOf>[0], client: Client = clientWith()) =>
  refreshToken.handle({
    ...tokenRequest,
    client,
    parameters: parametersOf(values),
    defaultScope: ['profile'],
  })

async function refreshed(...request: Parameters<typeof prove>) {
  const proof = await prove(...request)
  if (!('transition' in proof))
    throw new Error('A refresh token proves a move of an authorization that exists.')
  expect(proof.authorizationId).toBe(active.id)
  return proof.transition(active)
}

describe('the grant type refresh_token', () => {
  it('reads refresh_token and scope', () => {
    expect(refreshToken).toMatchObject({ name: 'refresh_token', parameters: ['refresh_token', 'scope'] })
  })

  it.each<[string, Parameters<typeof parametersOf>[0], string, string]>([
    ['no token', {}, 'invalid_request', 'parameter_missing'],
    ['an empty token', { refresh_token: '' }, 'invalid_request', 'parameter_missing'],
    ['garbage', { refresh_token: 'garbage' }, 'invalid_grant', 'refresh_token_malformed'],
    [
      'a token that is cut',
      { refresh_token: presented.slice(1) },
      'invalid_grant',
      'refresh_token_malformed',
    ],
    ['an access token', { refresh_token: issued.accessToken }, 'invalid_grant', 'refresh_token_malformed'],
  ])('refuses %s without a look at the store', async (_what, values, code, reason) => {
    expect(await refusalOf(prove(values))).toEqual({ code, reason })
  })

  it('takes an omitted or empty scope for the granted one, not for the default (TOK-9)', async () => {
    for (const scope of [undefined, '']) {
      const step = await refreshed({ refresh_token: presented, scope })
      expect(answerOf<Issued>(step).scope).toEqual(active.scope)
    }
  })

  it('narrows the access token and leaves the grant as it is (TKN-4)', async () => {
    const step = await refreshed({ refresh_token: presented, scope: 'photos.read' })
    expect(answerOf<Issued>(step).scope).toEqual(['photos.read'])
    expect(written(step)).toHaveProperty('scope', active.scope)
  })

  it.each([
    ['another client', {}, clientWith({ client_id: 'mallory' }), 'invalid_grant'],
    [
      'more scope than granted, though the client may have it',
      { scope: 'profile' },
      clientWith({ scope: 'profile' }),
      'invalid_scope',
    ],
    ['a malformed scope', { scope: 'a  b' }, clientWith(), 'invalid_scope'],
  ])('refuses %s', async (_what, bend, client, code) => {
    expect(refusal(await refreshed({ refresh_token: presented, ...bend }, client))).toMatchObject({
      code,
      action: 'none',
    })
  })
})
