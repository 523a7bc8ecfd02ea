import * as fc from 'fast-check'
import type { Issued } from '../../lib/authorization/issue'
import { seal, unseal } from '../../lib/authorization/sealed-answer'
import { secureRandom } from '../../lib/protocol/credential'
import { activeAuthorization } from '../support/authorization/authorization'

const { issued } = activeAuthorization()
const presented = activeAuthorization().issued.refreshToken!
const sealed = seal(issued, presented, secureRandom)

const text = fc.string({ unit: 'grapheme', minLength: 1 })
const anyIssued: fc.Arbitrary<Issued> = fc.record({
  accessToken: text,
  tokenType: text,
  properties: fc.dictionary(text, fc.oneof(fc.string(), fc.integer()), { noNullPrototype: true }),
  expiresAt: fc.nat(),
  scope: fc.array(text),
  refreshToken: text,
})

describe('seal', () => {
  it('is opened by the refresh token that sealed it, whatever it holds', () => {
    fc.assert(
      fc.property(anyIssued, text, (answer, token) => {
        expect(unseal(seal(answer, token, secureRandom), token)).toEqual(answer)
      }),
    )
  })

  it('is opened by no other token', () => {
    expect(unseal(sealed, issued.refreshToken!)).toBeUndefined()
    expect(unseal(sealed, '')).toBeUndefined()
  })

  it('is not opened once a bit of it was altered', () => {
    const bytes = Buffer.from(sealed, 'base64url')
    fc.assert(
      fc.property(fc.nat({ max: bytes.length * 8 - 1 }), (bit) => {
        const altered = Buffer.from(bytes)
        altered[bit >> 3]! ^= 1 << (bit & 7)
        expect(unseal(altered.toString('base64url'), presented)).toBeUndefined()
      }),
    )
  })

  it('reads differently each time', () => {
    expect(seal(issued, presented, secureRandom)).not.toBe(sealed)
  })

  it('shows nothing of what it holds', () => {
    const bytes = Buffer.from(sealed, 'base64url').toString('latin1')
    expect(bytes).not.toContain(issued.accessToken.slice(25))
    expect(bytes).not.toContain('accessToken')
  })

  it('holds answers with a refresh token only', () => {
    expect(
      unseal(seal({ ...issued, refreshToken: undefined }, presented, secureRandom), presented),
    ).toBeUndefined()
  })

  it.each(['', 'A', 'garbage', sealed.slice(0, 10), sealed.slice(0, 38)])(
    'that was cut short opens to nothing, without a throw: %j',
    (cut) => {
      expect(unseal(cut, presented)).toBeUndefined()
    },
  )
})
