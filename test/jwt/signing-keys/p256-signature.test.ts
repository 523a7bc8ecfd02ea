import { generateKeyPairSync, verify } from 'node:crypto'
import { joinNumbers } from '../../../lib/jwt/signing-keys/p256-signature'
import { algorithmOf } from '../../../lib/jwt/signing-keys/signing-algorithm'
import { extent } from '../../support/extent'

const full = 'a1'.repeat(32).replace(/^a1/, '7f')
const negative = 'f0'.repeat(32)

/** A number as DER writes it: the shortest bytes that do not read as negative. */
const integer = (bytes: string) => `02${byte(bytes.length / 2)}${bytes}`
const byte = (value: number) => value.toString(16).padStart(2, '0')

function signatureOf(first: string, second: string): Buffer {
  const numbers = integer(first) + integer(second)
  return Buffer.from(`30${byte(numbers.length / 2)}${numbers}`, 'hex')
}

test.each([
  ['two full numbers', full, full, full + full],
  ['numbers that DER begins with a zero', `00${negative}`, `00${negative}`, negative + negative],
  ['a short first number', '01', full, '01'.padStart(64, '0') + full],
  ['a short second number', full, '7fee', full + '7fee'.padStart(64, '0')],
  [
    'a short number that DER begins with a zero',
    '0080',
    '00ff',
    '80'.padStart(64, '0') + 'ff'.padStart(64, '0'),
  ],
])('a signature on P-256 has 64 bytes in a JWS: %s', (_what, first, second, joined) => {
  expect(joinNumbers(signatureOf(first, second)).toString('hex')).toBe(joined)
})

test('Node verifies signatures of ES256 in the form of a JWS', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const key = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const
  const texts = Array.from({ length: extent(300, 20_000) }, (_none, at) => Buffer.from(`text ${at}`))
  const signatures = await Promise.all(texts.map((text) => algorithmOf('ES256').sign(privateKey, text)))
  const wrong = texts.filter((text, at) => !verify('sha256', text, key, signatures[at] ?? Buffer.alloc(0)))
  expect(wrong).toEqual([])
})
