import { createHmac } from 'node:crypto'
import { derivedBytes } from '../../lib/protocol/derived-bytes'

const salt = 'c2FsdCBmb3IgYSBwYWlyIQ'
const drawn = (credential: string, own: string) => derivedBytes(credential, own)(64).toString('hex')

describe('derivedBytes', () => {
  it('is HMAC-SHA-512 of the salt under the credential, drawn in order', () => {
    const draw = derivedBytes('rt_secret', salt)
    const expected = createHmac('sha512', 'rt_secret').update(salt).digest('hex')
    expect(Buffer.concat([draw(32), draw(8), draw(24)]).toString('hex')).toBe(expected)
  })

  it('is the same again for the same credential and salt, and another for each other one', () => {
    expect(drawn('rt_secret', salt)).toBe(drawn('rt_secret', salt))
    const all = ['rt_secret', 'rt_secreT', 'rt_secret ', ''].flatMap((credential) =>
      [salt, salt.toLowerCase(), ''].map((own) => drawn(credential, own)),
    )
    expect(new Set(all).size).toBe(all.length)
  })

  it('never repeats itself: what goes beyond 64 bytes is refused', () => {
    const draw = derivedBytes('rt_secret', salt)
    draw(32)
    expect(() => draw(33)).toThrow(RangeError)
  })
})
