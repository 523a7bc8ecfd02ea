import { mayRefresh } from '../../lib/token-endpoint/grant-type'
import { clientWith } from '../support/authorization/client'

describe('mayRefresh', () => {
  it.each([
    [['authorization_code', 'refresh_token'], true],
    [['authorization_code'], false],
  ])('of a client with the grants %j: %s', (grant_types, may) => {
    expect(mayRefresh(clientWith({ grant_types }))).toBe(may)
  })
})
