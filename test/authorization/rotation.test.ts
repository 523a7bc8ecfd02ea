import * as fc from 'fast-check'
import type { Active } from '../../lib/authorization/authorization'
import { rederiveTokens, rotate } from '../../lib/authorization/refresh'
import { secureRandom } from '../../lib/protocol/credential'
import { activeAuthorization } from '../support/authorization/authorization'
import { context } from '../support/authorization/issue-context'

const scope = ['photos.read']
const first = activeAuthorization()
const presented = first.issued.refreshToken!
const of = (active: Active) => active.refreshToken!
const rotated = rotate(first.active, presented, scope, context())
const next = rotated.authorization
const stampedStart = { ...first.active, tokenType: 'stamped' }
const stamped = rotate(stampedStart, presented, scope, context())

/** The record with another rotation. */
const changedRotation = (active: Active, bend: object) => ({
  ...of(active),
  rotation: { ...of(active).rotation!, ...bend },
})

describe('rotate', () => {
  it('issues a pair that the token which goes out of use makes again', () => {
    expect(rederiveTokens(next, of(next), presented)).toEqual({
      accessToken: rotated.issued.accessToken,
      stored: next.accessTokens.at(-1),
      properties: {},
      refreshToken: rotated.issued.refreshToken,
    })
  })

  it('makes it again with what the token type added', () => {
    const { issued, authorization } = stamped
    expect(issued.properties).toHaveProperty('stamp')
    expect(rederiveTokens(authorization, of(authorization), presented)).toMatchObject({
      accessToken: issued.accessToken,
      properties: issued.properties,
    })
  })

  it('issues another pair each time, so that of two racing rotations neither knows the pair of the other', () => {
    const secrets = Array.from({ length: 50 }, () => rotate(first.active, presented, scope, context()))
    const tokens = secrets.flatMap(({ issued }) => [issued.accessToken, issued.refreshToken])
    expect(new Set(tokens.map((token) => token!.slice(-32))).size).toBe(100)
  })

  it('makes nothing again for any other token [refresh-11]', () => {
    for (const other of [
      rotated.issued.refreshToken!,
      rotated.issued.accessToken,
      presented.slice(0, -1),
      '',
    ])
      expect(rederiveTokens(next, of(next), other)).toBeUndefined()
  })

  it('makes nothing again once the salt was altered, nor before any rotation', () => {
    fc.assert(
      fc.property(fc.string(), (salt) => {
        fc.pre(salt !== of(next).rotation!.salt)
        expect(rederiveTokens(next, changedRotation(next, { salt }), presented)).toBeUndefined()
      }),
    )
    expect(rederiveTokens(first.active, of(first.active), presented)).toBeUndefined()
  })

  it('keeps nothing on record that shows a token, or what its type added, and no more than a salt for a bearer [refresh-10]', () => {
    const { authorization, issued } = stamped
    const record = JSON.stringify(authorization)
    expect(record).not.toContain(issued.properties['stamp'])
    for (const token of [presented, issued.accessToken, issued.refreshToken!])
      expect(record).not.toContain(token.slice(-43))
    expect(of(next).rotation).toEqual({
      at: context().now,
      salt: expect.stringMatching(/^[\w-]{22}$/),
      sealedProperties: undefined,
    })
  })

  it('does not pass over what was altered in the store', () => {
    const { authorization } = stamped
    const sealed = of(authorization).rotation!.sealedProperties!
    const bytes = Buffer.from(sealed, 'base64url')
    for (const altered of [
      '',
      'garbage',
      sealed.slice(0, 20),
      flipped(bytes, 3),
      flipped(bytes, bytes.length - 1),
    ])
      expect(() =>
        rederiveTokens(
          authorization,
          changedRotation(authorization, { sealedProperties: altered }),
          presented,
        ),
      ).toThrow('altered in the store')
  })

  it('draws what the token type keeps secret from random bytes, not from the tokens', () => {
    const drawn: number[] = []
    const random = (bytes: number) => {
      drawn.push(bytes)
      return secureRandom(bytes)
    }
    rotate(stampedStart, presented, scope, context({ random }))
    // Salt, stamp, and the nonce of its seal.
    expect(drawn).toEqual([16, 6, 12])
  })
})

function flipped(bytes: Buffer, at: number): string {
  const copy = Buffer.from(bytes)
  copy[at]! ^= 1
  return copy.toString('base64url')
}
