import * as fc from 'fast-check'
import { createHash } from 'node:crypto'
import {
  createCredential,
  createId,
  createRefreshToken,
  createTagKey,
  credentialId,
  type CredentialKind,
  derivedText,
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
  authorizationRequest: /^ar_[A-Za-z0-9_-]{65}$/,
  requestHandle: /^rh_[A-Za-z0-9_-]{65}$/,
  loginReference: /^lr_[A-Za-z0-9_-]{65}$/,
  authorizationCode: /^ac_[A-Za-z0-9_-]{65}$/,
  accessToken: /^at_[A-Za-z0-9_-]{65}$/,
  refreshToken: /^rt_[A-Za-z0-9_-]{82}$/,
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
const letter = fc.stringMatching(/^[\w-]$/)
const letters = (length: number) => fc.string({ unit: letter, minLength: length, maxLength: length })
const anyId = letters(22)

describe('a credential', () => {
  test.each(kinds)('%s has its shape, its id, and 43 random letters of its own [token-1]', (kind) => {
    const asked: number[] = []
    create(kind, id, (length) => {
      asked.push(length)
      return 'A'.repeat(length)
    })
    expect(asked).toEqual([43])
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
        fc.constantFrom(64, 65, 66, 81, 82, 83),
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
    const generation = fc.nat({ max: 36 ** 6 - 1 })
    fc.assert(
      fc.property(generation, fc.integer({ min: 25, max: 84 }), letter, (wanted, at, other) => {
        const token = createRefreshToken(id, wanted, tagKey, secureRandom)
        expect(genuineGeneration(token, tagKey)).toBe(wanted)
        expect(genuineGeneration(token, createTagKey(secureRandom))).toBeUndefined()
        // One letter of its generation, tag or secret is changed.
        const altered = token.slice(0, at) + other + token.slice(at + 1)
        expect(genuineGeneration(altered, tagKey)).toBe(altered === token ? wanted : undefined)
      }),
    )
    fc.assert(
      fc.property(letters(60), (text) => {
        expect(credentialId('refreshToken', `rt_${id}${text}`)).toBe(id)
        expect(genuineGeneration(`rt_${id}${text}`, tagKey)).toBeUndefined()
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

describe('random letters', () => {
  test('are as many as asked for, never the same, and each as often as any other', () => {
    expect([1, 22, 43, 4096].map((length) => secureRandom(length).length)).toEqual([1, 22, 43, 4096])
    expect(() => secureRandom(4097)).toThrow(RangeError)
    const drawn = Array.from({ length: 4000 }, () => secureRandom(22))
    expect(new Set(drawn).size).toBe(drawn.length)
    const counts = new Map<string, number>()
    for (const one of drawn.join('')) counts.set(one, (counts.get(one) ?? 0) + 1)
    expect([...counts.keys()].toSorted().join('')).toMatch(/^-[0-9]{10}[A-Z]{26}_[a-z]{26}$/)
    for (const count of counts.values()) expect(Math.abs(count - 88_000 / 64)).toBeLessThan(300)
  })

  test('that are derived follow NIST SP 800-56C 4.1 with SHA-512, in order, and never repeat themselves', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (secret, purpose) => {
        const expected = createHash('sha512')
          .update(Buffer.from([0, 0, 0, 1]))
          .update(secret)
          .update(purpose)
        const draw = derivedText(secret, purpose)
        expect(draw(43) + draw(11) + draw(32)).toBe(expected.digest('base64url'))
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
