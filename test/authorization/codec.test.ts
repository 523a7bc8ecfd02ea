import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { deny } from '../../lib/authorization/answer'
import type { Authorization } from '../../lib/authorization/authorization'
import { decodeAuthorization, encodeAuthorization } from '../../lib/authorization/codec'
import { anyAuthorization } from '../support/authorization/arbitrary-authorization'
import {
  activeAuthorization,
  approvedAuthorization,
  pendingAuthorization,
  refreshed,
} from '../support/authorization/authorization'

const { pending } = pendingAuthorization()
const { approved } = approvedAuthorization()
const { active, issued } = activeAuthorization()
const rotated = refreshed(active, issued.refreshToken).active
const records: readonly Authorization[] = [pending, deny(pending), approved, active, rotated]

type Fields = Readonly<Record<string, unknown>>
const fieldsOf = (record: unknown): Fields => JSON.parse(JSON.stringify(record))

/** The record as text with some fields bent; `a.b` is the field b of the field a. */
function bent(record: unknown, path: string, value: unknown): string {
  const [key = '', ...rest] = path.split('.')
  const fields = fieldsOf(record)
  return JSON.stringify({
    ...fields,
    [key]: rest.length === 0 ? value : JSON.parse(bent(fields[key], rest.join('.'), value)),
  })
}

describe('decodeAuthorization', () => {
  it('reads back whatever encodeAuthorization wrote', () => {
    fc.assert(
      fc.property(anyAuthorization, (authorization) => {
        const read = decodeAuthorization(encodeAuthorization(authorization))
        // Not toStrictEqual, which takes a binding that is called "constructor" for a constructor.
        expect(isDeepStrictEqual(read, authorization)).toBe(true)
      }),
    )
  })

  it.each(records.map((record) => [record.state, record] as const))(
    'reads back a real record that is %s',
    (_state, record) => {
      expect(decodeAuthorization(encodeAuthorization(record))).toStrictEqual(record)
    },
  )

  it('drops fields of a later version that it does not know', () => {
    expect(decodeAuthorization(bent(pending, 'later', 1))).toStrictEqual(pending)
  })

  it.each(['', '{', 'null', '[]', '7', '"pending"', '{}'])('refuses %j', (text) => {
    expect(() => decodeAuthorization(text)).toThrow(Error)
  })

  it.each(['revoked', '__proto__', 'constructor'])('refuses the unknown state %s and says so', (state) => {
    expect(() => decodeAuthorization(bent(pending, 'state', state))).toThrow(
      `A stored authorization is not readable by this version: its state is "${state}".`,
    )
  })

  it.each(
    records.flatMap((record) =>
      Object.keys(fieldsOf(record)).map((key) => [record.state, key, record] as const),
    ),
  )('refuses a record that is %s with a wrong %s', (_state, key, record) => {
    for (const wrong of [null, '', -0.5, [7]])
      expect(() => decodeAuthorization(bent(record, key, wrong))).toThrow('not readable by this version')
  })

  it.each([
    [pending, 'request.redirectUri', 7],
    [pending, 'request.redirectUriSent', 'true'],
    [pending, 'request.requestState', ''],
    [approved, 'code.digest', undefined],
    [approved, 'code.failures', '1'],
    [approved, 'code.failures', 1.5],
    [approved, 'code.expiresAt', Number.MAX_SAFE_INTEGER + 1],
    [active, 'accessTokens', [{}]],
    [active, 'accessTokens', ['token']],
    [active, 'accessTokens', {}],
    [active, 'refreshToken.generation', null],
    [active, 'refreshToken.tagKey', undefined],
    [rotated, 'refreshToken.rotation', 'x'],
    [rotated, 'refreshToken.rotation.at', 'noon'],
    [rotated, 'refreshToken.rotation.sealedAnswer', undefined],
    [active, 'scope', 'photos.read'],
    [active, 'scope', ['']],
  ])('refuses a wrong field inside: %#', (record, path, value) => {
    expect(() => decodeAuthorization(bent(record, path, value))).toThrow('not readable by this version')
  })
})

describe('encodeAuthorization', () => {
  it('writes text without any token or code in clear', () => {
    const { approved: waiting, code } = approvedAuthorization()
    const text = [waiting, active, rotated].map(encodeAuthorization).join('\n')
    for (const credential of [code, issued.accessToken, issued.refreshToken!])
      expect(text).not.toContain(credential.slice(25))
  })
})
