import * as fc from 'fast-check'
import { createHash } from 'node:crypto'
import {
  createCredential,
  createId,
  createRefreshToken,
  createTagKey,
  credentialId,
  type CredentialKind,
  derivedBytes,
  digest,
  genuineGeneration,
  hasDigest,
  sealText,
  secureRandom,
  unsealText,
} from '../../lib/protocol/credential'
import { wholeText } from '../support/any-text'

fc.configureGlobal({ seed: 7 })

const shapes: Readonly<Record<CredentialKind, RegExp>> = {
  authorizationRequest: /^ar_[A-Za-z0-9_-]{64}$/,
  requestHandle: /^rh_[A-Za-z0-9_-]{64}$/,
  loginReference: /^lr_[A-Za-z0-9_-]{64}$/,
  authorizationCode: /^ac_[A-Za-z0-9_-]{64}$/,
  accessToken: /^at_[A-Za-z0-9_-]{64}$/,
  refreshToken: /^rt_[A-Za-z0-9_-]{80}$/,
}
const plainKinds = [
  'authorizationRequest',
  'requestHandle',
  'loginReference',
  'authorizationCode',
  'accessToken',
] as const
const kinds = [...plainKinds, 'refreshToken'] as const
const id = createId(secureRandom)
const tagKey = createTagKey(secureRandom)
const create = (kind: CredentialKind, of = id, random = secureRandom): string =>
  kind === 'refreshToken' ? createRefreshToken(of, 7, tagKey, random) : createCredential(kind, of, random)
const bytesOf = (refreshToken: string) => Buffer.from(refreshToken.slice(3), 'base64url')
const anyId = fc
  .uint8Array({ minLength: 16, maxLength: 16 })
  .map((bytes) => createId(() => Buffer.from(bytes)))

describe('a credential', () => {
  test.each(kinds)('%s has its shape, its id, and 32 random bytes of its own [token-1]', (kind) => {
    const asked: number[] = []
    create(kind, id, (bytes) => {
      asked.push(bytes)
      return Buffer.alloc(bytes)
    })
    expect(asked).toEqual([32])
    expect(new Set(Array.from({ length: 100 }, () => create(kind))).size).toBe(100)
    fc.assert(
      fc.property(anyId, (of) => {
        expect(of).toMatch(/^[A-Za-z0-9_-]{22}$/)
        expect(create(kind, of)).toMatch(shapes[kind])
        expect(kinds.map((other) => credentialId(other, create(kind, of)))).toEqual(
          kinds.map((other) => (other === kind ? of : undefined)),
        )
      }),
    )
  })

  test.each(kinds)('%s is known by its shape alone, whatever text it is', (kind) => {
    const near = fc
      .tuple(
        fc.constantFrom('ar_', 'rh_', 'lr_', 'ac_', 'at_', 'rt_', 'xx_', ''),
        fc.constantFrom(63, 64, 65, 79, 80, 81),
      )
      .map(([prefix, length]) => prefix + 'A'.repeat(length))
    const good = create(kind)
    const odd = fc.constantFrom(
      good.slice(3),
      good.slice(0, -1),
      `${good}A`,
      ` ${good}`,
      `${good}\n`,
      good.toUpperCase(),
      ...['=', '+', 'é'].map((end) => good.slice(0, -1) + end),
      `${good.slice(0, 10)} ${good.slice(11)}`,
    )
    fc.assert(
      fc.property(fc.oneof(fc.string(), near, odd), (text) => {
        expect(credentialId(kind, text) !== undefined).toBe(shapes[kind].test(text))
      }),
    )
  })

  test('that is a refresh token tells its generation, under its own key alone [refresh-9]', () => {
    const generation = fc.nat({ max: 0xffffffff })
    fc.assert(
      fc.property(generation, fc.integer({ min: 16 * 8, max: 60 * 8 - 1 }), (wanted, bit) => {
        const token = createRefreshToken(id, wanted, tagKey, secureRandom)
        expect(genuineGeneration(token, tagKey)).toBe(wanted)
        expect(genuineGeneration(token, createTagKey(secureRandom))).toBeUndefined()
        // One bit of its generation, tag or secret is changed.
        const bytes = bytesOf(token)
        bytes.writeUInt8(bytes.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
        expect(genuineGeneration(`rt_${bytes.toString('base64url')}`, tagKey)).toBeUndefined()
      }),
    )
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 44, maxLength: 44 }), (bytes) => {
        const forged = `rt_${Buffer.concat([Buffer.from(id, 'base64url'), bytes]).toString('base64url')}`
        expect(credentialId('refreshToken', forged)).toBe(id)
        expect(genuineGeneration(forged, tagKey)).toBeUndefined()
      }),
    )
    for (const kind of plainKinds) expect(genuineGeneration(create(kind), tagKey)).toBeUndefined()
  })
})

describe('a digest', () => {
  test('is SHA-256 in 43 characters, and fits its own text only', () => {
    expect(digest('abc')).toBe('ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0')
    fc.assert(
      fc.property(fc.string(), fc.string(), (text, other) => {
        expect(hasDigest(text, digest(text))).toBe(true)
        expect(hasDigest(other, digest(text))).toBe(other === text)
      }),
    )
    for (const stored of ['', 'abc', `${digest('abc')}=`, 'é'.repeat(43)])
      expect(hasDigest('abc', stored)).toBe(false)
  })
})

describe('random bytes', () => {
  test('are as many as asked for, never the same, and belong to who asked', () => {
    expect([1, 16, 32, 4096, 5000].map((bytes) => secureRandom(bytes).length)).toEqual([
      1, 16, 32, 4096, 5000,
    ])
    const drawn = Array.from({ length: 2000 }, () => secureRandom(16))
    const before = drawn.map((bytes) => bytes.toString('hex'))
    expect(new Set(before).size).toBe(drawn.length)
    for (let round = 0; round < 1000; round++) secureRandom(32).fill(0)
    expect(drawn.map((bytes) => bytes.toString('hex'))).toEqual(before)
    expect(before).not.toContain('0'.repeat(32))
  })

  test('that are derived follow NIST SP 800-56C 4.1 with SHA-512, in order, and never repeat themselves', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (secret, purpose) => {
        const expected = createHash('sha512')
          .update(Buffer.from([0, 0, 0, 1]))
          .update(secret)
          .update(purpose)
        const draw = derivedBytes(secret, purpose)
        expect(Buffer.concat([draw(32), draw(8), draw(24)]).toString('hex')).toBe(expected.digest('hex'))
        expect(() => draw(1)).toThrow(RangeError)
      }),
    )
  })
})

describe('a sealed text', () => {
  test('is opened by the credential and the purpose that sealed it, and by no other', () => {
    const text = wholeText()
    fc.assert(
      fc.property(text, text, text, text, (secret, credential, purpose, other) => {
        const sealed = sealText(secret, { credential, purpose }, secureRandom)
        expect(unsealText(sealed, { credential, purpose })).toBe(secret)
        const opened = [
          unsealText(sealed, { credential: `${credential}${other}`, purpose }),
          unsealText(sealed, { credential, purpose: `${purpose}${other}` }),
        ]
        expect(opened).toEqual(other === '' ? [secret, secret] : [undefined, undefined])
      }),
    )
  })

  test('shows nothing of what it holds, and reads differently each time', () => {
    const key = { credential: 'at_x', purpose: 'mac key' }
    const [first, second] = [1, 2].map(() => sealText('a secret text', key, secureRandom))
    expect(first).not.toBe(second)
    expect(Buffer.from(String(first), 'base64url').toString('latin1')).not.toContain('secret')
  })
})
