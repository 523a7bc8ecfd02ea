import { createHash } from 'node:crypto'
import { derivedBytes } from '../../lib/protocol/credential'

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
