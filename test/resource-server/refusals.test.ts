import { OAuthError } from '../../lib/protocol/oauth-error'
import {
  badToken,
  insufficientScope,
  malformedRequest,
  unprovenToken,
} from '../../lib/resource-server/refusals'

const needed = ['photos.read', 'photos.write']
const scope = 'photos.read photos.write'

describe('the refusals of a guard', () => {
  it.each([
    ['a malformed request', malformedRequest('token_malformed', []), 400, 'invalid_request', {}],
    ['a bad token', badToken('token_invalid', needed), 401, 'invalid_token', { scope }],
    ['a token without its proof', unprovenToken('mac_wrong', needed, 'MAC'), 401, 'invalid_token', { scope }],
    ['too little scope', insufficientScope(needed), 403, 'insufficient_scope', { scope }],
  ])('have the status, code and scope of RFC 6750 3.1 for %s', (_what, error, status, code, challenge) => {
    expect(error).toBeInstanceOf(OAuthError)
    expect(error).toMatchObject({ status, code, challenge })
  })

  it('keep what the guard read for the explanation alone', () => {
    const { description, observed } = insufficientScope(needed, ['photos.read'])
    expect(observed).toEqual({ 'scope of the guard': needed, 'scope of the token': ['photos.read'] })
    expect(description).toBe('The access token does not have the scope that this resource needs.')
  })
})
