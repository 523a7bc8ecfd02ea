import { bearer } from '../../lib/token-types/bearer'

describe('bearer', () => {
  it('is spelt in lower case in responses and as a scheme in headers (TKN-2)', () => {
    expect(bearer).toMatchObject({ name: 'bearer', scheme: 'Bearer' })
  })

  it('adds nothing to a response and keeps nothing', () => {
    expect(bearer).not.toHaveProperty('issue')
  })

  it('needs the token and nothing beside it', () => {
    expect(bearer.read('at_x')).toEqual({ accessToken: 'at_x' })
  })

  it.each(['', ' ', 'at_x at_y', 'at_x '])('reads no token from %j', (credentials) => {
    expect(bearer.read(credentials)).toBeUndefined()
  })
})
