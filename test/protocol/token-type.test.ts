import { secureRandom } from '../../lib/protocol/credential'
import { issueOfType, type TokenType } from '../../lib/protocol/token-type'
import { bearer } from '../../lib/token-types/bearer'
import { noon } from '../support/authorization/issue-context'

const moment = { now: noon, random: secureRandom }
const bringing = (properties: Record<string, string | number>): TokenType => ({
  ...bearer,
  name: 'sealed',
  issue: () => ({ properties, tokenData: 'wax' }),
})

describe('issueOfType', () => {
  it('brings what the token type brings, and nothing for one that brings nothing', () => {
    expect(issueOfType(bringing({ seal: 'red' }), 'at_x', moment)).toEqual({
      properties: { seal: 'red' },
      tokenData: 'wax',
    })
    expect(issueOfType(bearer, 'at_x', moment)).toEqual({ properties: {} })
  })

  it('shows the token type the token and the moment', () => {
    const issue = jest.fn(() => ({ properties: {} }))
    issueOfType({ ...bearer, issue }, 'at_x', moment)
    expect(issue.mock.calls).toEqual([['at_x', moment]])
  })

  it.each([
    'access_token',
    'token_type',
    'expires_in',
    'refresh_token',
    'scope',
    'state',
    'code',
    'iss',
    'error',
    'error_description',
    'error_uri',
  ])('leaves %s to the framework', (name) => {
    expect(() => issueOfType(bringing({ seal: 'red', [name]: 'x' }), 'at_x', moment)).toThrow(
      `The token type "sealed" may not set "${name}"`,
    )
  })
})
