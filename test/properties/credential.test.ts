import { hashSync } from 'bcrypt'
import * as fc from 'fast-check'
import { createHash } from 'node:crypto'
import { isBcryptHash, isSecretHash } from '../../lib/protocol/client'
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

const plainKinds = ['authorizationRequest', 'authorizationCode', 'accessToken'] as const
const kinds: readonly CredentialKind[] = [...plainKinds, 'refreshToken']
const id = createId(secureRandom)
const tagKey = createTagKey(secureRandom)

function create(kind: CredentialKind, of = id): string {
  return kind === 'refreshToken'
    ? createRefreshToken(of, 7, tagKey, secureRandom)
    : createCredential(kind, of, secureRandom)
}

const bytesOf = (refreshToken: string) => Buffer.from(refreshToken.slice(3), 'base64url')
const anyId = fc
  .uint8Array({ minLength: 16, maxLength: 16 })
  .map((bytes) => createId(() => Buffer.from(bytes)))
const generation = fc.nat({ max: 0xffffffff })

describe('createId', () => {
  it('writes 16 random bytes in 22 characters', () => {
    expect(id).toMatch(/^[A-Za-z0-9_-]{22}$/)
    expect(createId((bytes) => Buffer.alloc(bytes, 255))).toBe(Buffer.alloc(16, 255).toString('base64url'))
    expect(createId(secureRandom)).not.toBe(id)
  })
})

describe('createCredential', () => {
  it.each([
    ['authorizationRequest', /^ar_[A-Za-z0-9_-]{64}$/],
    ['authorizationCode', /^ac_[A-Za-z0-9_-]{64}$/],
    ['accessToken', /^at_[A-Za-z0-9_-]{64}$/],
  ] as const)('writes an %s in 64 characters behind its prefix', (kind, shape) => {
    expect(create(kind)).toMatch(shape)
  })

  it.each(plainKinds)('gives each %s 32 random bytes of its own [token-1]', (kind) => {
    const asked: number[] = []
    createCredential(kind, id, (bytes) => {
      asked.push(bytes)
      return Buffer.alloc(bytes)
    })
    expect(asked).toEqual([32])
    expect(new Set(Array.from({ length: 100 }, () => create(kind))).size).toBe(100)
  })
})

describe('createRefreshToken', () => {
  it('writes a refresh token in 80 characters behind its prefix', () => {
    expect(create('refreshToken')).toMatch(/^rt_[A-Za-z0-9_-]{80}$/)
  })

  it('gives each refresh token 32 random bytes of its own', () => {
    const asked: number[] = []
    createRefreshToken(id, 0, tagKey, (bytes) => {
      asked.push(bytes)
      return Buffer.alloc(bytes)
    })
    expect(asked).toEqual([32])
    expect(create('refreshToken')).not.toBe(create('refreshToken'))
  })
})

describe('credentialId', () => {
  it.each(kinds)('finds the id in any %s', (kind) => {
    fc.assert(
      fc.property(anyId, (of) => {
        expect(credentialId(kind, create(kind, of))).toBe(of)
      }),
    )
  })

  it.each(
    kinds.flatMap((kind) => kinds.filter((other) => other !== kind).map((other) => [kind, other] as const)),
  )('as %s, takes no %s', (kind, other) => {
    expect(credentialId(kind, create(other))).toBeUndefined()
  })

  it.each(kinds)('takes no garbage for an %s', (kind) => {
    const good = create(kind)
    const bad = [
      '',
      good.slice(0, 3),
      good.slice(3),
      good.slice(0, -1),
      `${good}A`,
      ` ${good}`,
      `${good}\n`,
      good.toUpperCase(),
      `${good.slice(0, -1)}=`,
      `${good.slice(0, -1)}+`,
      `${good.slice(0, -1)}é`,
      `${good.slice(0, 10)} ${good.slice(11)}`,
    ]
    expect(bad.filter((text) => credentialId(kind, text) !== undefined)).toEqual([])
  })

  it.each(kinds)('takes any text, and only one of its own shape for an %s', (kind) => {
    const shape = /^(?:(ar|ac|at)_[A-Za-z0-9_-]{64}|rt_[A-Za-z0-9_-]{80})$/
    const near = fc
      .tuple(fc.constantFrom('ar_', 'ac_', 'at_', 'rt_', 'xx_', ''), fc.constantFrom(63, 64, 65, 79, 80, 81))
      .map(([prefix, length]) => prefix + 'A'.repeat(length))
    fc.assert(
      fc.property(fc.oneof(fc.string(), near), (text) => {
        const found = credentialId(kind, text) !== undefined
        expect(found).toBe(shape.test(text) && text.startsWith(create(kind).slice(0, 3)))
      }),
    )
  })
})

describe('genuineGeneration', () => {
  it('reads the generation of a refresh token of this authorization', () => {
    fc.assert(
      fc.property(generation, (wanted) => {
        expect(genuineGeneration(createRefreshToken(id, wanted, tagKey, secureRandom), tagKey)).toBe(wanted)
      }),
    )
  })

  it('knows nothing of a token tagged under another key [refresh-9]', () => {
    expect(genuineGeneration(create('refreshToken'), createTagKey(secureRandom))).toBeUndefined()
  })

  it.each(plainKinds)('knows nothing of an %s', (kind) => {
    expect(genuineGeneration(create(kind), tagKey)).toBeUndefined()
  })

  it('knows nothing of random bytes behind a known id', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 44, maxLength: 44 }), (bytes) => {
        const forged = `rt_${Buffer.concat([Buffer.from(id, 'base64url'), bytes]).toString('base64url')}`
        expect(credentialId('refreshToken', forged)).toBe(id)
        expect(genuineGeneration(forged, tagKey)).toBeUndefined()
      }),
    )
  })

  it('knows nothing of a token with one bit of its generation, tag or secret changed', () => {
    fc.assert(
      fc.property(generation, fc.integer({ min: 16 * 8, max: 60 * 8 - 1 }), (wanted, bit) => {
        const bytes = bytesOf(createRefreshToken(id, wanted, tagKey, secureRandom))
        bytes[bit >> 3]! ^= 1 << (bit & 7)
        expect(genuineGeneration(`rt_${bytes.toString('base64url')}`, tagKey)).toBeUndefined()
      }),
    )
  })
})

