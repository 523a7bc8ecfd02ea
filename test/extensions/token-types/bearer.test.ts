import * as fc from 'fast-check'
import type { Issued } from '../../../lib/authorization/issue'
import { parseScope } from '../../../lib/protocol/scope'
import { bearer, tokenResponse } from '../../../lib/extensions/token-types/bearer'
import { noon } from '../../support/noon'

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

const issued: Issued = {
  accessToken: 'at_1',
  tokenType: 'bearer',
  properties: {},
  expiresAt: noon + 3600,
  scope: ['photos.write', 'photos.read'],
  refreshToken: undefined,
}

const token = fc.stringMatching(/^[A-Za-z0-9_-]{1,80}$/)
const scopeToken = fc.stringMatching(/^[\x21\x23-\x5B\x5D-\x7E]{1,12}$/)
const anyIssued: fc.Arbitrary<Issued> = fc.record({
  accessToken: token,
  tokenType: token,
  properties: fc.constant({}),
  expiresAt: fc.integer({ min: noon + 1, max: noon + 10 ** 9 }),
  scope: fc.uniqueArray(scopeToken, { minLength: 1 }),
  refreshToken: fc.option(token, { nil: undefined }),
})

describe('tokenResponse', () => {
  it('has the members of RFC 6749 5.1 and no others', () => {
    expect(tokenResponse(issued, noon)).toEqual({
      access_token: 'at_1',
      token_type: 'bearer',
      expires_in: 3600,
      scope: 'photos.write photos.read',
    })
  })

  it('has a refresh token when one was issued', () => {
    const answer = tokenResponse({ ...issued, refreshToken: 'rt_1' }, noon)
    expect(answer).toHaveProperty('refresh_token', 'rt_1')
  })

  it('has no member without a value, and says so in JSON, too', () => {
    fc.assert(
      fc.property(anyIssued, (any) => {
        const answer = tokenResponse(any, noon)
        expect(
          Object.values(answer).every((value) => value !== undefined && value !== null && value !== ''),
        ).toBe(true)
        expect(JSON.parse(JSON.stringify(answer))).toEqual(answer)
        expect('refresh_token' in answer).toBe(any.refreshToken !== undefined)
      }),
    )
  })

  it('counts expires_in in whole seconds from the answer (RSP-3)', () => {
    fc.assert(
      fc.property(anyIssued, (any) => {
        const { expires_in } = tokenResponse(any, noon)
        expect(Number.isInteger(expires_in)).toBe(true)
        expect(expires_in + noon).toBe(any.expiresAt)
      }),
    )
  })

  it('names the scope as RFC 6749 3.3 writes it (RSP-4)', () => {
    fc.assert(
      fc.property(anyIssued, (any) => {
        expect(parseScope(tokenResponse(any, noon).scope)).toEqual(any.scope)
      }),
    )
  })

  it('has the name and the members of the token type (TKN-2)', () => {
    const properties = { mac_key: 'k', mac_algorithm: 'hmac-sha-256', grade: 7 }
    expect(tokenResponse({ ...issued, tokenType: 'mac', properties }, noon)).toMatchObject({
      token_type: 'mac',
      ...properties,
      access_token: 'at_1',
    })
  })
})
