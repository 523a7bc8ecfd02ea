import { bearer } from '../../lib/token-types/bearer'
import { activeAuthorization } from '../support/authorization/authorization'

describe('bearer', () => {
  it('is spelt in lower case in responses and as a scheme in headers (TKN-2)', () => {
    expect(bearer).toMatchObject({ name: 'bearer', scheme: 'Bearer' })
  })

  it('adds nothing to a response', () => {
    expect(bearer.properties(activeAuthorization().issued)).toEqual({})
  })
})