describe('digest', () => {
  it('is SHA-256 in 43 characters', () => {
    expect(digest('abc')).toBe('ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0')
  })

  it('fits its own text only', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (text, other) => {
        expect(hasDigest(text, digest(text))).toBe(true)
        expect(hasDigest(other, digest(text))).toBe(other === text)
      }),
    )
  })

  it.each(['', 'abc', 'ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0=', 'é'.repeat(43)])(
    'is refused in another shape without a throw: %j',
    (stored) => {
      expect(hasDigest('abc', stored)).toBe(false)
    },
  )
})

describe('secureRandom', () => {
  it.each([1, 16, 32, 4096, 5000])('gives %i bytes', (bytes) => {
    expect(secureRandom(bytes)).toHaveLength(bytes)
  })

  it('never gives the same bytes twice, over many pools', () => {
    const drawn = Array.from({ length: 10_000 }, () => secureRandom(16).toString('hex'))
    expect(new Set(drawn).size).toBe(drawn.length)
  })

  it('gives bytes that belong to the caller: later calls do not change them', () => {
    const first = secureRandom(32)
    const before = first.toString('hex')
    for (let round = 0; round < 1000; round++) secureRandom(32).fill(0)
    expect(first.toString('hex')).toBe(before)
  })

  it('has each bit set about half of the time', () => {
    const ones = [...secureRandom(100_000)].reduce(
      (sum, byte) => sum + byte.toString(2).replaceAll('0', '').length,
      0,
    )
    expect(Math.abs(ones / 800_000 - 0.5)).toBeLessThan(0.01)
  })
})

const key = { credential: 'at_x', purpose: 'mac key' }
const anyText = fc.string({ unit: 'grapheme' })

describe('sealText', () => {
  it('is opened by the credential and the purpose that sealed it', () => {
    fc.assert(
      fc.property(anyText, anyText, anyText, (secret, credential, purpose) => {
        const sealed = sealText(secret, { credential, purpose }, secureRandom)
        expect(unsealText(sealed, { credential, purpose })).toBe(secret)
      }),
    )
  })

  it.each([
    ['another credential', { ...key, credential: 'at_y' }],
    ['another purpose', { ...key, purpose: 'refresh token grace' }],
  ])('is not opened by %s', (_what, other) => {
    expect(unsealText(sealText('secret', key, secureRandom), other)).toBeUndefined()
  })

  it('shows nothing of what it holds, and reads differently each time', () => {
    const [first, second] = [1, 2].map(() => sealText('a secret anyText', key, secureRandom))
    expect(first).not.toBe(second)
    expect(Buffer.from(String(first), 'base64url').toString('latin1')).not.toContain('secret')
  })
})

const purpose = 'pair of c2FsdCBmb3IgYSBwYWlyIQ'
const drawn = (secret: string, own: string) => derivedBytes(secret, own)(64).toString('hex')

describe('derivedBytes', () => {
  it('is the one-step derivation of NIST SP 800-56C 4.1 with SHA-512, drawn in order', () => {
    const draw = derivedBytes('rt_secret', purpose)
    const expected = createHash('sha512')
      .update(Buffer.from([0, 0, 0, 1]))
      .update('rt_secret')
      .update(purpose)
    expect(Buffer.concat([draw(32), draw(8), draw(24)]).toString('hex')).toBe(expected.digest('hex'))
  })

  it('is the same again for the same secret and purpose, and another for each other one', () => {
    expect(drawn('rt_secret', purpose)).toBe(drawn('rt_secret', purpose))
    const all = ['rt_secret', 'rt_secreT', 'rt_secret ', ''].flatMap((secret) =>
      [purpose, purpose.toLowerCase(), ''].map((own) => drawn(secret, own)),
    )
    expect(new Set(all).size).toBe(all.length)
  })

  it('never repeats itself: what goes beyond 64 bytes is refused', () => {
    const draw = derivedBytes('rt_secret', purpose)
    draw(32)
    expect(() => draw(33)).toThrow(RangeError)
  })
})

const chosen = hashSync('a secret that a person chose', 4)
const generated = `sha256:${digest('a generated secret')}`

describe('isSecretHash', () => {
  it.each([chosen, generated])('knows %s', (hash) => {
    expect(isSecretHash(hash)).toBe(true)
  })

  it.each([
    '',
    'secret',
    'sha256:',
    digest('x'),
    `${generated}=`,
    `${chosen}x`,
    ` ${chosen}`,
    `${generated}\n`,
  ])('takes %j for a secret, not for a digest', (text) => {
    expect(isSecretHash(text)).toBe(false)
  })
})

describe('isBcryptHash', () => {
  it('distinguishes the two kinds', () => {
    expect(isBcryptHash(chosen)).toBe(true)
    expect(isBcryptHash(generated)).toBe(false)
  })
})
