import { secureRandom } from '../../lib/protocol/credential'

describe('secureRandom', () => {
  it.each([1, 16, 32, 4096, 5000])('gives %i bytes', (bytes) => {
    expect(secureRandom(bytes)).toHaveLength(bytes)
  })

  it('never gives the same bytes twice, over many pools', () => {
    const drawn = Array.from({ length: 10_000 }, () => secureRandom(16).toString('hex'))
    expect(new Set(drawn).size).toBe(drawn.length)
  })

  it('gives bytes that belong to whoever asked: what comes later changes nothing of them', () => {
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
