import * as fc from 'fast-check'
import { sealText, secureRandom, unsealText } from '../../lib/protocol/credential'

const key = { credential: 'at_x', purpose: 'mac key' }
const text = fc.string({ unit: 'grapheme' })

describe('sealText', () => {
  it('is opened by the credential and the purpose that sealed it', () => {
    fc.assert(
      fc.property(text, text, text, (secret, credential, purpose) => {
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
    const [first, second] = [1, 2].map(() => sealText('a secret text', key, secureRandom))
    expect(first).not.toBe(second)
    expect(Buffer.from(String(first), 'base64url').toString('latin1')).not.toContain('secret')
  })
})
