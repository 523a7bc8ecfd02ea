import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { type Authorization, expiryOf } from '../../lib/authorization/authorization'
import { decodeAuthorization, encodeAuthorization } from '../../lib/authorization/codec'
import { deny } from '../../lib/authorization/decision'
import { anyAuthorization } from '../support/authorization/arbitrary-authorization'
import {
  activeAuthorization,
  approvedAuthorization,
  pendingAuthorization,
  refreshed,
  unclaimedAuthorization,
} from '../support/authorization/authorization'

const { pending } = pendingAuthorization()
const { approved } = approvedAuthorization()
const { active, issued } = activeAuthorization()
const rotated = refreshed(active, issued.refreshToken).active
const { unclaimed } = unclaimedAuthorization()
const records: readonly Authorization[] = [unclaimed, pending, deny(pending), approved, active, rotated]

const placesOf = (record: Authorization): readonly unknown[] => JSON.parse(encodeAuthorization(record))
const read = (text: string) => decodeAuthorization(pending.id, text)

/** The record as text with one place bent; a list names a place within a place. */
function bent(places: readonly unknown[], [at = 0, ...rest]: readonly number[], value: unknown): string {
  const inner = places[at]
  const changed = rest.length > 0 && Array.isArray(inner) ? JSON.parse(bent(inner, rest, value)) : value
  return JSON.stringify(places.with(at, changed))
}

describe('decodeAuthorization', () => {
  it('reads back what encodeAuthorization wrote', () => {
    fc.assert(
      fc.property(anyAuthorization, (authorization) => {
        const decoded = decodeAuthorization(authorization.id, encodeAuthorization(authorization))
        // Not toStrictEqual, which takes a binding that is called "constructor" for a constructor.
        expect(isDeepStrictEqual(decoded, authorization)).toBe(true)
      }),
    )
  })

  it.each(records.map((record) => [record.state, record] as const))(
    'reads back a real record that is %s',
    (_state, record) => {
      expect(decodeAuthorization(record.id, encodeAuthorization(record))).toStrictEqual(record)
    },
  )

  const ofNoIssuer = [
    ...records.map((record) => {
      const [first, ...places] = placesOf(record)
      return [String(first).slice(0, 1), ...places]
    }),
    ['d', 1_795_000_000],
    ['a', 'photo-printer', 'photos.read', 'bearer', [], 'alice', null, null, null, 1_795_000_000],
    ['c', 'photo-printer', 'photos.read', 'bearer'],
  ]

  it.each(ofNoIssuer.map((places) => [JSON.stringify(places)]))(
    'takes %s, of a version that named no issuer, for a record of no issuer and without credentials',
    (text) => {
      const decoded = read(text)
      expect(decoded).toMatchObject({ id: pending.id, issuerDigest: '' })
      expect(decoded).not.toHaveProperty('accessTokens')
      expect(expiryOf(decoded)).toBe(0)
    },
  )

  it('drops places of a later version that it does not know', () => {
    expect(read(JSON.stringify([...placesOf(deny(pending)), 1]))).toStrictEqual(deny(pending))
  })

  it.each(['', '[', 'null', '{}', '7', '"p"', '[]', '[["p"]]'])('refuses %j', (text) => {
    expect(() => read(text)).toThrow('not readable by this version')
  })

  it.each(['revoked', '__proto__', 'constructor', 'x'])(
    'refuses the unknown state %s and says so',
    (state) => {
      expect(() => read(bent(placesOf(pending), [0], state))).toThrow(
        `A stored authorization is not readable by this version: its state is "${state}".`,
      )
    },
  )

  it.each(records.flatMap((record) => placesOf(record).map((_, at) => [record.state, at, record] as const)))(
    'refuses a record that is %s with a wrong place %s [store-6]',
    (_state, at, record) => {
      for (const wrong of [-0.5, [7]])
        expect(() => read(bent(placesOf(record), [at], wrong))).toThrow('not readable by this version')
    },
  )

  it.each([
    [pending, [8], 7],
    [pending, [9], 'true'],
    [approved, [6], null],
    [approved, [10], '1'],
    [approved, [10], 1.5],
    [approved, [7], Number.MAX_SAFE_INTEGER + 1],
    [active, [1], null],
    [active, [2], null],
    [active, [2], 'photos.read  photos.write'],
    [active, [4], null],
    [active, [4], [{}]],
    [active, [4], ['token']],
    [active, [4], [' 10']],
    [active, [4], ['token !']],
    [active, [4], {}],
    [active, [4], [['token 10']]],
    [active, [7, 0], null],
    [active, [7, 1], null],
    [active, [7, 2], null],
    [rotated, [7, 4], 'noon'],
    [rotated, [7, 5], null],
    [active, [8], []],
    [active, [9], 7],
    [approved, [12], 7],
    [approved, [13], 7],
    [approved, [14], null],
    [approved, [15], 7],
  ])('refuses a wrong place inside: %#', (record, at, value) => {
    const places = [...placesOf(record)]
    for (let place = places.length; place < 9; place++) places.push(null)
    expect(() => read(bent(places, at, value))).toThrow('not readable by this version')
  })
})

describe('encodeAuthorization', () => {
  it('writes text without any token or code in clear [token-2]', () => {
    const { approved: waiting, code } = approvedAuthorization()
    const text = [waiting, active, rotated].map(encodeAuthorization).join('\n')
    for (const credential of [code, issued.accessToken, issued.refreshToken!])
      expect(text).not.toContain(credential.slice(25))
  })

  it('writes the record of one access token in no more than its parts and twenty characters', () => {
    const [token] = active.accessTokens
    const lone = {
      ...active,
      consentToken: undefined,
      subject: undefined,
      spentCode: undefined,
      refreshToken: undefined,
      extensionData: {},
      grantedAt: undefined,
    }
    const parts = [
      lone.issuerDigest,
      lone.clientId,
      lone.scope.join(' '),
      lone.tokenType,
      token?.digest,
      '1795000000',
    ].join('')
    expect(encodeAuthorization(lone).length).toBeLessThanOrEqual(parts.length + 20)
  })
})
